//! The states between which `bring --files` merges.

use std::collections::HashSet;
use std::path::Path;

use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_snapshot::SnapshotId;

use crate::branch_folder::BranchFolder;
use crate::record::{BroughtState, Record};
use crate::snapshot::{Named, find_named};
use crate::timeline::Reached;
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
        // A folder began with the user's changes of that moment, which the logs may not have.
        let base = self
            .met_last(engine, from, into, folder, own)?
            .or(logged.common)
            .or(own.and_then(|own| own.began));
        Ok((base, logged.last))
    }

    /// Returns the last state of a folder that the branch and the target both have: where their
    /// timelines part, or what the target got of the branch or of a relative of it by a merge that was
    /// not taken back.
    fn met_last(
        &self,
        engine: &Engine,
        from: &Header,
        into: &Header,
        folder: &Path,
        own: Option<&BranchFolder>,
    ) -> Result<Option<SnapshotId>> {
        let made_for = own.map_or(&from.id, |own| &own.made_for);
        let timeline = self.timeline(engine, from)?;
        let mut met: Vec<_> = timeline.meeting(&self.timeline(engine, into)?).into_iter().collect();
        for (other, then) in self.brought(folder)? {
            let Ok(header) = engine.show(&other) else { continue };
            let theirs = self.timeline(engine, &header)?;
            met.extend(timeline.meeting_at(&theirs, then, other == *made_for));
        }
        let states = met.into_iter().filter_map(|met| Some((met.shared, met.reached?)));
        let last = states.max_by_key(|(shared, reached)| (*shared, reached.at));
        Ok(last.map(|(_, reached)| reached.state))
    }

    /// Returns the states that were merged into a folder and not taken back, and of which branches.
    fn brought(&self, folder: &Path) -> Result<Vec<(SessionId, Reached)>> {
        let key = self.snapshots.key_of(folder)?;
        if !Record::exists(self.folder(), &key) {
            return Ok(Vec::new());
        }
        let record = Record::open(self.folder(), &key)?;
        let entries = record.entries.iter().enumerate();
        let brought = entries.filter(|(at, _)| record.undone_by(*at as u64 + 1).is_none());
        let brought = brought.filter_map(|(_, entry)| {
            let BroughtState { from, state } = entry.brought.clone()?;
            Some((from, Reached { state, at: entry.at }))
        });
        Ok(brought.filter(|(_, reached)| self.snapshots.has(reached.state)).collect())
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
