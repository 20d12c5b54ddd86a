//! Finds base files: session files that another session file continues. An import reads a base file
//! even if the user did not name it, because the other file contains only the end of the
//! conversation.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use forklore_core::agent_format::AgentFormat;

use crate::walk::{self, Wanted};

/// A cache for the search for base files: session files that other session files continue. The
/// outer key is a list of searched folders. The inner map has the paths of the session files in
/// these folders, by native id (the agent's own session id).
#[derive(Default)]
pub(crate) struct BaseFiles(HashMap<Vec<PathBuf>, HashMap<String, PathBuf>>);

impl BaseFiles {
    /// Returns the session file that the file at `path` continues. `native_id` is the agent's own
    /// id of the continued session. Searches the folder of `path`, then the folders where the agent
    /// stores session files. Returns `None` if none of the folders contains the file.
    pub(crate) fn find(
        &mut self,
        dialect: &dyn AgentFormat,
        path: &Path,
        native_id: &str,
    ) -> Option<PathBuf> {
        let mut folders = dialect.base_folders(path);
        folders.insert(0, path.parent()?.to_owned());
        let files = self.0.entry(folders).or_insert_with_key(|folders| list(dialect, folders));
        files.get(native_id).cloned()
    }
}

/// Lists an agent's session files by native id (the agent's own session id in the file name).
/// Searches the first folder without its subfolders, and the other folders recursively.
fn list(dialect: &dyn AgentFormat, folders: &[PathBuf]) -> HashMap<String, PathBuf> {
    let may_own = |path: &Path| dialect.may_own(path) && dialect.id_in_name(path).is_some();
    let wanted = Wanted { may_own: &may_own, belongs: &|_| false };
    let (own, others) = folders.split_first().unzip();
    let near = own.and_then(|own| fs::read_dir(own).ok()).into_iter().flatten().flatten();
    let near = near.map(|entry| entry.path()).filter(|path| path.is_file() && may_own(path));
    let far = walk::files(others.unwrap_or_default(), wanted, &mut Vec::new());
    let mut files = HashMap::new();
    for path in near.chain(far) {
        if let Some(id) = dialect.id_in_name(&path).map(str::to_owned) {
            files.entry(id).or_insert(path);
        }
    }
    files
}
