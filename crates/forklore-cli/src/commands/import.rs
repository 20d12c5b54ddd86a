//! `import`: session files of other agents.

use std::path::PathBuf;

use forklore::engine::{ImportOptions, ImportProblem, ImportReport, ImportedFile, ImportedSession};
use forklore::model::ErrorKind;
use serde_json::json;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Cell, Column, Output, Page, ShortIds, Table, Tone, bytes, count, cut};

/// Lines of the closing table, and problems, that are shown to people.
const ROWS: usize = 40;
const PROBLEMS: usize = 20;

const EXAMPLES: &str = "\
The files are never changed, and restore gives each back byte for byte.

Examples:
  forklore import ~/.claude/projects
  forklore import ~/.pi/agent/sessions --json
  forklore import ~/.codex
  forklore import chat.jsonl --from plain

A file that is known is read on from where it stood: importing again makes no second copy.";

/// Read session files of other agents
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Files, or folders that hold them
    #[arg(required = true)]
    path: Vec<PathBuf>,
    /// Whose files they are: claude, codex, pi, plain [default: found out]
    #[arg(long, value_name = "DIALECT")]
    from: Option<String>,
    /// Import sessions that were deleted here once more, under new ids
    #[arg(long)]
    again: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let mut options = ImportOptions::in_workspace(app.workspace()?);
    options.from.clone_from(&args.from);
    options.again = args.again;
    let bar = output.progress();
    let report = app.engine()?.import(&args.path, &options, &mut |progressed| {
        bar.show(&progressed);
    })?;
    drop(bar);
    if report.files == 0 && !report.problems.is_empty() {
        return Err(nothing(&args.path, &report.problems));
    }
    output.answer(&report, |page| show(page, &report))?;
    output.hint("forklore tree --all", "see the families");
    Ok(())
}

/// That nothing of what was named could be imported, and why.
fn nothing(paths: &[PathBuf], problems: &[ImportProblem]) -> Failure {
    let exists = paths.iter().any(|path| path.exists());
    Failure::Refused {
        kind: if exists { ErrorKind::InvalidArgs } else { ErrorKind::NotFound },
        message: problems.first().map(place).unwrap_or_default(),
        details: json!({
            "count": problems.len(),
            "problems": problems.iter().take(PROBLEMS).collect::<Vec<_>>(),
        }),
        next: Vec::new(),
    }
}

fn place(problem: &ImportProblem) -> String {
    let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}: {}", problem.path, problem.message)
}

fn show(page: &mut Page, report: &ImportReport) {
    if !report.sessions.is_empty() {
        sessions(page, &report.sessions);
        page.end();
    }
    let appended = report.sessions.iter().map(|session| session.appended).sum();
    let read = report.sources.iter().map(|file: &ImportedFile| file.bytes).sum();
    page.put(Tone::Good, "Imported ").put(Tone::Plain, count(appended, "event"));
    let what = format!(
        " ({}) from {} into {}",
        bytes(read),
        count(report.files, "file"),
        count(report.sessions.len() as u64, "session")
    );
    page.put(Tone::Plain, what);
    if report.skipped > 0 {
        page.put(Tone::Dim, format!("; {} passed over", count(report.skipped, "file")));
    }
    page.end();
    problems(page, &report.problems);
}

fn sessions(page: &mut Page, sessions: &[ImportedSession]) {
    let short = ShortIds::of(sessions.iter().map(|session| &session.session_id));
    let mut table = Table::new(&[
        Column::new("SESSION"),
        Column::new("AGENT"),
        Column::new("EVENTS").right(),
        Column::new("NEW").right(),
        Column::new("FROM"),
        Column::new("AT"),
    ]);
    for session in sessions.iter().take(ROWS) {
        let parent = session.parent_session_id.as_ref();
        table.row([
            Cell::new(Tone::Id, short.get(&session.session_id)),
            Cell::new(Tone::Plain, &*session.dialect),
            Cell::new(Tone::Plain, session.events.to_string()),
            Cell::new(Tone::Good, session.appended.to_string()),
            Cell::new(Tone::Id, parent.map_or("", |parent| short.get(parent))),
            Cell::new(Tone::Plain, session.cut.as_ref().map(cut).unwrap_or_default()),
        ]);
    }
    table.show(page);
    if sessions.len() > ROWS {
        page.put(Tone::Dim, format!("... and {} more", sessions.len() - ROWS)).end();
    }
}

fn problems(page: &mut Page, problems: &[ImportProblem]) {
    for problem in problems.iter().take(PROBLEMS) {
        page.block(Tone::Warn, &forklore_guard::terminal::line(&place(problem)), 2, usize::MAX);
    }
    if problems.len() > PROBLEMS {
        page.put(Tone::Dim, format!("... and {} more problems", problems.len() - PROBLEMS)).end();
    }
}
