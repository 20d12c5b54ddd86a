//! `config edit`: changes the configuration file in the user's editor. A file with problems never
//! takes the place of the configuration.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use forklore::api::{ConfigEdited, ConfigProblem};
use forklore::core::ErrorKind;
use forklore_host::config::{check_text, template};
use forklore_host::text_file;

use super::file::{copy_of, read, replace, target};
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count, problems};
use crate::{interrupts, wiring};

const EXAMPLES: &str = "\
It opens a copy in VISUAL, EDITOR or vi, checks what you wrote, and offers to go back to the editor \
where something is wrong. Only a file without problems takes the place of the configuration, in one \
step; otherwise your text stays in the copy, and the message names it.

Examples:
  forklore config edit
  EDITOR=nano forklore config edit";

/// Change the configuration in your editor, and check it before it is used
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {}

pub(super) fn run(output: &mut Output) -> Result<()> {
    let named = wiring::path()?;
    let path = target(&named)?;
    let before = read(&path)?;
    let begin = before.clone().unwrap_or_else(|| template(&[], &[]).into_bytes());
    let copy = copy_of(&path, &begin)?;
    let problems = edit(&named, &copy, &begin, output)?;
    let changed = problems.is_some();
    if changed {
        replace(&path, &copy, before.as_deref())?;
    } else {
        let _ = fs::remove_file(&copy);
    }
    let answer = ConfigEdited { path: named, changed, problems: problems.unwrap_or_default() };
    output.answer(&answer, |page| {
        problems::show(page, &answer.problems);
        let word = if changed { "Changed " } else { "Nothing changed in " };
        page.put(Tone::Good, word).put(Tone::Strong, answer.path.display()).end();
    })
}

/// Runs the editor until the text has no problems or the user gives up. Returns the warnings, or
/// `None` if the user changed nothing. If the user gives up, returns an error.
fn edit(
    named: &Path,
    copy: &Path,
    begin: &[u8],
    output: &mut Output,
) -> Result<Option<Vec<ConfigProblem>>> {
    loop {
        run_editor(copy, output)?;
        if fs::read(copy).is_ok_and(|text| text == begin) {
            let Err(unread) = text_file::read(copy) else { return Ok(None) };
            let _ = fs::remove_file(copy);
            let name = named.display();
            let message = format!("{name} stays as it was, and cannot be used: {unread}");
            return Err(Failure::invalid(message).or_try("forklore config edit"));
        }
        let found = match text_file::read(copy) {
            Ok(text) => check_text(named, &text, &[]),
            Err(unread) => {
                return Err(unusable(copy, &format!("it cannot be read: {unread}")));
            }
        };
        let wrong = found.iter().filter(|problem| !problem.warning).count() as u64;
        if wrong == 0 {
            return Ok(Some(found));
        }
        for problem in found.iter().filter(|problem| !problem.warning) {
            let (at, wrong) = (problems::location(problem), &problem.message);
            output.remark(&format!("{at}: {wrong}; try: {}", problem.hint));
        }
        if !output.can_ask() || !output.asks("Go back to the editor?")? {
            return Err(unusable(copy, &format!("it has {}", count(wrong, "problem"))));
        }
    }
}

/// Returns the error for a text that is no configuration. The text stays in the copy.
fn unusable(copy: &Path, why: &str) -> Failure {
    let message =
        format!("the configuration stays as it was: {why}; your text is in {}", copy.display());
    Failure::invalid(message).or_try("forklore config edit")
}

/// Runs the user's editor on the file and waits until it ends. An interrupt goes to the editor only.
fn run_editor(file: &Path, output: &mut Output) -> Result<()> {
    let named = |name| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let words = shlex::split(&editor).unwrap_or_default();
    let Some((program, options)) = words.split_first() else {
        let _ = fs::remove_file(file);
        return Err(Failure::invalid("VISUAL or EDITOR is no command"));
    };
    output.flush()?;
    let failed = |source| Failure::File { doing: format!("running the editor {program}"), source };
    let mut command = Command::new(program);
    command.args(options).arg(file);
    if output.is_json() {
        // The answer alone goes to standard output.
        let shown = File::options().append(true).open("/dev/stderr");
        command.stdout(shown.map_or_else(|_| Stdio::null(), Stdio::from));
    }
    match interrupts::ignored(|| command.status()) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let message =
                format!("the editor ended with {status}; the configuration stays as it was");
            let _ = fs::remove_file(file);
            Err(Failure::refused(ErrorKind::Interrupted, message))
        }
        Err(source) => {
            let _ = fs::remove_file(file);
            let failure = failed(source);
            Err(Failure::refused(failure.kind(), failure.to_string())
                .or_try("EDITOR=nano forklore config edit"))
        }
    }
}
