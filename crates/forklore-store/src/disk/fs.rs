//! The interface to the file system. The files store does all its file operations through this
//! interface, and so does the attachment storage of every store on disk.
//!
//! [`Disk`] is the machine's file system. Tests use other implementations, which make operations
//! fail or track which writes have not been synced.

use std::fmt::Debug;
use std::fs::{DirBuilder, File as Native, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::SystemTime;

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Open an existing file for reading.
    Read,
    /// Open an existing file for reading and writing.
    Write,
    /// Create a file that must not exist yet, accessible to its owner only.
    Create,
}

/// A file system, through which a store accesses its files.
pub trait Fs: Debug + Send + Sync {
    /// Opens a regular file without following links.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>>;

    /// Moves the file at `from` to the path `to`, atomically. An existing file at `to` is replaced.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Creates a hard link at the path `to` for the file at `from`, atomically. An existing file at
    /// `to` is not replaced.
    ///
    /// # Errors
    /// `AlreadyExists` if `to` exists; `Unsupported` if the file system has no hard links; any
    /// other error that the operating system reports.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (_, _) = (from, to);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes the file.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates a folder that only its owner can access. An existing folder is not an error.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn make_dir(&self, path: &Path) -> io::Result<()>;

    /// Syncs the folder, which makes the names of the files in it durable.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Returns the names of the files in the folder, sorted. Names that are not UTF-8 are omitted,
    /// because no store creates them.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn names(&self, path: &Path) -> io::Result<Vec<String>>;
}

/// An open file.
pub trait File: Debug + Send + Sync {
    /// Returns the length of the file in bytes.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn len(&self) -> io::Result<u64>;

    /// Checks whether the file has no bytes.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads from the file until `into` is full or the file ends. `offset` is the position of the
    /// first byte to read. Returns the number of bytes read.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes `bytes` to the file with a single write. `offset` is the position of the first byte
    /// to write. Returns the number of bytes written, which may be less than the length of `bytes`.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Truncates the file to `len` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Syncs the file, which makes its written bytes durable.
    ///
    /// # Errors
    /// If the operating system reports an error.
    fn sync(&self) -> io::Result<()>;

    /// Returns the operating system's metadata of the file.
    ///
    /// # Errors
    /// `Unsupported` if this is not a file of the operating system; any error that the operating
    /// system reports.
    fn metadata(&self) -> io::Result<Metadata> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sets the modification time of the file.
    ///
    /// # Errors
    /// `Unsupported` if this is not a file of the operating system; any error that the operating
    /// system reports.
    fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        let _ = time;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Takes a shared lock on the file. Waits while another handle has an exclusive lock.
    ///
    /// # Errors
    /// `Unsupported` if this is not a file of the operating system; any error that the operating
    /// system reports.
    fn lock_shared(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Takes an exclusive lock on the file, if no other handle has a lock. Does not wait.
    ///
    /// # Errors
    /// `WouldBlock` if another handle has a lock; `Unsupported` if this is not a file of the
    /// operating system; any error that the operating system reports.
    fn try_lock(&self) -> Result<(), TryLockError> {
        Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
    }

    /// Releases the lock that this handle has on the file.
    ///
    /// # Errors
    /// `Unsupported` if this is not a file of the operating system; any error that the operating
    /// system reports.
    fn unlock(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Writes all of `bytes` at the byte offset `at`. This takes a single write, unless the system
/// writes only a part.
///
/// # Errors
/// If a write fails, or the system writes no bytes.
pub fn write_all_at(file: &dyn File, bytes: &[u8], at: u64) -> io::Result<()> {
    let (mut rest, mut at) = (bytes, at);
    while !rest.is_empty() {
        match file.write_at(rest, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                rest = rest.get(written..).unwrap_or_default();
                at += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// An [`io::Read`] that reads a [`File`] from its beginning.
#[derive(Debug)]
pub struct FromStart<F> {
    file: F,
    at: u64,
}

impl<F: std::ops::Deref<Target: File>> FromStart<F> {
    /// Creates a reader that begins at the start of `file`.
    pub fn of(file: F) -> Self {
        Self { file, at: 0 }
    }
}

impl<F: std::ops::Deref<Target: File>> io::Read for FromStart<F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The machine's file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Fs for Disk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>> {
        let mut options = OpenOptions::new();
        options.read(true).write(how != Open::Read).create_new(how == Open::Create);
        // `NOFOLLOW` refuses a link. `NONBLOCK` does not wait for the other end of a pipe.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let file = options.mode(0o600).custom_flags(flags.bits() as i32).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        Ok(Box::new(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            made => made,
        }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        Native::open(path)?.sync_all()
    }

    fn names(&self, path: &Path) -> io::Result<Vec<String>> {
        let entries = std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name()));
        let names = entries.collect::<io::Result<Vec<_>>>()?;
        let mut names: Vec<_> =
            names.into_iter().filter_map(|name| name.into_string().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }
}

impl File for Native {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match FileExt::read_at(self, rest, offset + done as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(self, bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        Native::set_len(self, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn metadata(&self) -> io::Result<Metadata> {
        Native::metadata(self)
    }

    fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        Native::set_modified(self, time)
    }

    fn lock_shared(&self) -> io::Result<()> {
        Native::lock_shared(self)
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        Native::try_lock(self)
    }

    fn unlock(&self) -> io::Result<()> {
        Native::unlock(self)
    }
}
