//! What agents tell of their sessions where they keep it beside the files: lists of names, read
//! once an import, and documents about one session.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, FileFacts};

use crate::opened::Opened;

/// A longer list is not read.
const LIST_BYTES: u64 = 64 << 20;

/// The lists of names that were read.
#[derive(Default)]
pub(crate) struct SessionNames(HashMap<PathBuf, HashMap<String, String>>);

impl SessionNames {
    /// What the agent calls the session of the file, if it keeps that in a list or a document
    /// beside it, and that can be read. The last name in a list counts.
    pub(crate) fn of(&mut self, dialect: &dyn AgentFormat, path: &Path) -> Option<String> {
        let Some((list, id)) = dialect.names(path) else {
            return document_facts(dialect, path).title;
        };
        let names = self.0.entry(list).or_insert_with_key(|list| read(dialect, list));
        names.get(&id).cloned()
    }
}

/// What the agent tells of the session of the file in a document beside it.
pub(crate) fn document_facts(dialect: &dyn AgentFormat, path: &Path) -> FileFacts {
    let text = dialect.metadata_file(path).and_then(|document| text_of(&document));
    text.map(|text| dialect.read_metadata(&text)).unwrap_or_default()
}

fn read(dialect: &dyn AgentFormat, list: &Path) -> HashMap<String, String> {
    let text = text_of(list).unwrap_or_default();
    text.lines().filter_map(|line| dialect.named(line)).collect()
}

fn text_of(path: &Path) -> Option<String> {
    let file = Opened::open(path).ok().filter(|file| file.seen.size <= LIST_BYTES)?;
    let mut bytes = Vec::new();
    file.rest(0).ok()?.read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
