//! `worktrees list`: lists the folders that were made for forks.

use forklore::api::{Worktree, WorktreeState, Worktrees};

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone};

/// List the folders that were made for forks, also those whose making was interrupted
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(super) fn run(_: &Args, app: &App, output: &mut Output) -> Result<()> {
    let made = app.files()?.worktrees()?;
    let answer = Worktrees { worktrees: made.into_iter().map(Into::into).collect() };
    let engine = app.engine()?;
    // A session may be deleted.
    let label = |made: &Worktree| engine.show(&made.session_id).ok().map(|header| header.label);
    let labels: Vec<_> = answer.worktrees.iter().map(label).collect();
    output.answer(&answer, |page| {
        if answer.worktrees.is_empty() {
            page.put(Tone::Dim, "no fork has a folder of its own").end();
        }
        for (made, label) in answer.worktrees.iter().zip(&labels) {
            page.put(Tone::Strong, made.folder.display()).put(Tone::Plain, "  ");
            if let Some(label) = label {
                page.put(Tone::Label, format!("@{label}")).put(Tone::Plain, "  ");
            }
            page.put(Tone::Id, &made.session_id);
            match made.state {
                WorktreeState::Ready => {}
                WorktreeState::Busy => {
                    page.put(Tone::Dim, "  busy");
                }
                WorktreeState::Unfinished => {
                    page.put(Tone::Warn, "  unfinished");
                }
                WorktreeState::Missing => {
                    page.put(Tone::Warn, "  missing");
                }
                WorktreeState::Removing => {
                    page.put(Tone::Warn, "  its removal was interrupted");
                }
            }
            page.end();
        }
    })?;
    if let Some(first) = answer.worktrees.first() {
        output.hint(&format!("forklore worktrees remove {}", first.session_id), "remove one");
    } else {
        output.hint("forklore fork last --worktree", "make one");
    }
    Ok(())
}
