//! A file system for the files store. It passes every operation through a [`Drive`].

use std::fs::{Metadata, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use forklore_files::fs::{Disk, File, Fs, Open};

use crate::drive::{Drive, Failure, Node, Operation, Verdict, reaching};

/// The real file system, with every operation passed through a simulated drive. The drive may make
/// an operation fail.
#[derive(Debug)]
pub struct OnDrive(Arc<Drive>);

#[derive(Debug)]
struct OpenFile {
    file: Box<dyn File>,
    drive: Arc<Drive>,
    node: Node,
}

impl OnDrive {
    /// Creates the file system, with its operations passed through `drive`.
    #[must_use]
    pub fn new(drive: &Arc<Drive>) -> Self {
        Self(Arc::clone(drive))
    }
}

/// Converts a failure of the simulated drive into the I/O error that a real disk would return.
fn error(failure: Failure) -> io::Error {
    match failure {
        Failure::Broken => rustix::io::Errno::IO.into(),
        Failure::Full => rustix::io::Errno::NOSPC.into(),
    }
}

/// Executes a file operation with `work`, unless the simulated drive makes it fail. The drive
/// records the operation if it was successful.
fn pass<T>(
    drive: &Drive,
    operation: &Operation<'_>,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    match drive.ask(operation) {
        Verdict::Go => {
            let done = work()?;
            drive.done(operation);
            Ok(done)
        }
        Verdict::Fail(failure) | Verdict::Short(_, failure) => Err(error(failure)),
    }
}

impl Fs for OnDrive {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>> {
        let made = how == Open::Create;
        let operation = if made { Operation::Create(path) } else { Operation::Open(path) };
        let file = pass(&self.0, &operation, || Disk.open(path, how))?;
        let node = self.0.opened(path, made);
        Ok(Box::new(OpenFile { file, drive: Arc::clone(&self.0), node }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        pass(&self.0, &Operation::Rename { from, to }, || Disk.rename(from, to))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        pass(&self.0, &Operation::Link { from, to }, || Disk.link(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        pass(&self.0, &Operation::Remove { path }, || Disk.remove(path))
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        pass(&self.0, &Operation::MakeDir(path), || Disk.make_dir(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        pass(&self.0, &Operation::SyncDir(path), || Disk.sync_dir(path))
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        pass(&self.0, &Operation::Names, || Disk.names(path))
    }
}

impl File for OpenFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        pass(&self.drive, &Operation::Read(self.node), || self.file.read_at(into, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        match self.drive.ask(&Operation::Write(self.node, bytes, offset)) {
            Verdict::Go => {
                let written = self.file.write_at(bytes, offset)?;
                let whole = bytes.get(..written).unwrap_or(bytes);
                self.drive.done(&Operation::Write(self.node, whole, offset));
                Ok(written)
            }
            Verdict::Fail(failure) => Err(error(failure)),
            Verdict::Short(part, failure) => {
                let part = reaching(part, offset, self.file.len()?);
                self.file.write_at(bytes.get(..part).unwrap_or(bytes), offset)?;
                Err(error(failure))
            }
        }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        pass(&self.drive, &Operation::SetLen(self.node, len), || self.file.set_len(len))
    }

    fn sync(&self) -> io::Result<()> {
        pass(&self.drive, &Operation::Sync(self.node), || self.file.sync())
    }

    fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        pass(&self.drive, &Operation::Touch(self.node), || self.file.set_modified(time))
    }

    fn lock_shared(&self) -> io::Result<()> {
        self.file.lock_shared()
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        self.file.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}
