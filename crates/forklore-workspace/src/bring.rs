//! `bring --files`: merges the files of a branch into a folder.

use std::collections::HashSet;
use std::path::Path;

use bstr::BString;
use forklore_api::{FilesBrought, NamedPath};
use forklore_core::Header;
use forklore_engine::Engine;
use forklore_snapshot::{Merged, SnapshotId};
use jiff::Timestamp;

use crate::named::{planned, restored};
use crate::record::{Entry, Files, Record};
use crate::rewind::stopped;
use crate::snapshot::{Named, find_named};
use crate::{Error, Result, WorkspaceFiles};

/// A merge that has not touched a file yet.
struct Plan {
    base: SnapshotId,
    theirs: SnapshotId,
    /// The present state of the folder.
    ours: SnapshotId,
    merged: Merged,
}

impl WorkspaceFiles {
    /// Merges the last snapshot of the branch `from` into a folder: what the branch changed since
    /// the snapshot that it has in common with the session `into`. The present state is recorded
    /// first, so `undo` takes the merge back. A file that was changed here and there in a different
    /// way gets git's conflict markers.
    ///
    /// # Errors
    /// [`Error::NoCommonSnapshot`] or [`Error::NothingToBring`]; nothing has changed then.
    /// [`Error::Stopped`] if a file could not be written.
    pub fn bring(
        &self,
        engine: &Engine,
        from: &Header,
        into: &Header,
        folder: &Path,
    ) -> Result<FilesBrought> {
        let mut record = Record::open(self.folder(), &self.snapshots.key_of(folder)?)?;
        // Nothing removes the snapshots before the record names them.
        let shared = self.snapshots.share()?;
        let plan = self.plan(engine, from, into, folder)?;
        let files = Files { before: plan.ours, after: plan.merged.id };
        let number = record.add(Entry {
            at: Timestamp::now(),
            session: into.id.clone(),
            fork: None,
            operation: None,
            files: Some(files),
            paths: Vec::new(),
            undoes: None,
        })?;
        drop(shared);
        // What was changed since the present state was recorded is skipped.
        let done = self.snapshots.revert(folder, plan.ours, plan.merged.id, &[], &self.taking);
        let done = done.map_err(|error| stopped(number, plan.ours, error))?;
        let restored = restored(&done, plan.merged.id);
        Ok(FilesBrought { number: Some(number), restored, ..plan.answer(folder) })
    }

    /// Returns what [`bring`](Self::bring) would do. Changes no file of the folder.
    ///
    /// # Errors
    /// As [`bring`](Self::bring).
    pub fn plan_bring(
        &self,
        engine: &Engine,
        from: &Header,
        into: &Header,
        folder: &Path,
    ) -> Result<FilesBrought> {
        let plan = self.plan(engine, from, into, folder)?;
        let changes = self.snapshots.compare(plan.ours, plan.merged.id)?;
        let restored = planned(plan.ours, plan.merged.id, &changes);
        Ok(FilesBrought { restored, ..plan.answer(folder) })
    }

    fn plan(&self, engine: &Engine, from: &Header, into: &Header, folder: &Path) -> Result<Plan> {
        let (common, theirs) = parted(self, engine, from, into)?;
        // A worktree began with the user's changes of that moment, which the log may not have.
        let base = self.began_with(&from.id)?.or(common);
        let (from, into) = (from.id.clone(), into.id.clone());
        let Some(base) = base else { return Err(Error::NoCommonSnapshot { from, into }) };
        let Some(theirs) = theirs else { return Err(Error::NothingToBring { from, into }) };
        let ours = self.snapshots.take_before(folder, theirs, &[], &self.taking)?.id;
        let merged = self.snapshots.merge(base, ours, theirs)?;
        Ok(Plan { base, theirs, ours, merged })
    }
}

impl Plan {
    fn answer(&self, folder: &Path) -> FilesBrought {
        let conflict =
            |path: &BString| NamedPath { path: path.to_string(), reason: "conflict".to_owned() };
        FilesBrought {
            number: None,
            folder: folder.to_path_buf(),
            base: self.base.to_string(),
            brought: self.theirs.to_string(),
            restored: planned(self.ours, self.merged.id, &[]),
            conflicts: self.merged.conflicts.iter().map(conflict).collect(),
        }
    }
}

/// Returns the last snapshot that two sessions have in common, and the last one that only the branch
/// has.
fn parted(
    files: &WorkspaceFiles,
    engine: &Engine,
    from: &Header,
    into: &Header,
) -> Result<(Option<SnapshotId>, Option<SnapshotId>)> {
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
    let recorded = files.last_moment(engine, from, u64::MAX, folder)?;
    let last = match recorded {
        Some(recorded) if last.as_ref().is_none_or(|last| last.at < recorded.at) => {
            Some(recorded.into())
        }
        _ => last,
    };
    let id = |named: Option<Named>| named.map(|named| named.id()).transpose();
    Ok((id(common)?, id(last)?))
}
