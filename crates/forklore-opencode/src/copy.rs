//! Copies opencode's database to a temporary directory, even while opencode writes to the database.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use forklore_core::session_container::ExpandError;
use tempfile::TempDir;

/// The suffixes of the companion files of an SQLite database. SQLite needs these files to read the
/// database file next to them.
const COMPANIONS: [&str; 2] = ["-wal", "-journal"];
/// Maximum number of attempts to copy a database. An attempt fails if the database changes while it
/// is copied.
const ATTEMPTS: usize = 20;

/// A temporary copy of a database. Dropping this value deletes the copy.
#[derive(Debug)]
pub(crate) struct Copy {
    /// The temporary directory that contains the copy.
    _folder: TempDir,
    pub(crate) path: PathBuf,
}

impl Copy {
    /// Copies the database at `path` consistently. Copies it again if the database changed
    /// meanwhile, and fails after [`ATTEMPTS`] attempts.
    pub(crate) fn of(path: &Path) -> Result<Self, ExpandError> {
        let failed =
            |source| ExpandError::Io { doing: format!("cannot copy {}", path.display()), source };
        let folder = tempfile::tempdir().map_err(failed)?;
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
    regular(from)?;
    fs::copy(from, to)?;
    for end in COMPANIONS {
        let (from, to) = (companion(from, end), companion(to, end));
        match regular(&from).and_then(|()| fs::copy(&from, &to)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::remove_file(&to).or_else(not_there)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
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
