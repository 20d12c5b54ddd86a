//! `worktrees remove`: removes the folder of a fork.

use std::path::{Path, PathBuf};

use forklore::api::WorktreeRemoved;
use forklore::core::ErrorKind;

use super::super::confirm;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone};
use crate::session_ref::SessionRef;

/// Remove the folder of a fork, after its files were recorded
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The fork (an id, label or title, or last), or its folder
    #[arg(value_name = "SESSION|DIR")]
    of: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let files = app.files()?;
    let made = files.worktrees()?;
    let named = Path::new(&args.of).canonicalize().unwrap_or_else(|_| PathBuf::from(&args.of));
    let folder = if made.iter().any(|made| made.folder == named) {
        named
    } else {
        let reference = SessionRef::parse(&args.of)?;
        if reference.is_file() {
            let message = format!("{} is not the folder of a fork", args.of);
            return Err(
                Failure::refused(ErrorKind::NotFound, message).or_try("forklore worktrees list")
            );
        }
        let session = app.stored(&reference, output)?.id;
        let of_session = made.into_iter().rev().find(|made| made.session == session);
        let none = || Failure::refused(ErrorKind::NotFound, format!("{session} has no worktree"));
        of_session.ok_or_else(|| none().or_try("forklore worktrees list"))?.folder
    };
    let question = format!("Remove the folder of {}? Its files are recorded first.", args.of);
    confirm::confirm_change(&question, args.yes, output)?;
    let removed = WorktreeRemoved::from(files.remove_worktree_of_fork(app.engine()?, &folder)?);
    output.answer(&removed, |page| {
        page.put(Tone::Good, "Removed ").put(Tone::Strong, removed.worktree.folder.display());
        page.end();
        if let Some(snapshot) = &removed.snapshot {
            page.put(Tone::Plain, "  its files are in the snapshot ").put(Tone::Id, snapshot).end();
        }
    })
}
