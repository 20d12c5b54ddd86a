//! The states between which `bring --files` merges.

use std::collections::HashSet;
use std::path::Path;

use forklore_api::Relative;
use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_snapshot::SnapshotId;

use crate::branch_folder::BranchFolder;
use crate::record::Record;
use crate::snapshot::{Named, find_named};
use crate::worktree_record::WorktreeRecord;
use crate::{Result, WorkspaceFiles};

/// The last states that the logs of two sessions name.
struct Logged {
    /// The last one that they have in common.
    common: Option<SnapshotId>,
    /// The last one that only the branch has.
    last: Option<SnapshotId>,
}

impl WorkspaceFiles {
    /// Returns the state from which the files of `from` are merged into a folder, and the last state of
    /// `from` that its log names. `own` is the folder of `from`.
    pub(crate) fn merge_base(
        &self,
        engine: &Engine,
        from: &Header,
        into: &Header,
        folder: &Path,
        own: Option<&BranchFolder>,
    ) -> Result<(Option<SnapshotId>, Option<SnapshotId>)> {
        let logged = self.logged(engine, from, into)?;
        let made_for = own.map_or(&from.id, |own| &own.made_for);
        let base = match self.brought_last(folder, made_for)? {
            Some(brought) => Some(brought),
            // A folder began with the user's changes of that moment, which the logs may not have.
            None => self
                .began_apart(engine, from, into)?
                .or(logged.common)
                .or(own.and_then(|own| own.began)),
        };
        Ok((base, logged.last))
    }

    /// Returns the state of a branch that was merged into a folder last, unless that was taken back.
    fn brought_last(&self, folder: &Path, made_for: &SessionId) -> Result<Option<SnapshotId>> {
        let key = self.snapshots.key_of(folder)?;
        if !Record::exists(self.folder(), &key) {
            return Ok(None);
        }
        let record = Record::open(self.folder(), &key)?;
        let mut entries = record.entries.iter().enumerate().rev();
        let last = entries.find_map(|(at, entry)| {
            let brought = entry.brought.as_ref().filter(|brought| brought.from == *made_for)?;
            record.undone_by(at as u64 + 1).is_none().then_some(brought.state)
        });
        Ok(last.filter(|&state| self.snapshots.has(state)))
    }

    /// Returns the state with which the folder of the first session began that only one of two
    /// sessions comes from. A fork of a fork has the work of both in its folder.
    fn began_apart(
        &self,
        engine: &Engine,
        from: &Header,
        into: &Header,
    ) -> Result<Option<SnapshotId>> {
        let (above_from, above_into) = (history(engine, from)?, history(engine, into)?);
        let made = WorktreeRecord::open(self.folder())?.made;
        let began = |these: &[SessionId], others: &[SessionId]| {
            let others: HashSet<_> = others.iter().collect();
            let first = these.iter().rev().find(|session| !others.contains(session))?;
            let begun = made.iter().rfind(|begun| begun.session == *first)?;
            Some(begun.snapshot).filter(|&state| self.snapshots.has(state))
        };
        let began_from = began(&above_from, &above_into);
        Ok(began_from.or_else(|| began(&above_into, &above_from)))
    }

    fn logged(&self, engine: &Engine, from: &Header, into: &Header) -> Result<Logged> {
        let last = find_named(engine, &from.id, u64::MAX, |_, _| Ok(true))?;
        // A fork has its own positions, but the ids of inherited events are those of the parent.
        let mut theirs = HashSet::new();
        find_named(engine, &into.id, u64::MAX, |_, event| {
            theirs.insert(event.clone());
            Ok(false)
        })?;
        let common = find_named(engine, &from.id, u64::MAX, |_, event| Ok(theirs.contains(event)))?;
        let parted = common.as_ref().and_then(|common| common.seq);
        let last = last.filter(|last| last.seq > parted);
        let folder = from.workspace.as_str();
        let recorded = self.last_moment(engine, from, u64::MAX, folder)?;
        let last = match recorded {
            Some(recorded) if last.as_ref().is_none_or(|last| last.at < recorded.at) => {
                Some(recorded)
            }
            _ => last,
        };
        let id = |named: Option<Named>| named.map(|named| named.id()).transpose();
        Ok(Logged { common: id(common)?, last: id(last)? })
    }
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
