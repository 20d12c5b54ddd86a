//! Converts the sessions in opencode's database, and in the directories of older versions, to lines
//! in the form of `opencode export`.
//!
//! The database is never opened in place: it is copied with its write-ahead log to a private
//! directory, and the copy is read.

mod copy;
mod database;
mod line;
mod lines;
mod schema;
mod storage;

use std::path::Path;

use forklore_core::session_container::{ExpandError, Inside, SessionContainer};

const DIALECT: &str = "opencode";
const SQLITE: &[u8] = b"SQLite format 3\0";

/// The container `opencode.db`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Database;

impl SessionContainer for Database {
    fn dialect(&self) -> &'static str {
        DIALECT
    }

    fn may_own(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.starts_with("opencode") && name.ends_with(".db")
    }

    fn detect(&self, _path: &Path, head: &[u8]) -> bool {
        head.starts_with(SQLITE)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Inside>, ExpandError> {
        Ok(Box::new(database::Opened::of(path)?))
    }
}

/// The container `storage/session/<project>/<session>.json`, with the directories `message` and
/// `part` next to `session`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Storage;

impl SessionContainer for Storage {
    fn dialect(&self) -> &'static str {
        DIALECT
    }

    fn may_own(&self, path: &Path) -> bool {
        storage::root(path).is_some()
    }

    fn detect(&self, path: &Path, _head: &[u8]) -> bool {
        self.may_own(path)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Inside>, ExpandError> {
        Ok(Box::new(storage::Opened::of(path)?))
    }
}
