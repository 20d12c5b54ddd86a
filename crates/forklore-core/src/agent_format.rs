//! The interface that reads the session files of one agent (docs/semantics.md, Sources).
//!
//! A record is stored byte for byte. Its format classifies the record when it is imported, and
//! renders it as a message when it is read. A later version of a format may render a record
//! differently, but never changes what was fixed when the record was stored.

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

    /// Checks whether a file with this path and first bytes looks like one of the agent's.
    fn detect(&self, path: &Path, head: &[u8]) -> bool;

    /// Returns the name of the other agent that wrote a file with this path and first bytes, if its
    /// files look like this agent's but cannot be read.
    fn lookalike(&self, path: &Path, head: &[u8]) -> Option<&'static str> {
        let _ = (path, head);
        None
    }

    /// Checks by the name alone whether a file in a folder may be one of the agent's.
    fn may_own(&self, path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"))
    }

    /// Checks whether a file that the format recognises is one JSON document instead of lines. A
    /// document is read whole, as one [`Line::Several`].
    fn is_document(&self, path: &Path, head: &[u8]) -> bool {
        let _ = (path, head);
        false
    }

    /// Returns a reader for one file. It starts at the file's beginning, or, given `memory`, where
    /// an earlier reader stopped that returned this [`LineReader::memory`].
    fn reader(&self, path: &Path, memory: Option<&str>) -> Box<dyn LineReader>;

    /// Renders a stored record as a message; `None` if it is not part of the conversation. A
    /// compaction and a branch summary render as what the model sees at their position.
    fn view(&self, kind: &EventType, data: &Data) -> Option<Message>;

    /// Returns the usage of a model call from a stored record, if [`Record::usage`] did not give it
    /// when the record was imported.
    fn call_usage(&self, kind: &EventType, data: &Data) -> Option<CallUsage> {
        let _ = (kind, data);
        None
    }

    /// Returns the model that a stored record selects for the calls after it, if calls do not name
    /// their own.
    fn model_of_turn(&self, kind: &EventType, data: &Data) -> Option<String> {
        let _ = (kind, data);
        None
    }

    /// Returns the range that a stored `history_compaction` replaces.
    /// [`AgentFormat::instead`] returns the replacement.
    fn compaction(&self, data: &Data) -> Option<Covers> {
        let _ = data;
        None
    }

    /// Returns the number of a stored record in its file, if compactions refer to records by
    /// number.
    fn number(&self, data: &Data) -> Option<u64> {
        let _ = data;
        None
    }

    /// Returns the messages that the model sees in place of the range that a stored
    /// `history_compaction` covers.
    fn instead(&self, data: &Data) -> Vec<Message> {
        self.view(&EventType::HISTORY_COMPACTION, data).into_iter().collect()
    }

    /// Returns the change that a stored record makes to how an earlier record is sent. If several
    /// records change the same one, the last one counts.
    fn edit(&self, kind: &EventType, data: &Data) -> Option<Edit> {
        let _ = (kind, data);
        None
    }

    /// Returns where the agent stores the titles of its sessions, if not in the session files: the
    /// list file for the session file at `path`, and the id of that session in the list.
    fn names(&self, path: &Path) -> Option<(PathBuf, String)> {
        let _ = path;
        None
    }

    /// Parses one line of such a list: a session id, and the title of that session from this line
    /// on.
    fn named(&self, line: &str) -> Option<(String, String)> {
        let _ = line;
        None
    }

    /// Checks whether the agent gives a copied record an id different from the original's, or none.
    fn renames_copies(&self) -> bool {
        false
    }

    /// Checks whether two records of one type have the same meaning, so that one may be a copy of
    /// the other. The caller has already checked that they differ in few bytes only.
    fn says_the_same(&self, kind: &EventType, a: &Data, b: &Data) -> bool {
        self.view(kind, a) == self.view(kind, b)
    }

    /// Returns folders outside the file's own whose session files the file at `path` may continue
    /// ([`FileFacts::base`]).
    fn base_folders(&self, path: &Path) -> Vec<PathBuf> {
        let _ = path;
        Vec::new()
    }

    /// Returns the native id that the name of a session file in such a folder contains.
    fn id_in_name<'p>(&self, path: &'p Path) -> Option<&'p str> {
        let _ = path;
        None
    }

    /// Returns the path of a separate document that describes the session in the file at `path`.
    fn metadata_file(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// Parses such a document.
    fn read_metadata(&self, document: &str) -> FileFacts {
        let _ = document;
        FileFacts::default()
    }

    /// Returns the session file that a file without its own session belongs to, derived from its
    /// path: for example, of the output of a tool. Such a sidecar file is stored byte for byte with
    /// that session file.
    fn belongs_to(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// Returns the folder with the files that belong to the session file at `path`.
    fn belongings(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// Returns the writer for the agent's session files; `None` if forklore cannot write them.
    fn export(&self) -> Option<&dyn Export> {
        None
    }
}

/// The part of a conversation that a compaction of another agent replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Everything before the compaction.
    AllBefore,
    /// Everything before the record with this native id.
    Before(String),
    /// Everything before the record that has this many records before it in its file.
    BeforeIndex(u64),
    /// Everything up to and including the record with this [number](AgentFormat::number).
    Through(u64),
}

/// A change to how an earlier record is sent from this position on.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The native id of that record.
    pub target: String,
    /// Its new content, with the same role; `None` if it is no longer sent.
    pub instead: Option<Content>,
}

/// Reads the lines of one file in order, and remembers what earlier lines say about later ones.
pub trait LineReader: Send {
    /// Classifies one line. `line` begins with `{`, is UTF-8 and has no line break; bytes that were
    /// not UTF-8 have been replaced. A document is passed as one line, whatever it contains.
    fn read(&mut self, line: &str) -> Line;

    /// Returns the state that a reader of the remaining lines needs; it is stored with the source.
    fn memory(&self) -> Option<String> {
        None
    }

    /// Returns [`LineReader::memory`] as it was before the last line, in case that line is read
    /// again.
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
    /// A record about the file or about other records. It is stored with the source and is not an
    /// event.
    Side(FileFacts),
    /// Text that is not one JSON object. It is stored with the source and reported with this
    /// reason.
    Damage(String),
}

/// A text that contains records. The bytes between them are stored with the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Several {
    /// The records with their byte ranges, in the order in which to import them, which may differ
    /// from their order in the text. The ranges must not overlap.
    pub records: Vec<(Range<usize>, Record)>,
    /// What the text outside the records says about the session.
    pub facts: FileFacts,
    /// The byte offset from which the text cannot be read, and the reason.
    pub damage: Option<(usize, String)>,
}

/// What a line says about its session as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// The session's native id, if the file name does not contain it. The first value counts.
    pub native_id: Option<String>,
    /// The working directory of the agent. The first value counts.
    pub cwd: Option<String>,
    /// The session's title; empty removes the title. The last value counts. It is not serialized
    /// with the other fields, because it is text of the session and is deleted with it
    /// (docs/semantics.md, Delete, detach).
    #[serde(skip)]
    pub title: Option<String>,
    /// When the session was created. The first value counts.
    pub created: Option<Timestamp>,
    /// The path or native id of the session whose first records the file repeats. If the file names
    /// several, the first one counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<String>,
    /// The native id of the session that called it as a sub-agent. The first value counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// Where it branches off the session of another file. The first value counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// A description of something that the agent does not write this way, or of a kind that this
    /// version does not know. It is reported; the readable rest is imported nevertheless.
    #[serde(skip)]
    pub irregular: Option<String>,
}

/// The beginning of a session that is stored in another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The native id of the session in that file.
    pub native_id: String,
    /// The number after that of the last record that belongs to the beginning. Records of such
    /// files have their number as [`Record::key`].
    pub end: u64,
    /// The length of the beginning in that file, in bytes, if the line gives it.
    pub bytes: Option<u64>,
}

impl FileFacts {
    /// Merges the facts of a later line: the first value counts, except for the title, where the
    /// last one does. `irregular` is not merged.
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
        first(&mut self.base, later.base);
        if later.title.is_some() {
            self.title = later.title;
        }
    }
}

/// One event of a session file.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The record's native id.
    pub native_id: Option<String>,
    /// The key by which other records refer to it, if that is not its native id.
    pub key: Option<String>,
    /// Which record it continues.
    pub parent: Parent,
    /// When it was written, if the record says so.
    pub ts: Option<Timestamp>,
    /// The type of the event.
    pub kind: EventType,
    /// The class, which decides what forks do with the event.
    pub class: Class,
    /// How it changes open calls and turns.
    pub effect: Effect,
    /// Whether it contains only results of calls. Such a record joins the session that made the
    /// calls, whatever the record's parent is (parallel calls).
    pub only_results: bool,
    /// Whether it belongs to a sub-agent whose records are in the same file.
    pub sidechain: bool,
    /// Whether the agent would resume at it, unless a later record is a leaf too.
    pub leaf: bool,
    /// The usage that it reports, if it has no other purpose (docs/semantics.md, Types, classes,
    /// inheritance).
    pub usage: Usage,
    /// What it says about the session as a whole.
    pub facts: FileFacts,
}

impl Record {
    /// Creates a record of this type that continues the record before it, with all other fields at
    /// their defaults.
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
    /// The record before it: the file has no tree.
    Previous,
    /// No parent: it is a root of the file's tree.
    None,
    /// The latest record with this native id or this [key](Record::key).
    Id(String),
}

/// The formats that a program supports, in the order in which they are tried.
#[derive(Clone, Copy)]
pub struct AgentFormats<'a>(pub &'a [&'a dyn AgentFormat]);

impl<'a> AgentFormats<'a> {
    /// Returns the format of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&'a dyn AgentFormat> {
        self.0.iter().copied().find(|dialect| dialect.name() == name)
    }

    /// Returns the first format that recognises the file.
    #[must_use]
    pub fn detect(&self, path: &Path, head: &[u8]) -> Option<&'a dyn AgentFormat> {
        self.0.iter().copied().find(|dialect| dialect.detect(path, head))
    }

    /// Returns the agent that wrote the file, if its files are recognised but cannot be read.
    #[must_use]
    pub fn unsupported(&self, path: &Path, head: &[u8]) -> Option<&'static str> {
        self.0.iter().find_map(|dialect| dialect.lookalike(path, head))
    }
}

/// Returns the `attempt`-th candidate for the id of an imported session, without checking whether
/// the id is free. Attempt 0 is the native id; `None` if that is not a valid session id.
#[must_use]
pub fn session_id(dialect: &str, native_id: &str, attempt: usize) -> Option<SessionId> {
    if attempt == 0 {
        return native_id.parse().ok();
    }
    SessionId::derived(dialect, &[native_id, &attempt.to_string()]).ok()
}
