//! The folder of a server, and the locks with which the test processes share it.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Result};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The folder of a server. Nobody else starts, joins or ends the server as long as this value lives.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _starting: File,
}

impl Folder {
    /// Creates the folder if necessary, and waits while another process starts, joins or ends the
    /// server.
    pub(crate) fn locked(path: PathBuf) -> Result<Self> {
        loop {
            fs::create_dir_all(&path)?;
            let name = path.join("starting.lock");
            match lock(&name) {
                // Whoever had the lock before may have ended the server and removed the folder.
                Ok(starting) if is_at(&starting, &name) => {
                    return Ok(Self { path, _starting: starting });
                }
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Returns the lock of a user of the server, which does not end before all its users have.
    pub(crate) fn user(&self) -> Result<File> {
        let user = File::create(self.path.join("users.lock"))?;
        user.lock_shared()?;
        Ok(user)
    }

    /// Checks whether the server is there.
    pub(crate) fn has_server(&self) -> Result<bool> {
        match File::create(self.path.join("alive.lock"))?.try_lock() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory in which the server and its pooler have their files.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// Removes what an earlier server left that ended while it was in use.
    pub(crate) fn clear(&self) -> Result<()> {
        let home = self.home();
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        fs::create_dir(home)
    }

    /// Removes the folder, because no server could be started. It is moved first: who comes meanwhile
    /// would lock a file of a folder that is half removed.
    pub(crate) fn remove(&self) -> Result<()> {
        let mut aside = self.path.clone().into_os_string();
        aside.push(format!(".{}", std::process::id()));
        fs::rename(&self.path, &aside)?;
        fs::remove_dir_all(aside)
    }

    /// Returns the port that was written down under this name.
    pub(crate) fn port(&self, name: &str) -> Option<u16> {
        fs::read_to_string(self.home().join(name)).ok()?.trim().parse().ok()
    }

    /// Writes down a port for the processes that join.
    pub(crate) fn set_port(&self, name: &str, port: u16) -> Result<()> {
        fs::write(self.home().join(name), port.to_string())
    }
}

fn lock(name: &Path) -> Result<File> {
    let file = File::create(name)?;
    file.lock()?;
    Ok(file)
}

fn is_at(file: &File, path: &Path) -> bool {
    let inode = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (Ok(own), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    inode(own) == inode(there)
}
