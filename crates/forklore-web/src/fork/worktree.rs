//! A fork with a folder of its own, which has the files of the position (docs/semantics.md, Snapshots).

use std::path::PathBuf;

use forklore_core::{Header, SessionId};
use forklore_engine::Fork;

use crate::Pages;
use crate::answer::{Answer, Problem};
use crate::rewind::{Rights, means};

/// Checks whether the page can give a fork of a session a folder of its own.
pub(super) fn is_possible(pages: &Pages, rights: Rights, header: &Header) -> bool {
    means(pages, rights, header).is_ok()
}

/// Forks a session and makes the folder: the one that the form names, or the default. A form that is
/// submitted twice makes one of each.
pub(super) fn make(pages: &Pages, rights: Rights, fork: &Fork) -> Answer<SessionId> {
    let header = pages.engine.show(&fork.parent)?;
    let (files, _) =
        means(pages, rights, &header).map_err(|obstacle| Problem::forbidden(obstacle.as_str()))?;
    // Nobody else sends the same form meanwhile.
    let _alone = files.done().open();
    if let Some(id) = &fork.id
        && let Ok(made) = pages.engine.show(id)
        && made.parent_id.as_ref() == Some(&fork.parent)
    {
        return Ok(made.id);
    }
    let folder = fork.workspace.as_ref().map(|folder| PathBuf::from(folder.as_str()));
    if folder.as_ref().is_some_and(|folder| !folder.is_absolute()) {
        return Err(Problem::bad("Folder: write the whole path on the server's machine."));
    }
    let made = files.files().fork_into(&pages.engine, &header, fork, folder.as_deref())?;
    Ok(made.0.child_session_id)
}
