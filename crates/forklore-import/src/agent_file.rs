//! What a file is: its identity, and the facts about its session that were read so far.

use std::sync::Arc;

use forklore_core::agent_format::{AgentFormat, FileFacts, Record};
use forklore_core::limits::TITLE_BYTES;
use forklore_core::workspace::Workspace;
use forklore_store::sources::{RecordKey, SeenFile};
use jiff::Timestamp;

use crate::opened::Opened;
use crate::record_keys::record_key;

/// A file of an agent.
pub(crate) struct AgentFile<'a> {
    format: &'a dyn AgentFormat,
    /// The format's name, as events contain it.
    format_name: Arc<str>,
    /// Its path, size and time of the last change.
    seen: SeenFile,
    /// Its name without the extension: the native id of a session that has no other.
    stem: String,
    /// The time for records without one.
    time: Timestamp,
    facts: FileFacts,
}

impl<'a> AgentFile<'a> {
    /// Returns the file with the facts that were read before.
    pub(crate) fn of(file: &Opened, format: &'a dyn AgentFormat, facts: FileFacts) -> Self {
        let stem = file.path.file_stem().unwrap_or_default();
        Self {
            format,
            format_name: format.name().into(),
            seen: file.seen.clone(),
            stem: stem.to_string_lossy().into_owned(),
            time: file.time(),
            facts,
        }
    }

    pub(crate) fn format(&self) -> &'a dyn AgentFormat {
        self.format
    }

    pub(crate) fn format_name(&self) -> &Arc<str> {
        &self.format_name
    }

    pub(crate) fn seen(&self) -> &SeenFile {
        &self.seen
    }

    pub(crate) fn path(&self) -> &str {
        &self.seen.path
    }

    pub(crate) fn facts(&self) -> &FileFacts {
        &self.facts
    }

    /// Adds facts from a further line.
    pub(crate) fn learn(&mut self, facts: FileFacts) {
        self.facts.learn(facts);
    }

    /// Returns the native id of its session.
    pub(crate) fn native_id(&self) -> &str {
        self.facts.native_id.as_ref().unwrap_or(&self.stem)
    }

    /// Returns the title of its session, truncated to the maximum length of titles.
    pub(crate) fn title(&self) -> Option<String> {
        let title = self.facts.title.as_deref().filter(|title| !title.is_empty())?;
        let end = title.len().min(TITLE_BYTES);
        (0..=end).rev().find_map(|end| title.get(..end)).map(str::to_owned)
    }

    /// Returns the key by which titles are compared.
    pub(crate) fn title_key(&self) -> Option<RecordKey> {
        self.facts.title.as_ref().map(|title| record_key(title.as_bytes()))
    }

    /// Returns the workspace of its session, if the file names a directory.
    pub(crate) fn workspace(&self) -> Option<Workspace> {
        let cwd = self.facts.cwd.as_deref().filter(|cwd| !cwd.is_empty());
        cwd.map(Workspace::new)
    }

    /// Returns the time of a record: its own, or that of the record before it, or that of the file.
    pub(crate) fn time_of(&self, record: &Record, before: Option<Timestamp>) -> Timestamp {
        record.ts.or(before).unwrap_or(self.time)
    }

    /// Returns the time at which its session was created, whose first record is from `first`.
    pub(crate) fn created(&self, first: Option<Timestamp>) -> Timestamp {
        self.facts.created.or(first).unwrap_or(self.time)
    }
}
