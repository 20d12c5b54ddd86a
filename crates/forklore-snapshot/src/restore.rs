//! Restores a snapshot: what a workspace had then, and nothing that it had not.

mod apply;
mod original;
mod plan;
mod write;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use bstr::{BString, ByteSlice};
use rustix::fs::FileType;

use self::apply::Apply;
use self::original::Original;
use self::plan::Plan;
use crate::index::Index;
use crate::journal::Journal;
use crate::objects;
use crate::root::Root;
use crate::selection::selects;
use crate::skipped::{SkipReason, Skipped};
use crate::snapshots::Locked;
use crate::walk::UNFINISHED;
use crate::{Change, ChangeKind, Error, Result, Snapshot, SnapshotId, Snapshots, Taking};

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The snapshot of the state before, taken at the beginning. To restore it is to undo.
    pub before: SnapshotId,
    /// The number of files and links that were written, or whose permissions were set.
    pub written: u64,
    /// The number of files and links that were removed. The snapshot before has all of them.
    pub removed: u64,
    /// What was not restored, by path.
    pub skipped: Vec<Skipped>,
}

impl Snapshots {
    /// Restores a snapshot in a workspace. Takes a snapshot of the state before, writes what
    /// differs, and removes only what the snapshot before contains. `paths` limits it to these
    /// files and what is below these folders; if there are none, it restores all.
    ///
    /// A restore that is killed is completed by the next command that takes or restores a snapshot
    /// of the workspace.
    ///
    /// # Errors
    /// If the snapshot is missing, the state before cannot be recorded (then nothing has changed),
    /// or a file cannot be written: then [`Error::Stopped`] names the snapshot of the state before.
    pub fn restore(
        &self,
        workspace: &Path,
        id: SnapshotId,
        paths: &[BString],
        taking: &Taking,
    ) -> Result<Restored> {
        let workspace = self.lock(workspace)?;
        self.finish(&workspace, taking)?;
        objects::about(self.git(), id)?;
        let before = self.before(workspace.path(), id, paths, taking)?;
        let journal = Journal { from: before.id, to: id, paths: paths.to_vec(), token: token() };
        journal.write(&self.journal_of(workspace.path()))?;
        self.apply(&workspace, &journal, before.id, taking)
    }

    /// Restores a snapshot as [`restore`](Self::restore) does, where the workspace is as in another
    /// one. What was changed since that other one is skipped.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    pub fn revert(
        &self,
        workspace: &Path,
        from: SnapshotId,
        to: SnapshotId,
        paths: &[BString],
        taking: &Taking,
    ) -> Result<Restored> {
        let workspace = self.lock(workspace)?;
        self.finish(&workspace, taking)?;
        for id in [from, to] {
            objects::about(self.git(), id)?;
        }
        let now = self.before(workspace.path(), to, paths, taking)?;
        let journal = Journal { from, to, paths: paths.to_vec(), token: token() };
        journal.write(&self.journal_of(workspace.path()))?;
        let restored = self.apply(&workspace, &journal, now.id, taking)?;
        Ok(Restored { before: now.id, ..restored })
    }

    /// Returns what a restore would change in a workspace whose state is the snapshot `before`.
    ///
    /// # Errors
    /// If a snapshot is missing or git fails.
    pub fn preview(
        &self,
        before: SnapshotId,
        id: SnapshotId,
        paths: &[BString],
    ) -> Result<Vec<Change>> {
        let changes = self.compare(before, id)?;
        Ok(changes.into_iter().filter(|change| selects(paths, change.path.as_bstr())).collect())
    }

    /// Returns which of these changes a restore of a snapshot would skip, as far as that can be seen
    /// before, in a workspace whose state is the snapshot `before`.
    ///
    /// # Errors
    /// If the snapshot is missing, or the workspace cannot be opened.
    pub fn foreseen(
        &self,
        workspace: &Path,
        before: SnapshotId,
        id: SnapshotId,
        changes: &[Change],
    ) -> Result<Vec<Skipped>> {
        let about = objects::about(self.git(), before)?;
        let about_it = objects::about(self.git(), id)?;
        let path = workspace.canonicalize().map_err(Error::file("open", workspace))?;
        let root = Root::open(&path)?;
        let mut skipped = Vec::new();
        for change in changes {
            let Some(stat) = root.stat(change.path.as_bstr()) else { continue };
            let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            let is_unrecorded = match change.kind {
                ChangeKind::Added => about.leaves_out(&change.path),
                ChangeKind::Removed => about_it.may_lack(&change.path),
                _ => false,
            };
            let reason = match is_unrecorded {
                true => SkipReason::NotInSnapshot,
                false if is_file && stat.st_nlink > 1 => SkipReason::HardLink,
                false => continue,
            };
            skipped.push(Skipped { path: change.path.clone(), reason });
        }
        Ok(skipped)
    }

    /// Writes a snapshot into a folder that does not exist, is empty, or has nothing but the `.git` of
    /// a new work tree. Returns the number of files and links. As with `git checkout`, they need not be
    /// on the disk yet; the snapshot is. If `workspace` still has the files, and the file system
    /// shares contents, the new files share theirs with those.
    ///
    /// # Errors
    /// If the snapshot is missing, the folder is not empty ([`Error::NotEmpty`]), or a file cannot be
    /// written; what was written then remains.
    pub fn copy_to(&self, folder: &Path, id: SnapshotId, workspace: Option<&Path>) -> Result<u64> {
        let _shared = self.share()?;
        let plan = Plan::of_empty(self.git(), id)?;
        std::fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
        for inside in std::fs::read_dir(folder).map_err(Error::file("open", folder))? {
            let inside = inside.map_err(Error::file("open", folder))?;
            let is_file = inside.file_type().is_ok_and(|kind| kind.is_file());
            if inside.file_name() != ".git" || !is_file {
                return Err(Error::NotEmpty { path: folder.to_path_buf() });
            }
        }
        let (root, taking) = (Root::open(folder)?, Taking::default());
        let original = workspace.and_then(|workspace| Original::of(self, workspace, id));
        let apply = Apply::new(self.git(), folder, root, None, &taking).sharing(original);
        let (written, ..) = apply.run(&plan)?;
        Ok(written)
    }

    /// Takes the snapshot that a restore takes first: it also has the ignored files that the restore
    /// would replace, so that an undo brings them back.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    pub fn take_before(
        &self,
        workspace: &Path,
        id: SnapshotId,
        paths: &[BString],
        taking: &Taking,
    ) -> Result<Snapshot> {
        let workspace = self.lock(workspace)?;
        self.finish(&workspace, taking)?;
        objects::about(self.git(), id)?;
        self.before(workspace.path(), id, paths, taking)
    }

    fn before(
        &self,
        workspace: &Path,
        id: SnapshotId,
        paths: &[BString],
        taking: &Taking,
    ) -> Result<Snapshot> {
        let before = self.take_locked(workspace, taking)?;
        let root = Root::open(workspace)?;
        let found = objects::differences(self.git(), Some(before.id), Some(id))?;
        let new = found.into_iter().filter(|found| found.before.is_none());
        let replaced: Vec<_> = new
            .map(|found| found.path)
            .filter(|path| selects(paths, path.as_bstr()) && root.has(path.as_bstr()))
            .collect();
        if replaced.is_empty() {
            return Ok(before);
        }
        self.take_locked(workspace, &Taking { also: replaced, ..taking.clone() })
    }

    /// Completes a restore of the workspace that was killed.
    pub(crate) fn finish(&self, workspace: &Locked, taking: &Taking) -> Result<()> {
        let Some(journal) = Journal::read(&self.journal_of(workspace.path()))? else {
            return Ok(());
        };
        let now = self.before(workspace.path(), journal.to, &journal.paths, taking)?;
        tracing::info!(workspace = %workspace.path().display(), "completes a restore");
        self.apply(workspace, &journal, now.id, taking).map(drop)
    }

    /// Changes the workspace from the state `now`, which lies between those of the journal.
    fn apply(
        &self,
        workspace: &Locked,
        journal: &Journal,
        now: SnapshotId,
        taking: &Taking,
    ) -> Result<Restored> {
        let path = self.journal_of(workspace.path());
        let done = Plan::of(self.git(), journal, now).and_then(|plan| {
            let root = Root::open(workspace.path())?;
            let index = Index::read(&self.index_of(workspace.path()));
            let before = Some((index, journal.token.as_str()));
            let apply = Apply::new(self.git(), workspace.path(), root, before, taking);
            apply.run(&plan)
        });
        Journal::remove(&path)?;
        match done {
            Ok((written, removed, skipped)) => {
                Ok(Restored { before: journal.from, written, removed, skipped })
            }
            Err(source) => Err(Error::Stopped { before: journal.from, source: Box::new(source) }),
        }
    }
}

/// Returns a name for temporary files that no other restore has.
fn token() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    format!("{UNFINISHED}{}-{number}", std::process::id())
}
