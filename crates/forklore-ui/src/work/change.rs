//! Makes the changes that the user has confirmed, and plans those to confirm.

use forklore_api::{Delete, DeleteMode, Fork, Undelete};
use forklore_core::{ErrorKind, SessionId};
use forklore_engine::{Engine, Result};
use forklore_workspace::WorkspaceFiles;

use crate::model::cut_text;
use crate::request::{Answer, Change, Done};
use crate::safe::Safe;
use crate::work::rewind;

pub(super) fn change(
    engine: &Engine,
    files: Option<&WorkspaceFiles>,
    change: &Change,
) -> Result<Answer> {
    Ok(Answer::Changed(match change {
        Change::Fork { session, at, label } => {
            let request =
                Fork { at: Some(at.clone()), label: label.clone(), ..Fork::of(session.clone()) };
            let forked = engine.fork(&request)?;
            Done::Forked {
                session: forked.child_session_id,
                label: Safe::line(forked.label.as_str()),
                at: cut_text(&forked.cut),
                parent: forked.parent_session_id,
            }
        }
        Change::Label(session, label) => {
            let header = engine.label(session, label)?;
            Done::Labelled(header.id, Safe::line(header.label.as_str()))
        }
        Change::Rename(session, title) => {
            let header = engine.rename(session, Some(title))?;
            Done::Renamed(header.id, header.title.as_deref().map(Safe::line))
        }
        Change::Delete(session, mode) => {
            let request =
                Delete { session: session.clone(), mode: *mode, dry_run: false, erase: false };
            let deleted = engine.delete(&request)?;
            Done::Deleted { session: session.clone(), sessions: deleted.deleted }
        }
        Change::Undelete(session) => undelete(engine, session)?,
        Change::Rewind(request) => return Ok(rewind::rewind(engine, files, request)),
        Change::UndoRewind(session, number) => {
            return Ok(rewind::undo(engine, files, session, *number));
        }
    }))
}

/// Finds out whether other sessions continue a session that is to be deleted. Any other reason to
/// refuse the delete is shown when it is made.
pub(super) fn plan_delete(engine: &Engine, session: &SessionId) -> Answer {
    let mode = DeleteMode::Refuse;
    let request = Delete { session: session.clone(), mode, dry_run: true, erase: false };
    let refused = engine.delete(&request).err();
    let has_children = refused.is_some_and(|error| error.kind() == ErrorKind::HasChildren);
    Answer::DeletePlanned { session: session.clone(), has_children }
}

fn undelete(engine: &Engine, session: &SessionId) -> Result<Done> {
    let request = Undelete { session: session.clone(), cascade: true };
    let undeleted = engine.undelete(&request)?.undeleted;
    let sessions = undeleted.into_iter().map(|one| one.session_id).collect();
    Ok(Done::Undeleted { session: session.clone(), sessions })
}
