//! `bring --files`: merges the files of a branch into a folder.

use std::path::{Path, PathBuf};

use bstr::BString;
use forklore_api::{FilesBrought, NamedPath};
use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_snapshot::{LeftOut, Merged, Shared, SnapshotId};
use jiff::Timestamp;

use crate::named::{left_out, planned, restored};
use crate::record::{BroughtState, Entry, Files, Record};
use crate::rewind::stopped;
use crate::{Error, Result, WorkspaceFiles};

/// A merge of files that has not touched a file yet. While it exists, no snapshot is removed.
#[derive(Debug)]
pub struct PlannedBring {
    into: SessionId,
    folder: PathBuf,
    /// The session for which the folder of the branch was made, or the branch.
    made_for: SessionId,
    base: SnapshotId,
    theirs: SnapshotId,
    /// What the folder of the branch has and its state lacks.
    left_out: Vec<LeftOut>,
    /// The present state of the folder.
    ours: SnapshotId,
    merged: Merged,
    _shared: Shared,
}

impl WorkspaceFiles {
    /// Merges the files of the branch `from` into a folder. If a folder was made for the branch, these
    /// are its present files; otherwise it is the last snapshot of the branch. What changed since the
    /// two sessions parted is merged, but not again what was brought before. The present state is
    /// recorded first, so `undo` takes the merge back. A file that was changed here and there in a
    /// different way gets git's conflict markers.
    ///
    /// # Errors
    /// [`Error::NoCommonSnapshot`], [`Error::NothingToBring`], or [`Error::NotTheWorktree`]; nothing has
    /// changed then.
    /// [`Error::Stopped`] if a file could not be written.
    pub fn bring(
        &self,
        engine: &Engine,
        from: &Header,
        into: &Header,
        folder: &Path,
    ) -> Result<FilesBrought> {
        self.bring_planned(self.plan_to_bring(engine, from, into, folder)?)
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
        self.show_planned(&self.plan_to_bring(engine, from, into, folder)?)
    }

    /// Merges as [`bring`](Self::bring) does, without touching a file of the folder.
    ///
    /// # Errors
    /// As [`bring`](Self::bring).
    pub fn plan_to_bring(
        &self,
        engine: &Engine,
        from: &Header,
        into: &Header,
        folder: &Path,
    ) -> Result<PlannedBring> {
        // Nothing removes the snapshots before the record names them.
        let shared = self.snapshots.share()?;
        let own = self.branch_folder(engine, from, folder)?;
        let (base, theirs) = self.merge_base(engine, from, into, folder, own.as_ref())?;
        let made_for = own.as_ref().map_or(&from.id, |own| &own.made_for).clone();
        let (now, left_out) = own.and_then(|own| own.now).unzip();
        let theirs = now.or(theirs);
        let (from, into) = (from.id.clone(), into.id.clone());
        let no_common = || Error::NoCommonSnapshot { from: from.clone(), into: into.clone() };
        let base = base.ok_or_else(no_common)?;
        let nothing = || Error::NothingToBring { from: from.clone(), into: into.clone() };
        let theirs = theirs.ok_or_else(nothing)?;
        let ours = self.snapshots.take_before(folder, theirs, &[], &self.taking)?.id;
        let merged = self.snapshots.merge(base, ours, theirs)?;
        let folder = folder.to_path_buf();
        let left_out = left_out.unwrap_or_default();
        Ok(PlannedBring {
            into,
            folder,
            made_for,
            base,
            theirs,
            left_out,
            ours,
            merged,
            _shared: shared,
        })
    }

    /// Returns what a planned merge will do.
    ///
    /// # Errors
    /// If git fails.
    pub fn show_planned(&self, plan: &PlannedBring) -> Result<FilesBrought> {
        let changes = self.snapshots.compare(plan.ours, plan.merged.id)?;
        let mut restored = planned(plan.ours, plan.merged.id, &changes, &[]);
        restored.skipped.extend(plan.left_out.iter().map(left_out));
        Ok(FilesBrought { restored, ..plan.answer() })
    }

    /// Writes a planned merge into its folder. What was changed there since it was planned is skipped
    /// and named.
    ///
    /// # Errors
    /// [`Error::Stopped`] if a file could not be written.
    pub fn bring_planned(&self, plan: PlannedBring) -> Result<FilesBrought> {
        let answer = plan.answer();
        let PlannedBring {
            into, folder, made_for, theirs, ours, merged, left_out, _shared, ..
        } = plan;
        let mut record = Record::open(self.folder(), &self.snapshots.key_of(&folder)?)?;
        let number = record.add(Entry {
            at: Timestamp::now(),
            session: into,
            fork: None,
            operation: None,
            files: Some(Files { before: ours, after: merged.id }),
            paths: Vec::new(),
            undoes: None,
            brought: Some(BroughtState { from: made_for, state: theirs }),
        })?;
        let done = self.snapshots.revert(&folder, ours, merged.id, &[], &self.taking);
        let done = done.map_err(|error| stopped(number, ours, error))?;
        let mut restored = restored(&done, merged.id);
        restored.skipped.extend(left_out.iter().map(self::left_out));
        Ok(FilesBrought { number: Some(number), restored, ..answer })
    }
}

impl PlannedBring {
    fn answer(&self) -> FilesBrought {
        let conflict =
            |path: &BString| NamedPath { path: path.to_string(), reason: "conflict".to_owned() };
        FilesBrought {
            number: None,
            folder: self.folder.clone(),
            base: self.base.to_string(),
            brought: self.theirs.to_string(),
            restored: planned(self.ours, self.merged.id, &[], &[]),
            conflicts: self.merged.conflicts.iter().map(conflict).collect(),
        }
    }
}
