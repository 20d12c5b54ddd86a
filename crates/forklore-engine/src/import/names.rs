//! What agents call their sessions where they keep it beside the files: read once an import.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use forklore_model::dialect::Dialect;

use super::opened::Opened;

/// A longer list is not read.
const LIST_BYTES: u64 = 64 << 20;

/// The lists of names that were read.
#[derive(Default)]
pub(super) struct Names(HashMap<PathBuf, HashMap<String, String>>);

impl Names {
    /// What the agent calls the session of the file, if it keeps that in a list and the list can
    /// be read. The last name in it counts.
    pub(super) fn of(&mut self, dialect: &dyn Dialect, path: &Path) -> Option<String> {
        let (list, id) = dialect.names(path)?;
        let names = self.0.entry(list).or_insert_with_key(|list| read(dialect, list));
        names.get(&id).cloned()
    }
}

fn read(dialect: &dyn Dialect, list: &Path) -> HashMap<String, String> {
    let text = || {
        let file = Opened::open(list).ok().filter(|file| file.seen.size <= LIST_BYTES)?;
        let mut bytes = Vec::new();
        file.rest(0).ok()?.read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = text().unwrap_or_default();
    text.lines().filter_map(|line| dialect.named(line)).collect()
}
