//! Reads the sessions in opencode's database, and in the directories of older opencode versions.
//! The result is JSON lines in the form of `opencode export`.
//!
//! Use this crate together with an importer. Pass [`Database`] and [`Storage`] to an engine with
//! `Engine::with_containers`, and `forklore-import` imports the sessions. `forklore-formats` parses
//! the lines. The crate `forklore` does all this for its stores.
//!
//! - [`Database`] finds sessions in `opencode.db`.
//! - [`Storage`] finds the session that a file below `storage/session` describes.
//!
//! Both implement [`SessionContainer`].
//!
//! ```
//! use forklore_core::session_container::SessionContainer;
//! use forklore_opencode::Storage;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let storage = folder.path().join("storage");
//! for (path, text) in [
//!     ("session/p/ses_1.json", r#"{"id":"ses_1","directory":"/work/demo"}"#),
//!     ("message/ses_1/msg_1.json", r#"{"id":"msg_1","role":"user","sessionID":"ses_1"}"#),
//!     ("part/msg_1/prt_1.json", r#"{"id":"prt_1","type":"text","text":"plan A or plan B?"}"#),
//! ] {
//!     let path = storage.join(path);
//!     std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
//!     std::fs::write(path, text)?;
//! }
//!
//! let mut inside = Storage.open(&storage.join("session/p/ses_1.json"))?;
//! assert_eq!(inside.sessions()?.first().map(|found| found.id.as_str()), Some("ses_1"));
//! let mut lines = Vec::new();
//! let troubles = inside.lines("ses_1", &mut std::io::empty(), &mut lines)?;
//! assert!(troubles.is_empty());
//! assert!(String::from_utf8(lines)?.contains("plan A or plan B?"));
//! # Ok(())
//! # }
//! ```
//!
//! The crate never writes to opencode's files, and never opens the original database. It copies the
//! database and its write-ahead log to a folder that only its owner can look into, reads the copy,
//! and removes the folder. If the process is killed before that, the next process that reads a
//! database removes the folder.

mod copy;
mod database;
mod journal;
mod line;
mod lines;
mod private_folder;
mod schema;
mod storage;

use std::path::Path;

use forklore_core::session_container::{ExpandError, Inside, SessionContainer};
use forklore_core::units::count;

const DIALECT: &str = "opencode";
const SQLITE: &[u8] = b"SQLite format 3\0";

/// The container of the sessions in opencode's SQLite database, `opencode.db`.
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

/// The container of one session of an old opencode version, the file
/// `storage/session/<project>/<session>.json`. The messages and parts of the session are in the
/// directories `storage/message` and `storage/part`.
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

/// Returns the message that says how many parts belong to no message.
fn orphans_found(number: usize) -> String {
    let belong = if number == 1 { "belongs" } else { "belong" };
    format!("{} {belong} to no message", count(number as u64, "part"))
}
