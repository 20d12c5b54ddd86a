//! Finds the files that other files continue. An import also reads those that nobody named, because
//! without them it would have only the end of a conversation.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use forklore_core::agent_format::AgentFormat;

use crate::walk::{self, Wanted};

/// Session files by their native id, for each set of folders that was searched.
#[derive(Default)]
pub(crate) struct BaseFiles(HashMap<Vec<PathBuf>, HashMap<String, PathBuf>>);

impl BaseFiles {
    /// Returns the file of the session `native_id`, which the file at `path` continues: from that
    /// file's own folder, or from the folders where its agent stores session files.
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

/// Lists the session files in the first folder, and in the other folders recursively.
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
