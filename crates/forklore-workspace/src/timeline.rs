//! The folders in which the history of a session was worked: on which states of them it rests.

use forklore_api::Relative;
use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_snapshot::SnapshotId;
use jiff::Timestamp;

use crate::snapshot::find_named;
use crate::worktree_record::WorktreeRecord;
use crate::{Result, WorkspaceFiles};

/// A state of a folder, and when the folder had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) state: SnapshotId,
    pub(crate) at: Timestamp,
}

/// A folder of a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Folder {
    /// The session for which it was made.
    made_for: SessionId,
    /// The state of the folder before it in the timeline with which it began. `None` if that was not
    /// recorded.
    began: Option<Reached>,
}

/// The folders of a session and of those whose work it continues, from the root. Sessions that work in
/// one folder share its timeline.
#[derive(Debug, Clone)]
pub(crate) struct Timeline(Vec<Folder>);

/// Where two timelines meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meeting {
    /// How many folders they share.
    pub(crate) shared: usize,
    /// The last state of the last of them that both have. `None` if both are in that folder now.
    pub(crate) reached: Option<Reached>,
}

impl WorkspaceFiles {
    /// Returns the timeline of a session.
    pub(crate) fn timeline(&self, engine: &Engine, session: &Header) -> Result<Timeline> {
        let made = WorktreeRecord::open(self.folder())?.made;
        let mut folders: Vec<Folder> = Vec::new();
        let mut above: Option<Header> = None;
        for id in history(engine, session)?.into_iter().rev() {
            // Of one that was deleted, nothing is known but that it had a folder.
            let header = engine.show(&id).ok();
            let began = match made.iter().rfind(|begun| begun.session == id) {
                Some(begun) if !self.snapshots.has(begun.snapshot) => None,
                Some(begun) => Some(reached(engine, &id, header.as_ref(), begun.snapshot)?),
                None => {
                    let both = above.as_ref().zip(header.as_ref());
                    let differs = both.is_some_and(|(above, it)| above.workspace != it.workspace);
                    if !differs && !folders.is_empty() {
                        continue;
                    }
                    None
                }
            };
            above = header.or(above);
            folders.push(Folder { made_for: id, began });
        }
        Ok(Timeline(folders))
    }
}

impl Timeline {
    /// Returns where this timeline meets another one. `None` if they share no folder, or the state at
    /// which one of them left the last folder that they share is not known.
    pub(crate) fn meeting(&self, other: &Self) -> Option<Meeting> {
        let pairs = self.0.iter().zip(&other.0);
        let shared = pairs.take_while(|(ours, theirs)| ours.made_for == theirs.made_for).count();
        if shared == 0 {
            return None;
        }
        let left = |timeline: &Self| match timeline.0.get(shared) {
            Some(next) => next.began.map(Some),
            None => Some(None),
        };
        let reached = match (left(self)?, left(other)?) {
            (Some(ours), Some(theirs)) => Some(if ours.at <= theirs.at { ours } else { theirs }),
            (ours, theirs) => ours.or(theirs),
        };
        Some(Meeting { shared, reached })
    }

    /// Returns where this timeline meets another one as that was at a state. `is_own` says whether it is
    /// that of the same branch: others have states of their own in one folder.
    pub(crate) fn meeting_at(&self, other: &Self, then: Reached, is_own: bool) -> Option<Meeting> {
        let meeting = self.meeting(other)?;
        let reached = match meeting.reached {
            // The other one was in the last shared folder, before this one left it.
            Some(left) if other.0.len() == meeting.shared && then.at < left.at => then,
            Some(left) => left,
            None if is_own => then,
            None => return None,
        };
        Some(Meeting { reached: Some(reached), ..meeting })
    }
}

/// Returns when the parent of a session had the state with which the session's folder began: when its
/// log names it, or else when the session was made.
fn reached(
    engine: &Engine,
    session: &SessionId,
    header: Option<&Header>,
    state: SnapshotId,
) -> Result<Reached> {
    let Some(header) = header else { return Ok(Reached { state, at: Timestamp::MAX }) };
    let name = state.to_string();
    let inherited = header.inherited.inheritable;
    let named = find_named(engine, session, inherited, |named, _| Ok(named.snapshot == name))?;
    Ok(Reached { state, at: named.map_or(header.created, |named| named.at) })
}

/// Returns a session and those whose work it continues, up to the root. A fork of what its parent
/// inherited continues nothing of the parent.
fn history(engine: &Engine, session: &Header) -> Result<Vec<SessionId>> {
    let mut history = vec![session.id.clone()];
    let mut cut = session.inherited.inheritable;
    for Relative { session_id, cut: begins, .. } in engine.lineage(&session.id)?.ancestors {
        let begins = begins.map_or(0, |begins| begins.inheritable);
        if begins <= cut {
            history.push(session_id);
        }
        cut = cut.min(begins);
    }
    Ok(history)
}
