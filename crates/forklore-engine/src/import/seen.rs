//! What a look at a file shows, without opening it.

use std::io;
use std::path::Path;

use forklore_store::sources::SeenFile;
use jiff::Timestamp;

use super::opened::modified;
use super::spelled::spelled;

pub(super) fn look(path: &Path) -> io::Result<SeenFile> {
    let metadata = path.symlink_metadata()?;
    let path = spelled(path);
    Ok(SeenFile { path, size: metadata.len(), modified: modified(&metadata) })
}

/// When the file was changed.
pub(super) fn time(seen: &SeenFile) -> Option<Timestamp> {
    Timestamp::from_microsecond(seen.modified.div_euclid(1_000)).ok()
}
