//! `config check`: reports every problem of the configuration.

use std::path::Path;

use forklore::api::{ConfigCheck, ConfigProblem};
use forklore::core::ErrorKind;
use forklore_host::config::{check, ignored_in};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, count, problems};
use crate::wiring;

const EXAMPLES: &str = "\
A problem keeps commands from using the configuration, and is named with its line. A warning does \
not: a key that is not in the environment, a program that is not there, a file of a project that is \
ignored. forklore doctor makes the same check.

Examples:
  forklore config check
  forklore config check -c default_model=claude
  forklore config check --json | jq '.problems[]'

The exit code is that of the first problem: 2 for what the file says, 3 for its permissions.";

/// Report every problem of the configuration, with its line and what to do
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {}

pub(super) fn run(app: &App, output: &mut Output) -> Result<()> {
    let path = wiring::path()?;
    let mut problems = check(&path, app.settings());
    let folder = app.workspace()?;
    problems.extend(ignored_in(Path::new(folder.as_str())).iter().map(|file| ignored(file, &path)));
    let wrong = problems.iter().filter(|problem| !problem.warning);
    let failure = wrong.clone().next().map(|first| {
        let message = format!("the configuration has {}", count(wrong.count() as u64, "problem"));
        let next = if is_editable(&path) { "forklore config edit" } else { first.hint.as_str() };
        Failure::refused(first.kind, message).or_try(next)
    });
    let exists = path.symlink_metadata().is_ok();
    let answer = ConfigCheck { path, exists, problems };
    output.answer_with(&answer, |page| show(page, &answer), failure.as_ref())?;
    match failure {
        Some(failure) => {
            if is_editable(&answer.path) {
                output
                    .hint("forklore config edit", "mend it; it is checked again before it is used");
            }
            Err(Failure::Answered(failure.kind()))
        }
        None => Ok(()),
    }
}

/// Checks whether `config edit` can open the configuration: a regular file, or none yet.
fn is_editable(path: &Path) -> bool {
    match path.metadata() {
        Ok(found) => found.is_file(),
        Err(_) => path.symlink_metadata().is_err(),
    }
}

/// Returns the warning about a configuration file of a project.
fn ignored(file: &Path, path: &Path) -> ConfigProblem {
    ConfigProblem {
        path: file.to_owned(),
        line: None,
        setting: None,
        warning: true,
        kind: ErrorKind::InvalidArgs,
        message: "it is ignored: a project must not configure forklore".to_owned(),
        hint: format!("what you want of it belongs into {}", path.display()),
    }
}

fn show(page: &mut Page, answer: &ConfigCheck) {
    problems::show(page, &answer.problems);
    if !answer.problems.is_empty() {
        page.end();
    }
    let number = |warning| answer.problems.iter().filter(|it| it.warning == warning).count() as u64;
    match (number(false), number(true)) {
        (0, 0) => page.put(Tone::Good, "All is well"),
        (0, warnings) => page.put(Tone::Warn, count(warnings, "warning")),
        (wrong, 0) => page.put(Tone::Bad, count(wrong, "problem")),
        (wrong, warnings) => page
            .put(Tone::Bad, count(wrong, "problem"))
            .put(Tone::Warn, format!(", {}", count(warnings, "warning"))),
    };
    let path = answer.path.display();
    let what = if answer.exists { format!(" in {path}") } else { format!(": no {path}") };
    page.put(Tone::Plain, what).end();
}
