//! What the last snapshot of a workspace found: with it, the next one reads changed files only.

use std::fs;
use std::io::Write;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};
use serde::{Deserialize, Serialize};

use crate::walk::State;
use crate::{Error, Result, SnapshotId};

/// The version of the file. A file of another version is not read.
const VERSION: u32 = 1;

/// The paths of a snapshot with the states that their files had. It can be removed at any time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Index {
    pub(crate) snapshot: Option<SnapshotId>,
    pub(crate) left_out: Vec<(BString, String)>,
    /// Sorted by path.
    pub(crate) entries: Vec<(BString, State)>,
}

impl Index {
    /// Reads an index. One that is missing or damaged is empty: then all files are read.
    pub(crate) fn read(path: &Path) -> Self {
        let Ok(bytes) = fs::read(path) else { return Self::default() };
        let Some((checksum, rest)) = bytes.split_first_chunk::<32>() else {
            return Self::default();
        };
        if blake3::hash(rest).as_bytes() != checksum {
            tracing::warn!(path = %path.display(), "the index of a workspace is damaged");
            return Self::default();
        }
        match postcard::from_bytes(rest) {
            Ok((VERSION, index)) => index,
            Ok(_) | Err(_) => Self::default(),
        }
    }

    /// Returns the state that a path had.
    pub(crate) fn state(&self, path: &BStr) -> Option<&State> {
        let at = self.entries.binary_search_by(|(other, _)| other.as_bstr().cmp(path)).ok()?;
        self.entries.get(at).map(|(_, state)| state)
    }

    /// Replaces the file in one step. It is not synced: a damaged one is not used.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let other = |error: postcard::Error| std::io::Error::other(error);
        let bytes = postcard::to_stdvec(&(VERSION, self)).map_err(other);
        let bytes = bytes.map_err(Error::file("write", path))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
            file.write_all(blake3::hash(&bytes).as_bytes())?;
            file.write_all(&bytes)?;
            Ok(file)
        });
        let file = written.map_err(Error::file("write", path))?;
        file.persist(path)
            .map(drop)
            .map_err(|error| error.error)
            .map_err(Error::file("write", path))
    }
}
