//! `doctor`: checks the store and its environment.

mod agents;

use forklore::StoreUrl;
use forklore::api::Doctor;
use forklore::core::ErrorKind;
use forklore::store::health::{Check, Health, Status};
use forklore_host::config::check;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::hints::next;
use crate::output::{Output, Page, Tone, count, problems};
use crate::wiring;

const EXAMPLES: &str = "\
It looks from outside, so it works when the store does not open, and it makes, writes and repairs \
nothing. Whether every byte is as it was written is what forklore verify finds out.

Examples:
  forklore doctor
  forklore doctor --json | jq '.checks[] | select(.status != \"ok\")'

The exit code is that of the first problem: 3 for rights, 5 for a store that this program or place \
cannot hold, 6 for damage.";

/// Check the store, its permissions, its disk, versions and agents
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(super) fn run(_args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let mut health = Health::default();
    let versions = forklore::versions().map(|(name, version)| format!("{name} {version}"));
    health.ok("program", versions.join(", "));
    match app.store_url() {
        Ok(url) => health.checks.extend(look_at(&url)),
        Err(failure) => {
            let hint = failure.next_actions().into_iter().next();
            let kind = Some(failure.kind());
            health.add("store", Status::Problem, failure.to_string(), hint, kind);
        }
    }
    for check in &mut health.checks {
        let hint = check.hint.take().or_else(|| next::check(check));
        check.hint = hint.map(|hint| output.commands().typed(&hint));
    }
    look_at_configuration(&mut health, app);
    agents::look(&mut health);
    let worst = health.worst();
    let answer = Doctor { ok: worst.is_none(), checks: health.checks };
    output.record(&answer, |page| show(page, &answer.checks))?;
    worst.map_or(Ok(()), |kind: ErrorKind| Err(Failure::Answered(kind)))
}

/// Checks the user's configuration, with the settings of the command line.
fn look_at_configuration(health: &mut Health, app: &App) {
    let path = match wiring::path() {
        Ok(path) => path,
        Err(failure) => {
            let kind = Some(failure.kind());
            return health.add("config", Status::Problem, failure.to_string(), None, kind);
        }
    };
    if let Ok(configured) = wiring::read_configuration(app) {
        let (models, tools) = (&configured.config.models, &configured.config.tools);
        let models = count(models.len() as u64, "model");
        let tools = count(tools.len() as u64, "tool server");
        health.ok("config", format!("{models}, {tools}"));
    }
    for problem in check(&path, app.settings()) {
        let (status, kind) = match problem.warning {
            true => (Status::Warning, None),
            false => (Status::Problem, Some(problem.kind)),
        };
        let message = format!("{}: {}", problems::location(&problem), problem.message);
        health.add("config", status, message, Some(problem.hint), kind);
    }
}

fn look_at(url: &StoreUrl) -> Vec<Check> {
    forklore::health(url).checks
}

fn show(page: &mut Page, checks: &[Check]) {
    for check in checks {
        let (tone, word) = match check.status {
            Status::Ok => (Tone::Good, "ok"),
            Status::Warning => (Tone::Warn, "warning"),
            Status::Problem => (Tone::Bad, "problem"),
        };
        page.put(tone, format!("{word:<9}"));
        page.put(Tone::Strong, format!("{:<13}", check.name.replace('_', " ")));
        page.rest_of_line(Tone::Plain, &check.message, INDENT);
        if let Some(hint) = &check.hint {
            page.put(Tone::Plain, " ".repeat(INDENT)).put(Tone::Dim, "try: ");
            // Do not wrap a command, so that the user can copy it.
            page.put(Tone::Strong, hint).end();
        }
    }
    let number = |status| checks.iter().filter(|check| check.status == status).count() as u64;
    let (problems, warnings) = (number(Status::Problem), number(Status::Warning));
    page.end();
    match (problems, warnings) {
        (0, 0) => page.put(Tone::Good, "All is well."),
        (0, warnings) => page.put(Tone::Warn, count(warnings, "warning")),
        (problems, 0) => page.put(Tone::Bad, count(problems, "problem")),
        (problems, warnings) => page
            .put(Tone::Bad, count(problems, "problem"))
            .put(Tone::Warn, format!(", {}", count(warnings, "warning"))),
    };
    page.end();
}

/// The column, from 0, in which `forklore doctor` begins the messages of its checks.
const INDENT: usize = 22;
