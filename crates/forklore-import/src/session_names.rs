//! Reads what agents store about their sessions next to the session files: lists of names, each
//! read once per import, and documents about one session.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, FileFacts};

use crate::opened::Opened;

/// Maximum size of a list or document, in bytes. A larger one is not read.
const LIST_BYTES: u64 = 64 << 20;

/// The lists of names that were read.
#[derive(Default)]
pub(crate) struct SessionNames(HashMap<PathBuf, HashMap<String, String>>);

impl SessionNames {
    /// Returns the agent's name for the session of the file, if it is in a readable list or
    /// document next to the file. The last name in a list counts.
    pub(crate) fn of(&mut self, dialect: &dyn AgentFormat, path: &Path) -> Option<String> {
        let Some((list, id)) = dialect.names(path) else {
            return document_facts(dialect, path).title;
        };
        let names = self.0.entry(list).or_insert_with_key(|list| read(dialect, list));
        names.get(&id).cloned()
    }
}

/// Returns the facts that the agent stores about the session of the file in a document next to it.
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
