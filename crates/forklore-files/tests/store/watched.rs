//! The file system of the disk, with a watch that is told of each operation.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_files::fs::{Disk, File, Fs, Open};
use forklore_files::{FilesStore, Options};

use crate::scratch::Scratch;

/// An operation on a file or folder. The path is told beside it; that of a rename is the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Open(Open),
    Rename,
    SyncFolder,
    Write,
    /// A sync of a file that was opened in this way.
    Sync(Open),
}

/// What a test does at the operations of a store.
pub(crate) trait Watch: Debug + Send + Sync + 'static {
    /// Called before the operation, which fails if this function does.
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        let _ = (operation, path);
        Ok(())
    }

    /// Called after the operation, also if the disk refused it.
    fn after(&self, operation: Operation, path: &Path) {
        let _ = (operation, path);
    }

    /// Called after a folder was listed. `count` is the number of names in it.
    fn listed(&self, count: usize) {
        let _ = count;
    }
}

/// The file system of the disk under a watch.
#[derive(Debug)]
struct Watched<W>(Arc<W>);

/// Opens the store of `scratch` on the file system of the disk under this watch.
pub(crate) fn open_watched(scratch: &Scratch, watch: &Arc<impl Watch>) -> Arc<FilesStore> {
    let fs = Arc::new(Watched(watch.clone()));
    Arc::new(FilesStore::open_on(fs, &scratch.root(), Options::default()).unwrap())
}

#[derive(Debug)]
struct WatchedFile<W> {
    file: Box<dyn File>,
    path: PathBuf,
    how: Open,
    watch: Arc<W>,
}

/// Performs an operation between the two calls of its watch.
fn between<T>(
    watch: &impl Watch,
    operation: Operation,
    path: &Path,
    perform: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    watch.before(operation, path)?;
    let done = perform();
    watch.after(operation, path);
    done
}

impl<W: Watch> Fs for Watched<W> {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>> {
        let file = between(&*self.0, Operation::Open(how), path, || Disk.open(path, how))?;
        Ok(Box::new(WatchedFile { file, path: path.to_owned(), how, watch: self.0.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        between(&*self.0, Operation::Rename, to, || Disk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        Disk.make_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        between(&*self.0, Operation::SyncFolder, path, || Disk.sync_dir(path))
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        let names = Disk.names(path)?;
        self.0.listed(names.len());
        Ok(names)
    }
}

impl<W: Watch> File for WatchedFile<W> {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(into, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let write = || self.file.write_at(bytes, offset);
        between(&*self.watch, Operation::Write, &self.path, write)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        between(&*self.watch, Operation::Sync(self.how), &self.path, || self.file.sync())
    }
}
