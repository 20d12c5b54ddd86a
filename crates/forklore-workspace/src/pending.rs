//! Snapshots that a log will name, but does not name yet.
//!
//! An agent takes a snapshot before its turn, and the event that names it is appended with the turn.
//! Until then a file with the snapshot's id says that it is needed.

use std::fs;
use std::io;
use std::time::Duration;

use forklore_snapshot::SnapshotId;

use crate::error::failed;
use crate::{Result, WorkspaceFiles};

/// How long a snapshot waits for its name. A turn that lasts longer has named its snapshots before.
const WAITS: Duration = Duration::from_secs(24 * 60 * 60);

impl WorkspaceFiles {
    /// Records that a log will name a snapshot. The caller shares the snapshots.
    pub(crate) fn expect_name(&self, id: SnapshotId) -> Result<()> {
        let folder = self.folder().join("pending");
        let path = folder.join(id.to_string());
        let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, ""));
        written.map_err(failed("write", &path))
    }

    /// Returns the snapshots that wait for their name, and forgets those that waited too long.
    pub(crate) fn expected(&self) -> Result<Vec<SnapshotId>> {
        let folder = self.folder().join("pending");
        let files = match fs::read_dir(&folder) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("read", &folder)(error)),
        };
        let mut expected = Vec::new();
        for file in files {
            let path = file.map_err(failed("read", &folder))?.path();
            let written = path.metadata().and_then(|metadata| metadata.modified());
            let written = written.map_err(failed("read", &path))?;
            // A clock that was set back makes it wait longer.
            if written.elapsed().unwrap_or_default() > WAITS {
                fs::remove_file(&path).map_err(failed("remove", &path))?;
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            expected.extend(name.parse::<SnapshotId>().ok());
        }
        Ok(expected)
    }
}
