//! Copies opencode's database to a private folder, even while opencode writes to the database.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use forklore_core::session_container::ExpandError;

use crate::private_folder::PrivateFolder;

/// The suffixes of the companion files of an SQLite database. SQLite needs these files to read the
/// database file next to them.
const COMPANIONS: [&str; 2] = ["-wal", "-journal"];
/// Maximum number of attempts to copy a database. An attempt fails if the database changes while it
/// is copied.
const ATTEMPTS: usize = 20;

/// A temporary copy of a database. Dropping this value deletes the copy.
#[derive(Debug)]
pub(crate) struct Copy {
    /// The folder that contains the copy. Nobody but its owner can look into it.
    _folder: PrivateFolder,
    pub(crate) path: PathBuf,
}

impl Copy {
    /// Copies the database at `path` consistently. Copies it again if the database changed
    /// meanwhile, and fails after [`ATTEMPTS`] attempts.
    pub(crate) fn of(path: &Path) -> Result<Self, ExpandError> {
        let failed =
            |source| ExpandError::Io { doing: format!("cannot copy {}", path.display()), source };
        let folder = PrivateFolder::new().map_err(failed)?;
        let to = folder.path().join("copy.db");
        for _ in 0..ATTEMPTS {
            let before = look(path).map_err(failed)?;
            copy(path, &to).map_err(failed)?;
            if look(path).map_err(failed)? == before {
                return Ok(Self { _folder: folder, path: to });
            }
        }
        let what = format!("{} is written to all the time; try again later", path.display());
        Err(ExpandError::Unreadable { what, source: None })
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    copy_file(from, to)?;
    for end in COMPANIONS {
        let (from, to) = (companion(from, end), companion(to, end));
        match copy_file(&from, &to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::remove_file(&to).or_else(not_there)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Copies one file. Only the owner can read the copy, whatever the permissions of the original are.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    regular(from)?;
    let mut from = File::open(from)?;
    let mut to = File::options().write(true).create(true).truncate(true).mode(0o600).open(to)?;
    io::copy(&mut from, &mut to).map(|_| ())
}

fn not_there(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Returns an error if the path is not a regular file. Opening a pipe would block until the pipe
/// has a writer, and a symbolic link may lead anywhere.
fn regular(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

fn companion(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// The sizes and modification times of a database's files. If the values before and after an
/// operation differ, the database changed in between.
type Look = Vec<Option<(u64, Option<SystemTime>)>>;

fn look(path: &Path) -> io::Result<Look> {
    let of = |metadata: Metadata| Some((metadata.len(), metadata.modified().ok()));
    let mut looks = vec![of(path.metadata()?)];
    for end in COMPANIONS {
        match companion(path, end).metadata() {
            Ok(metadata) => looks.push(of(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => looks.push(None),
            Err(error) => return Err(error),
        }
    }
    Ok(looks)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a broken expectation ends a test")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn nobody_else_can_read_the_copy_of_a_file_that_everybody_can_read() {
        let dir = tempfile::tempdir().unwrap();
        let original = dir.path().join("opencode.db");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        for name in ["opencode.db", "opencode.db-wal"] {
            fs::write(dir.path().join(name), name).unwrap();
            let readable = fs::Permissions::from_mode(0o644);
            fs::set_permissions(dir.path().join(name), readable).unwrap();
        }
        let copy = Copy::of(&original).unwrap();
        let folder = copy.path.parent().unwrap().to_owned();
        let modes = [&copy.path, &companion(&copy.path, "-wal"), &folder].map(|path| mode(path));
        assert_eq!(modes, [0o600, 0o600, 0o700]);
        assert_eq!(fs::read(&copy.path).unwrap(), b"opencode.db");
        drop(copy);
        assert!(!folder.exists());
    }
}
