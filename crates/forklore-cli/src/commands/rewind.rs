//! `rewind`: takes a conversation and its files back to a position.

use std::path::PathBuf;

use forklore::api::{FilesRestored, RewindScope, Rewound};
use forklore::core::Header;
use forklore::engine::Fork;
use forklore_workspace::Rewind;

use super::snapshot::{folder_of, paths};
use super::{arguments, confirm};
use crate::agents;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, count};
use crate::session_ref::SessionRef;

/// How many files a question names.
const NAMED: usize = 10;

const EXAMPLES: &str = "\
The conversation goes on in a fork; the session stays as it is. The files become what they were in \
the last snapshot at or before CUT. Their present state is recorded first, so `forklore undo` brings \
it back. What is ignored by git, and what no snapshot contains, is not touched.

Examples:
  forklore rewind last --at turn:3               conversation and files
  forklore rewind last --at turn:3 --files       the files only
  forklore rewind last --at turn:3 --files --path src/config.rs
  forklore rewind last --at turn:3 --dry-run     what would change
  forklore undo                                  takes it back";

/// Take conversation and files back to a position
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, or last; or a session file, which is imported first
    session: String,
    /// The position to go back to: turn:N, message:N, an event id or seq:N
    #[arg(long, value_name = "CUT")]
    at: String,
    /// Take back the files only
    #[arg(long, conflicts_with_all = ["conversation", "both"])]
    files: bool,
    /// Take back the conversation only
    #[arg(long, conflicts_with = "both")]
    conversation: bool,
    /// Take back both, which is the default
    #[arg(long)]
    both: bool,
    /// Restore this file or folder only; may be repeated
    #[arg(long = "path", value_name = "PATH", conflicts_with = "conversation")]
    paths: Vec<PathBuf>,
    /// The label of the fork
    #[arg(long, conflicts_with = "files")]
    label: Option<String>,
    /// The folder with the files [default: the session's]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Only print what would change
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let at = arguments::selector(Some(&args.at))?;
    let at = at.ok_or_else(|| Failure::invalid("--at needs a position"))?;
    let label = arguments::parsed(args.label.as_deref(), "label")?;
    let header = match &session {
        SessionRef::Stored(_) => app.stored(&session, output)?,
        SessionRef::File(_) => app.session(&session, output)?,
    };
    let folder = folder_of(&header, args.folder.as_deref())?;
    let scope = match (args.files, args.conversation) {
        (true, _) => RewindScope::Files,
        (_, true) => RewindScope::Conversation,
        _ => RewindScope::Both,
    };
    let rewind = Rewind { at, scope, folder, label, paths: args.paths.clone() };
    let (engine, files) = (app.engine()?, app.files()?);
    if args.dry_run {
        let plan = files.plan_rewind(engine, &header, &rewind)?;
        return output.answer(&plan, |page| tell(page, &plan));
    }
    if !args.yes && output.can_ask() {
        let plan = files.plan_rewind(engine, &header, &rewind)?;
        if let Some(files) = plan.files.filter(|files| files.written + files.removed > 0) {
            for line in named_changes(&files) {
                output.remark(&line);
            }
            confirm::confirm_change(&question(&files), false, output)?;
        }
    }
    let mut rewound = files.rewind(engine, &header, &rewind)?;
    if let Some(forked) = &mut rewound.forked {
        forked.resume_command = Some(output.commands().resume(&forked.child_session_id));
    }
    output.answer(&rewound, |page| tell(page, &rewound))?;
    if let Some(forked) = &rewound.forked {
        let resume = forked.resume_command.as_deref().unwrap_or_default();
        match agent_of(&header) {
            Some(agent) => {
                let id = &forked.child_session_id;
                output.hint(&format!("forklore resume-in {agent} {id}"), "go on from there");
            }
            None => output.hint(resume, "go on from there"),
        }
    }
    let number = rewound.number.unwrap_or_default();
    output.hint(&format!("forklore undo {number}"), "take it back");
    Ok(())
}

/// Returns the agent that wrote a session, if forklore can write its files.
fn agent_of(header: &Header) -> Option<&'static str> {
    let agent = header.dialect.as_deref()?;
    agents::to_export_to().find(|name| agent == *name)
}

/// Forks at a cut and brings the files of the session's folder to the state of the cut.
pub(super) fn fork_and_rewind(
    header: &Header,
    fork: Fork,
    app: &App,
    output: &mut Output,
) -> Result<()> {
    let at = fork.at.ok_or_else(|| Failure::invalid("--in-place needs --at"))?;
    let args = Args {
        session: header.id.to_string(),
        at: at.to_string(),
        files: false,
        conversation: false,
        both: true,
        paths: Vec::new(),
        label: fork.label.map(|label| label.to_string()),
        folder: None,
        dry_run: fork.dry_run,
        yes: false,
    };
    run(&args, app, output)
}

/// Returns lines about the files that would change, those that would be removed first.
fn named_changes(files: &FilesRestored) -> Vec<String> {
    let (removed, written): (Vec<_>, Vec<_>) =
        files.changes.iter().partition(|change| change.reason == "removed");
    let all = removed.iter().map(|change| format!("  remove {}", change.path));
    let all = all.chain(written.iter().map(|change| format!("  write  {}", change.path)));
    let mut lines: Vec<_> = all.take(NAMED).collect();
    if let Some(rest) = files.changes.len().checked_sub(NAMED + 1) {
        lines.push(format!("  and {} more: --dry-run lists them", rest + 1));
    }
    lines
}

fn question(files: &FilesRestored) -> String {
    let (written, removed) = (count(files.written, "file"), count(files.removed, "file"));
    format!("Write {written} and remove {removed}? The present state is recorded first.")
}

fn tell(page: &mut Page, rewound: &Rewound) {
    let would = if rewound.dry_run { "Would take back " } else { "Took back " };
    let tone = if rewound.dry_run { Tone::Warn } else { Tone::Good };
    if let Some(forked) = &rewound.forked {
        page.put(tone, would).put(Tone::Plain, "the conversation of ");
        page.put(Tone::Id, &rewound.session_id);
        if !rewound.dry_run {
            page.put(Tone::Plain, "; it goes on in ").put(Tone::Id, &forked.child_session_id);
        }
        page.end();
    }
    if let Some(files) = &rewound.files {
        page.put(tone, would).put(Tone::Plain, "the files of ");
        page.put(Tone::Plain, rewound.folder.display()).end();
        restored(page, files);
    }
}

/// Puts onto the page what happened to files.
pub(super) fn restored(page: &mut Page, files: &FilesRestored) {
    let (written, removed) = (count(files.written, "file"), count(files.removed, "file"));
    page.put(Tone::Plain, format!("  {written} written, {removed} removed")).end();
    paths(page, "skipped", &files.skipped);
    paths(page, "would change", &files.changes);
}
