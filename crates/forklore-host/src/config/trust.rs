//! Checks that only the user can change the configuration, which names programs to start.
//!
//! The rule is that of sshd for `~/.ssh`: the file and each directory on its path must belong to
//! the user or to root, and no other user may write to them. Symbolic links are resolved step by
//! step, because a user who can replace a link can replace the file. Directories above the home
//! directory are not checked, because the system administrator is responsible for them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use forklore_sanitize::shell::quoted;

use super::ConfigError;

const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;
/// The maximum number of symbolic links on a path. More links are treated as a cycle.
const LINKS: usize = 40;

/// The user whose files are trusted, and the user's home directory.
pub(super) struct Trust {
    user: u32,
    home: Option<PathBuf>,
}

impl Trust {
    /// Returns a check that trusts only the user who runs the program, and root.
    pub(super) fn of_this_user() -> Self {
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        Self::new(rustix::process::geteuid().as_raw(), home)
    }

    pub(super) fn new(user: u32, home: Option<PathBuf>) -> Self {
        Self { user, home }
    }

    /// Checks a file and every directory and link on its path.
    ///
    /// # Errors
    /// Returns an error if another user can change the file, a directory or a link on its path, or
    /// if the file does not exist.
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let absolute = std::path::absolute(path).map_err(|error| ConfigError::io(path, error))?;
        let mut upcoming: VecDeque<OsString> = VecDeque::new();
        let mut here = PathBuf::new();
        let mut links = 0;
        put_before(&mut upcoming, &absolute);
        while let Some(step) = upcoming.pop_front() {
            if step == ".." {
                here.pop();
                continue;
            }
            if here.as_os_str().is_empty() {
                here.push(step);
                continue;
            }
            self.check_folder(path, &here)?;
            let next = here.join(&step);
            let found = next.symlink_metadata().map_err(|error| ConfigError::io(path, error))?;
            if found.is_symlink() {
                links += 1;
                if links > LINKS {
                    let circle = io::Error::other("its links run in a circle");
                    return Err(ConfigError::io(path, circle));
                }
                self.check_owner(path, &next, &found)?;
                let target = next.read_link().map_err(|error| ConfigError::io(path, error))?;
                if target.is_absolute() {
                    here = PathBuf::new();
                }
                put_before(&mut upcoming, &target);
                continue;
            }
            if !found.is_dir() {
                self.check_owner(path, &next, &found)?;
                return refuse_writable(path, &next, &found, 0);
            }
            here = next;
        }
        Ok(())
    }

    fn check_folder(&self, path: &Path, folder: &Path) -> Result<(), ConfigError> {
        let above_home = |home: &PathBuf| home != folder && home.starts_with(folder);
        if self.home.as_ref().is_some_and(above_home) {
            return Ok(());
        }
        let found = folder.metadata().map_err(|error| ConfigError::io(path, error))?;
        self.check_owner(path, folder, &found)?;
        // A sticky directory may be writable: only the owner of a file or of the directory can
        // replace a file in it.
        refuse_writable(path, folder, &found, STICKY)
    }

    fn check_owner(&self, path: &Path, at: &Path, found: &Metadata) -> Result<(), ConfigError> {
        if found.uid() == self.user || found.uid() == 0 {
            return Ok(());
        }
        let wrong = if at == path {
            "it belongs to another user".to_owned()
        } else {
            format!("{} leads to it and belongs to another user", at.display())
        };
        Err(ConfigError::denied(path, wrong))
    }
}

fn refuse_writable(
    path: &Path,
    at: &Path,
    found: &Metadata,
    unless: u32,
) -> Result<(), ConfigError> {
    if found.mode() & WRITABLE_BY_OTHERS == 0 || found.mode() & unless != 0 {
        return Ok(());
    }
    let what =
        if at == path { "it".to_owned() } else { format!("{}, which leads to it", at.display()) };
    let word = quoted(&at.to_string_lossy());
    let wrong = format!("others may write to {what}; take that from them: chmod go-w {word}");
    Err(ConfigError::denied(path, wrong))
}

/// Puts the components of a path at the front of the queue of components to check.
fn put_before(upcoming: &mut VecDeque<OsString>, path: &Path) {
    for part in path.components().rev() {
        match part {
            Component::CurDir => {}
            part => upcoming.push_front(part.as_os_str().to_owned()),
        }
    }
}
