//! The interface that reads the session files of one agent, and for some agents also writes them
//! (docs/semantics.md, Sources).
//!
//! A store holds each record byte for byte. The agent's format classifies a record at import, and
//! renders it as a message at each read. A later version of the format may render a record
//! differently. The type, class and position of a stored record never change.

use std::ops::Range;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Effect;
use crate::call_usage::CallUsage;
use crate::data::Data;
use crate::export::Export;
use crate::id::SessionId;
use crate::kind::{Class, EventType};
use crate::message::{Content, Message};
use crate::usage::Usage;

/// The format of one agent's session files.
pub trait AgentFormat: Send + Sync {
    /// Returns the format's name, which is stored with each event, such as `claude`.
    fn name(&self) -> &'static str;

    /// Checks whether the file at this path looks like one of the agent's session files. `head`
    /// contains the first bytes of the file.
    fn detect(&self, path: &Path, head: &[u8]) -> bool;

    /// Checks by the path alone whether a file in a folder may be one of the agent's session files.
    /// The default accepts files with the extension `jsonl`, in upper or lower case.
    fn may_own(&self, path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"))
    }

    /// Checks whether the file is one JSON document instead of JSON lines. The reader receives
    /// the whole document as one line. If the reader can parse the document, it returns
    /// [`Line::Several`] (several records).
    fn is_document(&self, path: &Path, head: &[u8]) -> bool {
        let _ = (path, head);
        false
    }

    /// Returns a reader for the session file at `path`. Without `memory`, the reader starts at the
    /// beginning of the file. `memory` is the saved state of an earlier reader
    /// ([`LineReader::memory`]); with it, the new reader continues after the lines that the earlier
    /// one read.
    fn reader(&self, path: &Path, memory: Option<&str>) -> Box<dyn LineReader>;

    /// Renders a stored record as a message; `None` if the record is not part of the conversation.
    /// For a record that contains a summary (a compaction or a branch summary), the message is what
    /// the model sees at the position of that record.
    fn view(&self, kind: &EventType, data: &Data) -> Option<Message>;

    /// Returns the usage (tokens and cost) of a model call, as a stored record reports it. `None`
    /// if the record reports no usage, or if the import already counted the usage through
    /// [`Record::usage`].
    fn call_usage(&self, kind: &EventType, data: &Data) -> Option<CallUsage> {
        let _ = (kind, data);
        None
    }

    /// Returns the name of the model that a stored record selects for later model calls. Only
    /// formats whose usage records do not name the model implement this; the default returns
    /// `None`.
    fn model_of_turn(&self, kind: &EventType, data: &Data) -> Option<String> {
        let _ = (kind, data);
        None
    }

    /// Returns which part of the conversation a stored compaction replaces; `None` if `data` does
    /// not state it. A compaction is a `history_compaction` record, whose summary replaces earlier
    /// messages. [`AgentFormat::instead`] returns that summary.
    fn compaction(&self, data: &Data) -> Option<Covers> {
        let _ = data;
        None
    }

    /// Returns the number that the agent gave a stored record within its session file. A compaction
    /// with [`Covers::Through`] refers to a record by this number. `None` if the agent's
    /// compactions do not refer to records by number.
    fn number(&self, data: &Data) -> Option<u64> {
        let _ = data;
        None
    }

    /// Checks whether the numbers of two stored records count the records of the same session file. A
    /// record that a fork copied from another file has the number of that file; in the fork, its
    /// number is its log position. The default implementation returns true.
    fn are_numbered_together(&self, a: &Data, b: &Data) -> bool {
        let _ = (a, b);
        true
    }

    /// Returns the messages that the model sees instead of the messages that a compaction replaces.
    /// `data` is the stored compaction, a `history_compaction` record.
    fn instead(&self, data: &Data) -> Vec<Message> {
        self.view(&EventType::HISTORY_COMPACTION, data).into_iter().collect()
    }

    /// Returns the [`Edit`] that a stored record makes: a change to how an earlier record is sent
    /// to the model. If several records edit the same record, the last edit counts. `None` if the
    /// record makes no edit.
    fn edit(&self, kind: &EventType, data: &Data) -> Option<Edit> {
        let _ = (kind, data);
        None
    }

    /// Returns the path of the agent's list of session titles, and the id that the list uses for
    /// the session in the file at `path`. `None` if the agent stores each title in the session
    /// file.
    fn names(&self, path: &Path) -> Option<(PathBuf, String)> {
        let _ = path;
        None
    }

    /// Parses one line of the title list that [`AgentFormat::names`] returns. The result is a
    /// session id and the new title of that session, which replaces the title of any earlier line.
    /// `None` if the line gives no title.
    fn named(&self, line: &str) -> Option<(String, String)> {
        let _ = line;
        None
    }

    /// Checks whether the agent, when it copies a record to another file, changes or omits the
    /// record's id.
    fn renames_copies(&self) -> bool {
        false
    }

    /// Checks whether two records of one type have the same meaning. If they do, one record may be
    /// a copy of the other. The caller has already checked that the two differ in few bytes only.
    fn says_the_same(&self, kind: &EventType, a: &Data, b: &Data) -> bool {
        self.view(kind, a) == self.view(kind, b)
    }

    /// Checks whether the agent may write all records of a session file again in another form.
    fn renews_files(&self) -> bool {
        false
    }

    /// Checks whether two records of the conversation have the same content, although the agent
    /// wrote `later` in another form than `earlier` when it rewrote the file
    /// ([`AgentFormat::renews_files`]). Both have the type `kind`.
    fn is_renewed(&self, kind: &EventType, earlier: &Data, later: &Data) -> bool {
        self.says_the_same(kind, earlier, later)
    }

    /// Returns additional folders to search for the file with the beginning of a session. The rest
    /// of the session is in the file at `path` ([`FileFacts::base`]). The folder of that file is
    /// searched anyway and is not returned.
    fn base_folders(&self, path: &Path) -> Vec<PathBuf> {
        let _ = path;
        Vec::new()
    }

    /// Extracts the session id that the agent wrote into the file name of `path`; `None` if the
    /// name contains none. `path` is in one of the folders that are searched for the beginning of a
    /// session ([`AgentFormat::base_folders`]).
    fn id_in_name<'p>(&self, path: &'p Path) -> Option<&'p str> {
        let _ = path;
        None
    }

    /// Extracts, from the path of a session file, the [key](crate::workspace::Workspace::key) of
    /// the folder that the agent worked in. `None` if the path contains no key, or if the agent
    /// also writes the folder's own path into a file. A folder with another key is not the folder
    /// that the agent worked in.
    fn workspace_key<'p>(&self, path: &'p Path) -> Option<&'p str> {
        let _ = path;
        None
    }

    /// Returns the path of a separate document that describes the session in the file at `path`.
    /// `None` if the agent writes no such document for this file.
    fn metadata_file(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// Parses the content of the document at [`AgentFormat::metadata_file`] about the session in
    /// the file at `path`.
    fn read_metadata(&self, path: &Path, document: &str) -> FileFacts {
        let _ = (path, document);
        FileFacts::default()
    }

    /// Returns the session file that the sidecar at `path` belongs to; `None` if `path` is not a
    /// sidecar. A sidecar is a file without a session of its own, for example the output of a tool.
    /// It is stored byte for byte with that session file.
    fn belongs_to(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// Returns the folder with the sidecars (extra files, such as tool outputs) of the session file
    /// at `path`; `None` if the agent has no such folder for this file.
    fn belongings(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// Returns the writer for the agent's session files; `None` if forklore cannot write them.
    fn export(&self) -> Option<&dyn Export> {
        None
    }
}

/// The part of a conversation that an agent's compaction replaces. A compaction is a record whose
/// summary replaces earlier messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Covers {
    /// The compaction replaces everything before itself.
    AllBefore,
    /// The compaction replaces everything before the record with this native id (the id that the
    /// agent gave it).
    Before(String),
    /// The compaction replaces everything up to and including the record with this native id.
    After(String),
    /// The compaction replaces everything before the record with this position among the records of
    /// its file, counted from 0.
    BeforeIndex(u64),
    /// The compaction replaces everything up to and including the record with this number. The
    /// agent gave the number ([`AgentFormat::number`]).
    Through(u64),
}

/// A change to the form in which an earlier record is sent to the model. One record makes the
/// change; it applies to all requests after that record.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The id (given by the agent) of the record that the edit changes.
    pub target: String,
    /// The content to send instead of the original content of the edited record, under the same
    /// role. `None` if the edited record is no longer sent to the model.
    pub instead: Option<Content>,
}

/// Reads the lines of one file in order. The reader remembers facts in earlier lines that later
/// lines depend on.
pub trait LineReader: Send {
    /// Classifies one line. `line` begins with `{` and has no line break; bytes of the file that
    /// were not UTF-8 have been replaced. A document ([`AgentFormat::is_document`]) is passed whole
    /// as one line, whatever it contains.
    fn read(&mut self, line: &str) -> Line;

    /// Returns the state that a reader of the remaining lines needs. The state is stored with the
    /// source (the imported file). `None` if such a reader needs no state.
    fn memory(&self) -> Option<String> {
        None
    }

    /// Returns [`LineReader::memory`] as it was before the last line. A reader that must read the
    /// last line again starts with this state.
    fn memory_before(&self) -> Option<String> {
        self.memory()
    }
}

/// One line of a session file, classified.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A single event.
    Record(Box<Record>),
    /// Several events that the line contains, such as those of a document.
    Several(Several),
    /// A record that describes the file or other records. It is not an event, and is stored with
    /// the source.
    Side(FileFacts),
    /// Text that is not one JSON object. The text is stored with the source and reported as damage.
    /// The string is the reason.
    Damage(String),
}

/// The records in one line or document. The bytes between the records are stored with the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Several {
    /// The records and their byte ranges in the line. The order is the import order, which may
    /// differ from the order in the line. The ranges must not overlap.
    pub records: Vec<(Range<usize>, Record)>,
    /// The facts about the session that the text outside the records contains.
    pub facts: FileFacts,
    /// The byte offset at which the unreadable rest of the line begins, and the reason; `None` if
    /// the whole line was read.
    pub damage: Option<(usize, String)>,
}

/// Facts about a session as a whole, from one line or merged from several lines of its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// The id that the agent gave the session, if a line states one. Otherwise, the import uses the
    /// file name without its extension. If several lines give an id, the first counts.
    pub native_id: Option<String>,
    /// The working directory of the agent. If several lines give one, the first counts.
    pub cwd: Option<String>,
    /// The session's title; an empty string removes the title. If several lines give one, the last
    /// counts. The title is not serialized, because it is text of the session and must be deleted
    /// with the session (docs/semantics.md, Delete, detach).
    #[serde(skip)]
    pub title: Option<String>,
    /// When the session was created. If several lines give a time, the first counts.
    pub created: Option<Timestamp>,
    /// The original session whose first records this file repeats: the path of the original's file,
    /// or the id that the agent gave the original session. If several lines name an original, the
    /// first counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<String>,
    /// For the session of a sub-agent, the id that the agent gave the session that called the
    /// sub-agent. If several lines name a caller, the first counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The id that the agent gave another session, if the agent continues this file when it resumes
    /// that other session. This file's session is then the leaf of the other session. If several
    /// lines name one, the first counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf_of: Option<String>,
    /// Where to find the beginning of the session, if another file contains it and this file omits
    /// it. If several lines state this, the first counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// A description of what is irregular about the line; `None` for a regular line. A line is
    /// irregular if the agent normally writes it differently, or if this version of forklore does
    /// not support its kind. The import reports the description and still imports the rest of the
    /// line as far as it is readable.
    #[serde(skip)]
    pub irregular: Option<String>,
}

/// A reference to the beginning of a session that is in another file than the rest of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The id (given by the agent) of the session whose file contains the beginning of this
    /// session.
    pub native_id: String,
    /// The number of the last record of the shared beginning, plus 1. In the file that contains the
    /// beginning, the [`Record::key`] of each record is the record's number. This field is ignored
    /// if `after` is given.
    pub end: u64,
    /// The native id of the last record of the shared beginning, if the agent names that record by
    /// its id instead of its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The length of the shared beginning in bytes, from the start of the file that contains it.
    /// `None` if the session's own file does not state the length.
    pub bytes: Option<u64>,
}

impl FileFacts {
    /// Merges the facts of a later line into these facts. A title replaces the earlier title; any
    /// other field is set only if it is still empty. `irregular` is not merged.
    pub fn learn(&mut self, later: Self) {
        fn first<T>(current: &mut Option<T>, later: Option<T>) {
            if current.is_none() {
                *current = later;
            }
        }
        first(&mut self.native_id, later.native_id);
        first(&mut self.cwd, later.cwd);
        first(&mut self.created, later.created);
        first(&mut self.copied_from, later.copied_from);
        first(&mut self.caller, later.caller);
        first(&mut self.leaf_of, later.leaf_of);
        first(&mut self.base, later.base);
        if later.title.is_some() {
            self.title = later.title;
        }
    }
}

/// One event of a session file.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The id that the agent gave the record; `None` if the agent gave it none.
    pub native_id: Option<String>,
    /// The key by which other records refer to this record. `None` if they refer to it by its
    /// `native_id`.
    pub key: Option<String>,
    /// The parent: the record of the same file that this record continues.
    pub parent: Parent,
    /// When the record was written, if the record contains a time.
    pub ts: Option<Timestamp>,
    /// The type of the event.
    pub kind: EventType,
    /// The class, which decides what forks do with the event.
    pub class: Class,
    /// How the event changes the open tool calls and the turns.
    pub effect: Effect,
    /// Whether the record contains only results of tool calls. Such a record is added to the
    /// session in which the calls are open, even if its parent record is in another session:
    /// results of parallel calls may have parents on different branches.
    pub only_results: bool,
    /// Whether the record belongs to a sub-agent whose records are in the same file as those of the
    /// agent that called it.
    pub sidechain: bool,
    /// Whether the agent would resume the session after this record. If this is true of several
    /// records of a file, the agent resumes after the last of them.
    pub leaf: bool,
    /// The usage (tokens and cost) that the record reports, if reporting usage is its only purpose
    /// (docs/semantics.md, Types, classes, inheritance). For any other record, all numbers are 0.
    pub usage: Usage,
    /// Facts in the record about its session as a whole.
    pub facts: FileFacts,
}

impl Record {
    /// Creates a record of this type with the type's default class and [`Parent::Previous`]. `leaf`
    /// is true; all other fields are empty.
    #[must_use]
    pub fn of(kind: EventType) -> Self {
        Self {
            native_id: None,
            key: None,
            parent: Parent::Previous,
            ts: None,
            class: kind.class(),
            kind,
            effect: Effect::default(),
            only_results: false,
            sidechain: false,
            leaf: true,
            usage: Usage::default(),
            facts: FileFacts::default(),
        }
    }
}

/// The parent of a record in the tree of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent {
    /// The parent is the previous record of the file. Files whose records form no tree use this.
    Previous,
    /// The record has no parent: it is a root of the file's tree.
    None,
    /// The parent is the latest record with this native id or this [key](Record::key).
    Id(String),
    /// The parent is the latest record with this native id or [key](Record::key). If the file
    /// contains none before this record, the parent is the previous record. A format uses this form
    /// for records, such as compactions, that continue the previous record if the file lacks the
    /// parent that they name.
    IdOrPrevious(String),
}

/// The agent formats that a program supports, in the order in which they are tried on a file.
#[derive(Clone, Copy)]
pub struct AgentFormats<'a>(pub &'a [&'a dyn AgentFormat]);

impl<'a> AgentFormats<'a> {
    /// Returns the agent format with this name, such as `claude`; `None` if there is no such
    /// format.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&'a dyn AgentFormat> {
        self.0.iter().copied().find(|dialect| dialect.name() == name)
    }

    /// Returns the first agent format that recognises the file with this path and these first
    /// bytes; `None` if no format recognises the file.
    #[must_use]
    pub fn detect(&self, path: &Path, head: &[u8]) -> Option<&'a dyn AgentFormat> {
        self.0.iter().copied().find(|dialect| dialect.detect(path, head))
    }
}

/// Returns a candidate for the id of an imported session, without checking whether the id is free.
/// Attempt 0 gives the native id (the id that the agent gave the session), or `None` if that is not
/// a valid session id. Each further attempt gives another id derived from the format, the native id
/// and `attempt`.
#[must_use]
pub fn session_id(dialect: &str, native_id: &str, attempt: usize) -> Option<SessionId> {
    if attempt == 0 {
        return native_id.parse().ok();
    }
    SessionId::derived(dialect, &[native_id, &attempt.to_string()]).ok()
}
