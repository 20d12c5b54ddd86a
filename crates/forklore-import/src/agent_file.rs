//! A file that is being imported: its identity, and the facts read so far about its session.

use std::sync::Arc;

use forklore_core::agent_format::{AgentFormat, FileFacts, Record};
use forklore_core::limits::TITLE_BYTES;
use forklore_core::typed::typed_text;
use forklore_core::workspace::Workspace;
use forklore_store::sources::{RecordKey, SeenFile};
use jiff::Timestamp;

use crate::described::Described;
use crate::record_keys::record_key;

/// An agent's session file that is being imported, with the facts about its session read so far.
pub(crate) struct AgentFile<'a> {
    format: &'a dyn AgentFormat,
    /// The name of the agent's record format, which each imported event contains.
    format_name: Arc<str>,
    /// The path, size and modification time that the file had when it was opened.
    seen: SeenFile,
    /// The file name without the extension. It is the session's native id (the agent's own id) if
    /// the file's records contain no id.
    stem: String,
    /// The fallback time, usually the file's modification time. A record gets it if neither the
    /// record nor any record before it has a time.
    time: Timestamp,
    facts: FileFacts,
    /// The path of the file whose session called this file's sub-agent, if the caller of the import
    /// states it. Otherwise the file's records name that session.
    caller_path: Option<String>,
}

impl<'a> AgentFile<'a> {
    /// Creates the description of a file. `facts` are the facts about its session that were
    /// read before: by earlier imports, or from documents next to the file.
    pub(crate) fn of(file: Described<'_>, format: &'a dyn AgentFormat, facts: FileFacts) -> Self {
        let stem = file.path.file_stem().unwrap_or_default();
        Self {
            format,
            format_name: format.name().into(),
            seen: file.seen.clone(),
            stem: stem.to_string_lossy().into_owned(),
            time: file.time,
            facts,
            caller_path: file.caller_path.map(str::to_owned),
        }
    }

    /// Returns the path of the file whose session called this file's sub-agent, if the caller of
    /// the import states it.
    pub(crate) fn caller_path(&self) -> Option<&str> {
        self.caller_path.as_deref()
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

    /// Merges facts about the session from one line of the file into the facts read so far.
    pub(crate) fn learn(&mut self, facts: FileFacts) {
        self.facts.learn(facts);
    }

    /// Returns the agent's own id of the file's session: from the records, or else the file name
    /// without the extension.
    pub(crate) fn native_id(&self) -> &str {
        self.facts.native_id.as_ref().unwrap_or(&self.stem)
    }

    /// Returns the title of the file's session, truncated to at most [`TITLE_BYTES`] bytes. Returns
    /// `None` without a title. Also returns `None` if the title is text that the agent itself
    /// added: some agents use the first message as the title, even if it contains only such text.
    pub(crate) fn title(&self) -> Option<String> {
        let title = self.facts.title.as_deref().filter(|title| typed_text(title).is_some())?;
        let end = title.len().min(TITLE_BYTES);
        (0..=end).rev().find_map(|end| title.get(..end)).map(str::to_owned)
    }

    /// Returns a hash of the session's title, or `None` without a title. An import stores the hash,
    /// and the next import compares it to notice a changed title.
    pub(crate) fn title_key(&self) -> Option<RecordKey> {
        self.facts.title.as_ref().map(|title| record_key(title.as_bytes()))
    }

    /// Returns the workspace of the file's session, or `None` if the file names no working
    /// directory.
    pub(crate) fn workspace(&self) -> Option<Workspace> {
        let cwd = self.facts.cwd.as_deref().filter(|cwd| !cwd.is_empty());
        cwd.map(Workspace::new)
    }

    /// Returns the time of a record. A record without a time gets `before`, the time of the
    /// previous record. If `before` is `None`, the record gets the fallback time, usually the
    /// file's modification time.
    pub(crate) fn time_of(&self, record: &Record, before: Option<Timestamp>) -> Timestamp {
        record.ts.or(before).unwrap_or(self.time)
    }

    /// Returns the creation time of the file's session. If the file does not state it, returns
    /// `first`, the time of the first record. If `first` is `None`, returns the fallback time,
    /// usually the file's modification time.
    pub(crate) fn created(&self, first: Option<Timestamp>) -> Timestamp {
        self.facts.created.or(first).unwrap_or(self.time)
    }
}
