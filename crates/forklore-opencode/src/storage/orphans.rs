//! Finds the parts of a session whose message no longer exists.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use forklore_core::session_container::ExpandError;

use super::{failed, files, read};
use crate::line::text_field;

/// Which session each directory of parts belongs to. A directory is named after a message; only the
/// parts in it name their session.
#[derive(Debug, Default)]
struct Owners {
    /// The directory with the directories of parts.
    folder: PathBuf,
    /// The modification time of `folder` when `sessions` was last brought up to date. `None` before
    /// the first time.
    changed: Option<SystemTime>,
    /// The session of each directory of parts, by the name of the directory. It is empty if no part
    /// in the directory can be read.
    sessions: HashMap<String, String>,
}

/// The owners in the storage that was read last. Every session of a storage is opened separately.
/// This cache avoids that each of them reads all directories of parts again.
static LAST: Mutex<Option<Owners>> = Mutex::new(None);

/// Returns the directories of parts that belong to the session `session` of the storage at `root`,
/// without the directories of the messages whose ids are in `there`. They are sorted by name.
pub(super) fn of_session(
    root: &Path,
    session: &str,
    there: &HashSet<&str>,
) -> Result<Vec<PathBuf>, ExpandError> {
    let folder = root.join("part");
    let Ok(about) = folder.symlink_metadata() else { return Ok(Vec::new()) };
    if !about.is_dir() {
        return Ok(Vec::new());
    }
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let owners = match &mut *last {
        Some(owners) if owners.folder == folder => owners,
        other => other.insert(Owners { folder: folder.clone(), ..Owners::default() }),
    };
    let changed = about.modified().ok();
    if owners.changed.is_none() || owners.changed != changed {
        owners.update()?;
        owners.changed = changed;
    }
    let of_it = owners
        .sessions
        .iter()
        .filter(|(message, owner)| owner.as_str() == session && !there.contains(message.as_str()));
    let mut found: Vec<_> = of_it.map(|(message, _)| folder.join(message)).collect();
    found.sort();
    Ok(found)
}

impl Owners {
    /// Reads the directories that are new or whose session was not found yet. Removes the entries
    /// of directories that no longer exist.
    fn update(&mut self) -> Result<(), ExpandError> {
        let entries = fs::read_dir(&self.folder).map_err(|error| failed(&self.folder, error))?;
        let mut earlier = std::mem::take(&mut self.sessions);
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let owner = match earlier.remove(&name) {
                Some(owner) if !owner.is_empty() => owner,
                _ => owner(&entry.path())?,
            };
            self.sessions.insert(name, owner);
        }
        Ok(())
    }
}

/// Returns the id of the session to which the parts in `folder` belong, from the first part that
/// states it. Returns an empty string if no part does.
fn owner(folder: &Path) -> Result<String, ExpandError> {
    for path in files(folder)? {
        let text = read(&path, &mut 0)?;
        if let Some(session) = text_field(&text, "sessionID") {
            return Ok(session);
        }
    }
    Ok(String::new())
}
