//! The record of a restore that has begun, for the command after a kill.

use std::fs;
use std::io::Write;
use std::path::Path;

use bstr::BString;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, SnapshotId};

/// A restore that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// The state at the beginning.
    pub(crate) from: SnapshotId,
    /// The state to restore.
    pub(crate) to: SnapshotId,
    /// The paths to restore, or none for all.
    pub(crate) paths: Vec<BString>,
    /// The name of its temporary files.
    pub(crate) token: String,
}

impl Journal {
    /// Reads the record, if there is one.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::file("read", path)(error)),
        };
        let damaged = |_| Error::Damaged { what: path.display().to_string() };
        postcard::from_bytes(&bytes).map(Some).map_err(damaged)
    }

    /// Writes the record to the disk.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let failed = || Error::file("write", path);
        let bytes = postcard::to_stdvec(self).map_err(std::io::Error::other).map_err(failed())?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed())?;
        file.write_all(&bytes).map_err(failed())?;
        file.as_file().sync_all().map_err(failed())?;
        file.persist(path).map_err(|error| error.error).map_err(failed())?;
        fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed())
    }

    /// Removes the record: the restore has ended.
    pub(crate) fn remove(path: &Path) -> Result<()> {
        fs::remove_file(path).map_err(Error::file("remove", path))
    }
}
