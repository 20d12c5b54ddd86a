//! Shows the problems of a configuration.

use forklore::api::ConfigProblem;

use super::{Page, Tone};

/// The column, from 0, in which the place and the description of a problem begin.
const INDENT: usize = 9;

/// Shows each problem and warning with its place and what to do.
pub(crate) fn show(page: &mut Page, problems: &[ConfigProblem]) {
    for problem in problems {
        let (tone, word) =
            if problem.warning { (Tone::Warn, "warning") } else { (Tone::Bad, "problem") };
        page.put(tone, format!("{word:<INDENT$}"));
        page.rest_of_line(Tone::Strong, &location(problem), INDENT);
        page.put(Tone::Plain, " ".repeat(INDENT));
        page.rest_of_line(Tone::Plain, &problem.message, INDENT);
        page.put(Tone::Plain, " ".repeat(INDENT)).put(Tone::Dim, "try: ");
        page.put(Tone::Plain, &problem.hint).end();
    }
}

/// Returns where a problem is: the setting of the command line, or the file and the line.
pub(crate) fn location(problem: &ConfigProblem) -> String {
    match (&problem.setting, problem.line) {
        (Some(setting), _) => format!("the setting {setting}"),
        (None, Some(line)) => format!("{}, line {line}", problem.path.display()),
        (None, None) => problem.path.display().to_string(),
    }
}
