//! The seam to the file system: everything that a store of files does to them passes through here,
//! and what every store on a disk does to attachments.
//!
//! [`Disk`] is the real one. Tests put others in its place, that fail an operation or note what
//! was not synced yet.

use std::fmt::Debug;
use std::fs::{DirBuilder, File as Native, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::SystemTime;

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// To read one that is there.
    Read,
    /// To read and write one that is there.
    Write,
    /// To make one that must not be there yet, for its owner's eyes only.
    Create,
}

/// A file system.
pub trait Fs: Debug + Send + Sync {
    /// Opens a file, following no link.
    ///
    /// # Errors
    /// Those of the operating system, here and below.
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>>;

    /// Gives the file another name in one step; one that had the name is gone.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives the file a further name in one step; one that has the name stays.
    ///
    /// # Errors
    /// `AlreadyExists`, `Unsupported` where files have one name only, and see [`Fs::open`].
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (_, _) = (from, to);
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Removes the file.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a folder for its owner's eyes only; one that is there already is no error.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn make_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in the folder durable.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// The names in the folder, sorted; those that are no UTF-8 are not the store's and left out.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn names(&self, path: &Path) -> io::Result<Vec<String>>;
}

/// An open file.
pub trait File: Debug + Send + Sync {
    /// Its length, in bytes.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn len(&self) -> io::Result<u64>;

    /// Whether it holds nothing.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at a place, as much as there is up to the length of `into`.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at a place, once; how much of it was taken.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Cuts it off or fills it with zeros.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes what was written durable.
    ///
    /// # Errors
    /// See [`Fs::open`].
    fn sync(&self) -> io::Result<()>;

    /// What the system knows of it.
    ///
    /// # Errors
    /// `Unsupported` where the file is none of the system's, here and below; see [`Fs::open`].
    fn metadata(&self) -> io::Result<Metadata> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Gives it a time of change.
    ///
    /// # Errors
    /// See [`File::metadata`].
    fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        let _ = time;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Waits until nobody has locked it alone, and locks it together with others.
    ///
    /// # Errors
    /// See [`File::metadata`].
    fn lock_shared(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Locks it alone, if nobody else has locked it.
    ///
    /// # Errors
    /// `WouldBlock` where somebody has; see [`File::metadata`].
    fn try_lock(&self) -> Result<(), TryLockError> {
        Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
    }

    /// Gives up its lock.
    ///
    /// # Errors
    /// See [`File::metadata`].
    fn unlock(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Writes all of `bytes` at a place, in one write as far as the system takes it in one.
///
/// # Errors
/// Those of [`File::write_at`].
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

/// Reads a file from its beginning.
#[derive(Debug)]
pub struct FromStart<F> {
    file: F,
    at: u64,
}

impl<F: std::ops::Deref<Target: File>> FromStart<F> {
    /// Reads this file.
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

/// The file system of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Fs for Disk {
    fn open(&self, path: &Path, how: Open) -> io::Result<Box<dyn File>> {
        let mut options = OpenOptions::new();
        options.read(true).write(how != Open::Read).create_new(how == Open::Create);
        // Neither through a link nor waiting for somebody at the other end of a pipe.
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
