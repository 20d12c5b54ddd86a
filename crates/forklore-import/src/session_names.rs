//! Reads names and facts that agents store next to session files. Some agents store a list of the
//! names of many sessions; others store a document about each session. Each list is read once per
//! import.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, FileFacts};

use crate::opened::Opened;

/// Maximum size in bytes of a list of session names or a document about a session. A larger file is
/// ignored.
const LIST_BYTES: u64 = 64 << 20;

/// The agents' lists of session names that this import has read so far, by the path of the list.
/// Each list has the names by native id (the agent's own session id).
#[derive(Default)]
pub(crate) struct SessionNames(HashMap<PathBuf, HashMap<String, String>>);

impl SessionNames {
    /// Returns the name that the agent gave to the session of a file. The agent stores it in a list
    /// or a document next to the file. The last name in a list counts. Returns `None` if the agent
    /// gave the session no name.
    pub(crate) fn of(&mut self, dialect: &dyn AgentFormat, path: &Path) -> Option<String> {
        let Some((list, id)) = dialect.names(path) else {
            return document_facts(dialect, path).title;
        };
        let names = self.0.entry(list).or_insert_with_key(|list| read(dialect, list));
        names.get(&id).cloned()
    }
}

/// Returns the facts about a file's session from the document that the agent stores next to the
/// file. Without a readable document, returns no facts.
pub(crate) fn document_facts(dialect: &dyn AgentFormat, path: &Path) -> FileFacts {
    let text = dialect.metadata_file(path).and_then(|document| text_of(&document));
    text.map(|text| dialect.read_metadata(path, &text)).unwrap_or_default()
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
