//! Reads and changes files below a folder without following a link.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use bstr::{BStr, ByteSlice};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, chmodat, fstat, mkdirat, openat, readlinkat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::{Error, Result};

/// How a folder is opened: a link in its place is an error.
const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A workspace. Every path is opened folder by folder, so no link leads out of it, whoever puts one
/// there meanwhile.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    folder: OwnedFd,
    /// The permissions of folders that are created.
    new_folders: u32,
}

/// The folder of a path and its last component.
struct Location<'a> {
    folder: OwnedFd,
    name: &'a BStr,
}

impl Root {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let folder =
            openat(rustix::fs::CWD, path, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty())
                .map_err(Error::file("open", path))?;
        Ok(Self { path: path.to_path_buf(), folder, new_folders: 0o755 })
    }

    /// Sets the permissions of the folders that will be created.
    pub(crate) fn create_folders_with(&mut self, mode: u32) {
        self.new_folders = mode;
    }

    /// Returns the folder of a path. With `create`, creates it and those above it.
    fn locate<'a>(&self, path: &'a BStr, create: bool) -> rustix::io::Result<Location<'a>> {
        let mut folder = self
            .folder
            .try_clone()
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let mut parts = path.split_str("/").peekable();
        loop {
            let Some(part) = parts.next() else { return Err(Errno::INVAL) };
            let name = BStr::new(part);
            if name.is_empty() || name == "." || name == ".." {
                return Err(Errno::INVAL);
            }
            if parts.peek().is_none() {
                return Ok(Location { folder, name });
            }
            folder = match openat(&folder, part, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) if create => {
                    let mode = Mode::from_raw_mode(self.new_folders | 0o700);
                    match mkdirat(&folder, part, mode) {
                        // The user's umask does not apply to what is restored.
                        Ok(()) => chmodat(&folder, part, mode, AtFlags::empty())?,
                        Err(Errno::EXIST) => {}
                        Err(error) => return Err(error),
                    }
                    openat(&folder, part, FOLDER, Mode::empty())?
                }
                other => other?,
            };
        }
    }

    /// Returns the folder of a path. With `create`, creates it and those above it.
    pub(crate) fn folder_of(&self, path: &BStr, create: bool) -> rustix::io::Result<OwnedFd> {
        self.locate(path, create).map(|location| location.folder)
    }

    /// Returns the full path, for messages.
    pub(crate) fn full(&self, path: &BStr) -> PathBuf {
        self.path.join(path.to_path_lossy())
    }

    fn failed(&self, what: &'static str, path: &BStr) -> impl FnOnce(Errno) -> Error {
        Error::file(what, self.full(path))
    }

    /// Opens a file. Returns nothing if no file is there, and the error inside if it exists and
    /// cannot be opened.
    pub(crate) fn file(&self, path: &BStr) -> Result<Option<Result<File, Errno>>> {
        let location = match self.locate(path, false) {
            Ok(location) => location,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(error) => return Ok(Some(Err(error))),
        };
        // Without NONBLOCK, a pipe that took the file's name would wait for its writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match openat(&location.folder, location.name.as_bytes(), flags, Mode::empty()) {
            Ok(file) => {
                let kind = fstat(&file).map_err(self.failed("read", path))?.st_mode;
                let is_file = FileType::from_raw_mode(kind) == FileType::RegularFile;
                Ok(is_file.then(|| Ok(file.into())))
            }
            Err(Errno::NOENT | Errno::LOOP) => Ok(None),
            Err(error) => Ok(Some(Err(error))),
        }
    }

    /// Returns where a symbolic link leads, or nothing if no link is there.
    pub(crate) fn target(&self, path: &BStr) -> Result<Option<Vec<u8>>> {
        let read = self.locate(path, false).and_then(|location| {
            readlinkat(&location.folder, location.name.as_bytes(), Vec::new())
        });
        match read {
            Ok(target) => Ok(Some(target.into_bytes())),
            Err(Errno::NOENT | Errno::INVAL | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(self.failed("read", path)(error)),
        }
    }

    /// Returns whether anything is at a path.
    pub(crate) fn has(&self, path: &BStr) -> bool {
        self.stat(path).is_some()
    }

    /// Returns what the file system says about a path, or nothing if nothing is there.
    pub(crate) fn stat(&self, path: &BStr) -> Option<rustix::fs::Stat> {
        let location = self.locate(path, false).ok()?;
        statat(&location.folder, location.name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    /// Removes a file or link. Returns whether it was there.
    pub(crate) fn remove(&self, path: &BStr) -> Result<bool> {
        let removed = self.locate(path, false).and_then(|location| {
            unlinkat(&location.folder, location.name.as_bytes(), AtFlags::empty())
        });
        match removed {
            Ok(()) => Ok(true),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(self.failed("remove", path)(error)),
        }
    }

    /// Removes a folder if it is empty. Returns whether it did.
    pub(crate) fn remove_folder(&self, path: &BStr) -> Result<bool> {
        let removed = self.locate(path, false).and_then(|location| {
            unlinkat(&location.folder, location.name.as_bytes(), AtFlags::REMOVEDIR)
        });
        match removed {
            Ok(()) => Ok(true),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST | Errno::LOOP) => {
                Ok(false)
            }
            Err(error) => Err(self.failed("remove", path)(error)),
        }
    }

    /// Creates a folder, and those above it, if it does not exist.
    pub(crate) fn create_folder(&self, path: &BStr) -> Result<()> {
        // The folders of a path are all but its last component.
        let inside = [path.as_bytes(), b"/inside"].concat();
        self.locate(inside.as_bstr(), true).map(drop).map_err(self.failed("create", path))
    }

    /// Writes all that was changed to the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        rustix::fs::syncfs(&self.folder).map_err(Error::file("sync", &self.path))
    }

    /// Sets the permissions of a file or folder. What is a link is not changed.
    pub(crate) fn set_mode(&self, path: &BStr, mode: u32) -> Result<()> {
        let location = self.locate(path, false).map_err(self.failed("change", path))?;
        let name = location.name.as_bytes();
        let stat = statat(&location.folder, name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(self.failed("change", path))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            return Ok(());
        }
        chmodat(&location.folder, name, Mode::from_raw_mode(mode), AtFlags::empty())
            .map_err(self.failed("change", path))
    }
}
