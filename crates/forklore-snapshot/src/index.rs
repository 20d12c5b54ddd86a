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
}

/// The entries of an index as bytes: its last and largest part.
pub(crate) struct Entries(postcard::Result<Vec<u8>>);

impl Entries {
    pub(crate) fn of(entries: &[(BString, State)]) -> Self {
        Self(postcard::to_stdvec(entries))
    }

    /// Replaces the file of the index in one step. It is not synced: a damaged one is not used.
    pub(crate) fn write(
        self,
        path: &Path,
        snapshot: SnapshotId,
        left_out: &[(BString, String)],
    ) -> Result<()> {
        let head = postcard::to_stdvec(&(VERSION, Some(snapshot), left_out));
        let bytes = head.and_then(|head| Ok((head, self.0?))).map_err(std::io::Error::other);
        let (head, entries) = bytes.map_err(Error::file("write", path))?;
        let checksum = blake3::Hasher::new().update(&head).update(&entries).finalize();
        let folder = path.parent().unwrap_or(Path::new("."));
        let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
            for part in [checksum.as_bytes(), head.as_slice(), &entries] {
                file.write_all(part)?;
            }
            Ok(file)
        });
        let file = written.map_err(Error::file("write", path))?;
        file.persist(path)
            .map(drop)
            .map_err(|error| error.error)
            .map_err(Error::file("write", path))
    }
}
