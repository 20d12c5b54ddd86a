//! Writes the files and links of a restore.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::OwnedFd;

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{
    AtFlags, Mode, OFlags, Stat, fchmod, openat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::root::Root;
use crate::{Error, Result};

/// Writes files below a root, one after the other. A folder is opened once for the files in it that
/// follow each other.
pub(crate) struct FileWriter<'a> {
    root: &'a Root,
    /// The name of a file that is not complete. `None` in a new folder, in which nothing is replaced.
    unfinished: Option<String>,
    folder: Option<(BString, OwnedFd)>,
}

impl<'a> FileWriter<'a> {
    /// Returns a writer into a new folder, which nobody else uses yet.
    pub(crate) fn into_new(root: &'a Root) -> Self {
        Self { root, unfinished: None, folder: None }
    }

    /// Returns a writer that replaces each file in one step. Until then, the file has the name
    /// `unfinished`.
    pub(crate) fn replacing(root: &'a Root, unfinished: String) -> Self {
        Self { root, unfinished: Some(unfinished), folder: None }
    }

    /// Returns what the file system says about a path, or nothing if nothing is there.
    pub(crate) fn stat(&mut self, path: &BStr) -> Option<Stat> {
        let (folder, name) = self.open(path, false).ok()?;
        statat(folder, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW).ok()
    }

    /// Writes a file.
    pub(crate) fn file(
        &mut self,
        path: &BStr,
        mode: u32,
        contents: &mut dyn BufRead,
    ) -> Result<()> {
        let written = self.put(path, |folder, name| {
            let mut file = create(folder, name)?;
            copy(contents, &mut file)?;
            // The user's umask does not apply to what is restored.
            Ok(fchmod(&file, Mode::from_raw_mode(mode))?)
        });
        written.map_err(Error::file("write", self.root.full(path)))
    }

    /// Writes a file that shares its contents with another one.
    ///
    /// # Errors
    /// If the file system cannot do that; nothing is written then.
    pub(crate) fn shared(&mut self, path: &BStr, mode: u32, with: &File) -> io::Result<()> {
        self.put(path, |folder, name| {
            let file = create(folder, name)?;
            share(&file, with)?;
            Ok(fchmod(&file, Mode::from_raw_mode(mode))?)
        })
    }

    /// Removes a file that was written.
    pub(crate) fn remove(&mut self, path: &BStr) {
        if let Ok((folder, name)) = self.open(path, false) {
            unlinkat(folder, name.as_bytes(), AtFlags::empty()).ok();
        }
    }

    /// Writes a symbolic link.
    pub(crate) fn link(&mut self, path: &BStr, target: &[u8]) -> Result<()> {
        let written =
            self.put(path, |folder, name| Ok(symlinkat(target, folder, name.as_bytes())?));
        written.map_err(Error::file("write", self.root.full(path)))
    }

    /// Calls a function that creates something, and gives that the name of the path.
    fn put(
        &mut self,
        path: &BStr,
        create: impl FnOnce(&OwnedFd, &BStr) -> io::Result<()>,
    ) -> io::Result<()> {
        let unfinished = self.unfinished.take();
        let opened = self.open(path, true);
        let done = opened.map_err(io::Error::from).and_then(|(folder, name)| {
            let created = unfinished.as_ref().map_or(name, |name| BStr::new(name));
            let put = create(folder, created).and_then(|()| match &unfinished {
                Some(unfinished) => Ok(renameat(folder, unfinished, folder, name.as_bytes())?),
                None => Ok(()),
            });
            put.inspect_err(|error| {
                if error.kind() != io::ErrorKind::AlreadyExists {
                    unlinkat(folder, created.as_bytes(), AtFlags::empty()).ok();
                }
            })
        });
        self.unfinished = unfinished;
        done
    }

    /// Returns the folder of a path, and the last component of the path.
    fn open<'p>(&mut self, path: &'p BStr, create: bool) -> Result<(&OwnedFd, &'p BStr), Errno> {
        let end = path.rfind_byte(b'/').unwrap_or_default();
        let above = path.get(..end).unwrap_or_default();
        if self.folder.as_ref().is_none_or(|(opened, _)| opened != above) {
            let folder = self.root.folder_of(path, create)?;
            self.folder = Some((above.into(), folder));
        }
        let name = path.rsplit_str("/").next().unwrap_or_default();
        let (_, folder) = self.folder.as_ref().ok_or(Errno::NOENT)?;
        Ok((folder, BStr::new(name)))
    }
}

/// Creates a file that only its owner can read.
fn create(folder: &OwnedFd, name: &BStr) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name.as_bytes(), flags, Mode::from_raw_mode(0o600))?.into())
}

#[cfg(target_os = "linux")]
fn share(file: &File, with: &File) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(file, with)?)
}

#[cfg(not(target_os = "linux"))]
fn share(_: &File, _: &File) -> io::Result<()> {
    Err(Errno::OPNOTSUPP.into())
}

fn copy(from: &mut dyn BufRead, to: &mut File) -> io::Result<()> {
    loop {
        let part = from.fill_buf()?;
        let length = part.len();
        if length == 0 {
            return Ok(());
        }
        to.write_all(part)?;
        from.consume(length);
    }
}
