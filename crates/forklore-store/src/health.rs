//! Health checks that inspect a store without opening it, for `forklore doctor`.
//!
//! The crate of each store on disk has a function `health`, which takes the store's path and
//! returns a [`Health`]. The function never creates, writes or repairs anything. It works even if
//! the store cannot be opened, because users need it most then. [`Health::look_at_folder`] and
//! [`Health::look_at_rights`] add the checks that all stores on disk share: file ownership, file
//! system, and free space.

use std::path::Path;

use forklore_core::ErrorKind;
pub use forklore_core::report::{Check, CheckStatus as Status};
use serde::Serialize;

use crate::Error;
use crate::disk;

/// The number of free bytes below which a disk counts as nearly full.
const LITTLE_SPACE: u64 = 100 << 20;

/// The results of health checks, in the order in which they are reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// The results of the checks.
    pub checks: Vec<Check>,
}

impl Health {
    /// Adds a check that passed.
    pub fn ok(&mut self, name: &'static str, message: impl Into<String>) {
        self.add(name, Status::Ok, message.into(), None, None);
    }

    /// Adds a check with a warning: the store works, but the user should see the message. `hint` is
    /// what the user can do.
    pub fn warning(
        &mut self,
        name: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.add(name, Status::Warning, message.into(), Some(hint.into()), None);
    }

    /// Adds a check that found a problem: an error that prevents the use of the store.
    pub fn problem(&mut self, name: &'static str, error: &Error) {
        self.add(name, Status::Problem, error.to_string(), None, Some(error.kind()));
    }

    /// Adds the result of a check, with all its fields.
    pub fn add(
        &mut self,
        name: &'static str,
        status: Status,
        message: String,
        hint: Option<String>,
        kind: Option<ErrorKind>,
    ) {
        self.checks.push(Check { name: name.into(), status, message, hint, kind });
    }

    /// Returns the error kind of the first problem; `None` if no check found a problem.
    #[must_use]
    pub fn worst(&self) -> Option<ErrorKind> {
        let problems = self.checks.iter().filter(|check| check.status == Status::Problem);
        problems.map(|check| check.kind.unwrap_or(ErrorKind::Internal)).next()
    }

    /// Adds three checks of a store's folder: who can replace its files, its file system, and its
    /// free space. Files that other users can replace are a problem. `far` is how the store treats
    /// network file systems.
    pub fn look_at_folder(&mut self, folder: &Path, far: Far) {
        let at = folder.display();
        if let Err(error) = disk::check_folder(folder) {
            self.problem("folder", &error);
        } else {
            self.ok("folder", format!("others cannot replace files in {at}"));
        }
        let kind = disk::file_system(folder).unwrap_or_else(|| "unknown".into());
        match (disk::network(folder), far) {
            (Some(name), Far::Refused) => {
                let message = format!(
                    "{at} is on a network file system ({name}), where locks cannot be relied on"
                );
                self.problem("file_system", &Error::Unsupported(message));
            }
            (Some(name), Far::Warned) => self.warning(
                "file_system",
                format!(
                    "{at} is on a network file system ({name}), where locks cannot be relied on"
                ),
                "let one program at a time write, or name a place on a local disk with --store",
            ),
            (None, _) if kind == "tmpfs" || kind == "ramfs" => self.warning(
                "file_system",
                format!("{at} is in memory ({kind}): it is gone when the machine stops"),
                "name a place on a disk with --store",
            ),
            (None, _) => self.ok("file_system", format!("local ({kind})")),
        }
        self.look_at_space(folder);
    }

    fn look_at_space(&mut self, folder: &Path) {
        let found = match rustix::fs::statvfs(folder) {
            Ok(found) => found,
            Err(error) => {
                let doing = format!("asking for the space of {}", folder.display());
                return self.problem("space", &Error::io(doing, std::io::Error::from(error)));
            }
        };
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        let message = format!("{} free", size(free));
        if free < LITTLE_SPACE {
            self.warning(
                "space",
                message,
                "free some space: what does not fit is refused, not lost",
            );
        } else {
            self.ok("space", message);
        }
    }

    /// Adds a check of the permissions of a store's file. It is a problem if the file belongs to
    /// another user, is writable for all users or is unreadable. It is a warning if other users can
    /// open the file or the current user cannot write it.
    pub fn look_at_rights(&mut self, path: &Path) {
        use rustix::fs::{Access, access};
        use std::os::unix::fs::MetadataExt;

        let at = path.display();
        let found = match std::fs::metadata(path) {
            Ok(found) => found,
            Err(source) => {
                return self.problem("permissions", &disk::os("looking at", path)(source));
            }
        };
        if let Err(error) = disk::refuse_others(path, &found) {
            return self.problem("permissions", &error);
        }
        let mode = found.mode() & 0o777;
        if access(path, Access::READ_OK).is_err() {
            let message = format!("{at} may not be read (mode {mode:o})");
            let hint = Some(format!("chmod u+rw {at}"));
            let kind = Some(ErrorKind::PermissionDenied);
            self.add("permissions", Status::Problem, message, hint, kind);
        } else if mode & 0o077 != 0 {
            let message = format!("other users may open {at} (mode {mode:o})");
            self.warning("permissions", message, format!("chmod go-rwx {at}"));
        } else if access(path, Access::WRITE_OK).is_err() {
            let message = format!("{at} may be read but not written (mode {mode:o})");
            self.warning("permissions", message, format!("chmod u+w {at}"));
        } else {
            self.ok("permissions", format!("yours alone (mode {mode:o})"));
        }
    }
}

/// Formats a number of bytes for people, such as `1.2 MB`. The units are decimal.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} B"),
    }
}

/// How a store treats network file systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    /// The store refuses to open on a network file system.
    Refused,
    /// The store works on a network file system; the health check gives a warning.
    Warned,
}
