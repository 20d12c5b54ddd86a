//! The seam to the file system: everything that the store does to files passes through here.
//!
//! [`Disk`] is the real one. Tests put others in its place, that fail an operation or note what
//! was not synced yet.

use std::fmt::Debug;
use std::fs::{DirBuilder, File as Native, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

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
}
