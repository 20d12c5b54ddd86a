//! Reads the metadata of a file without opening it.

use std::io;
use std::path::Path;

use forklore_engine::sources::path_text;
use forklore_store::sources::SeenFile;
use jiff::Timestamp;

use crate::opened::modified;

pub(crate) fn look(path: &Path) -> io::Result<SeenFile> {
    let metadata = path.symlink_metadata()?;
    let path = path_text(path);
    Ok(SeenFile { path, size: metadata.len(), modified: modified(&metadata) })
}

/// Returns the file's modification time, or `None` if it is outside the range of `Timestamp`.
pub(crate) fn time(seen: &SeenFile) -> Option<Timestamp> {
    Timestamp::from_microsecond(seen.modified.div_euclid(1_000)).ok()
}
