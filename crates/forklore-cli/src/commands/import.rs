//! `import`: imports session files of other agents.

pub(super) mod discover;
mod report;
mod watch;

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use forklore::api::{Import, Imported};
use forklore::core::ErrorKind;
use forklore::import::{ImportOptions, Importer, Problem as ImportProblem};
use serde_json::{Value, json};

use self::report::PROBLEMS;
use crate::agents;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::Output;

const EXAMPLES: &str = "\
The files are never changed, and restore gives each back byte for byte.

Examples:
  forklore import                       everything that --discover finds
  forklore import --discover
  forklore import ~/.claude/projects
  forklore import --from codex          where Codex stores them
  forklore import ~/.pi/agent/sessions --json
  forklore import chat.jsonl --from plain
  forklore import --watch
  forklore import --watch --files       for agents without hooks, so that files can be taken back

A file that is known is read on from where it stood: importing again makes no second copy.";

/// Read session files of other agents
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Files, or folders that contain them [default: where the agents on this machine store
    /// sessions]
    path: Vec<PathBuf>,
    /// List the agents that have sessions on this machine; import nothing
    #[arg(long, conflicts_with_all = ["path", "watch", "from", "again"])]
    discover: bool,
    /// Import new records as they are written, until stopped; without a path, of every known agent
    #[arg(long, conflicts_with = "again")]
    watch: bool,
    /// Record the files of a session's folder whenever its agent has written, for agents without
    /// hooks
    #[arg(long, requires = "watch")]
    files: bool,
    /// Serve counts and durations for Prometheus at this address, or at this port of this machine; 0
    /// takes a free one
    #[arg(long, value_name = "HOST:PORT", requires = "watch")]
    metrics: Option<String>,
    /// The format of the files, by its agent [default: detected]
    #[arg(long, value_name = "DIALECT", value_parser = dialects(), hide_possible_values = false)]
    from: Option<String>,
    /// Import sessions again that were deleted from the store, with new ids
    #[arg(long)]
    again: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    if args.discover {
        return discover::run(app, output);
    }
    if args.watch {
        return watch::run(args, app, output);
    }
    let found = args.path.is_empty();
    let mut request = request(args, app)?;
    if found {
        request.paths = discover::paths(args.from.as_deref(), app, output)?;
        if request.paths.is_empty() {
            return output.answer(&Imported::default(), discover::show_none);
        }
    }
    let importer = Importer::new(app.engine_or_new()?);
    let options = ImportOptions { found, ..ImportOptions::of(&request) };
    let bar = output.progress();
    let report = importer.import(&request.paths, &options, &mut |progressed| {
        bar.show(&progressed);
    })?;
    drop(bar);
    if report.files == 0 && !report.problems.is_empty() {
        return Err(nothing(&request.paths, &report.problems));
    }
    if let Some(first) = report.failed.first() {
        let failure = partly(first, &request.paths, &report.failed);
        return output.partly(&report.answer(), |page| report::show(page, &report), failure);
    }
    output.answer(&report.answer(), |page| report::show(page, &report))?;
    output.hint("forklore tree --all", "see the families");
    Ok(())
}

fn dialects() -> PossibleValuesParser {
    PossibleValuesParser::new(agents::to_import_from())
}

fn request(args: &Args, app: &App) -> Result<Import> {
    Ok(Import {
        dialect: args.from.clone(),
        again: args.again,
        ..Import::of(args.path.clone(), app.workspace()?)
    })
}

/// Returns the error for an import of several named paths, if some of the paths gave no session and
/// the others were imported. `failed` lists the paths without a session, with the reasons. `first`
/// is its first entry.
fn partly(first: &ImportProblem, paths: &[PathBuf], failed: &[ImportProblem]) -> Failure {
    let exists = Path::new(&first.path).exists();
    let message = format!(
        "{} of the {} named paths gave no session: {}",
        failed.len(),
        paths.len(),
        report::location(first)
    );
    Failure::Refused {
        kind: if exists { ErrorKind::InvalidArgs } else { ErrorKind::NotFound },
        message,
        details: details(failed),
        next: Vec::new(),
    }
}

/// Returns the agent that somebody named instead of a path.
fn agent_of(paths: &[PathBuf]) -> Option<&'static str> {
    let [path] = paths else { return None };
    agents::to_import_from().find(|agent| path == Path::new(agent) && !path.exists())
}

/// Returns the error for an import that read no file. The error has the message of the first
/// problem.
fn nothing(paths: &[PathBuf], problems: &[ImportProblem]) -> Failure {
    let exists = paths.iter().any(|path| path.exists());
    Failure::Refused {
        kind: if exists { ErrorKind::InvalidArgs } else { ErrorKind::NotFound },
        message: problems.first().map(report::location).unwrap_or_default(),
        details: details(problems),
        next: agent_of(paths)
            .map(|agent| format!("forklore import --from {agent}"))
            .into_iter()
            .collect(),
    }
}

fn details(problems: &[ImportProblem]) -> Value {
    json!({
        "count": problems.len(),
        "problems": problems.iter().take(PROBLEMS).collect::<Vec<_>>(),
    })
}
