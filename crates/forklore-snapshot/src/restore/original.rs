//! The workspace from which a new folder is made: its files can share their contents with those of the
//! folder, where the file system does that (a reflink).

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use bstr::BStr;
use rustix::io::Errno;

use crate::file_writer::FileWriter;
use crate::index::Index;
use crate::root::Root;
use crate::walk::State;
use crate::{SnapshotId, Snapshots};

/// A workspace and what a snapshot of it found.
pub(super) struct Original {
    root: Root,
    index: Index,
    /// Whether the file system may share contents. One that refused is not tried for each file.
    may_share: AtomicBool,
}

impl Original {
    /// Returns a workspace, if a snapshot is the last that was taken of it.
    pub(super) fn of(snapshots: &Snapshots, workspace: &Path, id: SnapshotId) -> Option<Self> {
        let workspace = workspace.canonicalize().ok()?;
        let index = Index::read(&snapshots.index_of(&workspace));
        let root = Root::open(&workspace).ok()?;
        let original = Self { root, index, may_share: AtomicBool::new(true) };
        Some(original).filter(|original| original.index.snapshot == Some(id))
    }

    /// Writes a file that shares the contents of the one in the workspace. Returns whether it did:
    /// not if that one was changed since the snapshot.
    pub(super) fn share(&self, writer: &mut FileWriter<'_>, path: &BStr, mode: u32) -> bool {
        if !self.may_share.load(Ordering::Relaxed) {
            return false;
        }
        let Some(state) = self.index.state(path).filter(|state| !state.is_uncertain()) else {
            return false;
        };
        let Ok(Some(Ok(file))) = self.root.file(path) else { return false };
        let is_as_then =
            |file: &File| file.metadata().is_ok_and(|now| State::of(&now).as_ref() == Some(state));
        if !is_as_then(&file) {
            return false;
        }
        match writer.shared(path, mode, &file) {
            Ok(()) if is_as_then(&file) => true,
            Ok(()) => {
                writer.remove(path);
                false
            }
            Err(error) => {
                let refuses = [Errno::OPNOTSUPP, Errno::XDEV, Errno::INVAL, Errno::NOTTY];
                if Errno::from_io_error(&error).is_some_and(|error| refuses.contains(&error)) {
                    self.may_share.store(false, Ordering::Relaxed);
                }
                false
            }
        }
    }
}
