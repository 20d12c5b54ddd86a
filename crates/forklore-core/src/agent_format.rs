//! What forklore asks of the session files of one agent (SPEC 11).
//!
//! A record is stored byte for byte; its dialect says what it is when it is read in, and shows it
//! as a message when somebody asks. A later version of a dialect may show a record differently,
//! but never changes what was fixed when it was stored.

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

/// The session files of one agent.
pub trait AgentFormat: Send + Sync {
    /// The name kept with each event, like `claude`.
    fn name(&self) -> &'static str;

    /// Whether a file with this path and beginning looks like one of the agent's.
    fn detect(&self, path: &Path, head: &[u8]) -> bool;

    /// The other agent that wrote a file with this path and beginning, where its files look like
    /// this agent's and cannot be read.
    fn lookalike(&self, path: &Path, head: &[u8]) -> Option<&'static str> {
        let _ = (path, head);
        None
    }

    /// Whether a file in a folder may be the agent's, by its name alone.
    fn may_own(&self, path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl"))
    }

    /// Whether a file that the dialect recognises is one JSON document rather than lines. It is
    /// read whole, as one [`Line::Several`].
    fn is_document(&self, path: &Path, head: &[u8]) -> bool {
        let _ = (path, head);
        false
    }

    /// A reader for one file: at its beginning, or where an earlier reader stopped that left
    /// this [`LineReader::memory`].
    fn reader(&self, path: &Path, memory: Option<&str>) -> Box<dyn LineReader>;

    /// A stored record as a message; none when it is no part of the conversation. A compaction
    /// and a branch summary read as what the model gets to see at their place.
    fn view(&self, kind: &EventType, data: &Data) -> Option<Message>;

    /// What a stored record says a call of a model cost, where its [`Record::usage`] did not say
    /// it when it was read.
    fn call_usage(&self, kind: &EventType, data: &Data) -> Option<CallUsage> {
        let _ = (kind, data);
        None
    }

    /// The model that a stored record says is asked from then on, where calls do not name theirs.
    fn model_of_turn(&self, kind: &EventType, data: &Data) -> Option<String> {
        let _ = (kind, data);
        None
    }

    /// What a stored `history_compaction` stands in for; its view is what is put there.
    fn compaction(&self, data: &Data) -> Option<Covers> {
        let _ = data;
        None
    }

    /// The number that a stored record has in its file, where compactions go by it.
    fn number(&self, data: &Data) -> Option<u64> {
        let _ = data;
        None
    }

    /// What the model sees in place of what a stored `history_compaction` covers.
    fn instead(&self, data: &Data) -> Vec<Message> {
        self.view(&EventType::HISTORY_COMPACTION, data).into_iter().collect()
    }

    /// What a stored record changes about how an earlier one is sent; the last such record counts.
    fn edit(&self, kind: &EventType, data: &Data) -> Option<Edit> {
        let _ = (kind, data);
        None
    }

    /// Where the agent keeps what it calls its sessions, if not in the session files themselves:
    /// the list that goes with the file at `path`, and the id of the file's session in it.
    fn names(&self, path: &Path) -> Option<(PathBuf, String)> {
        let _ = path;
        None
    }

    /// What one line of such a list says: an id, and what its session is called from then on.
    fn named(&self, line: &str) -> Option<(String, String)> {
        let _ = line;
        None
    }

    /// Whether copies of records do not have the ids of their originals: the agent gives them
    /// others, or none.
    fn renames_copies(&self) -> bool {
        false
    }

    /// Whether two records of one type say the same, so that one may be a copy of the other. What
    /// differs between them is short.
    fn says_the_same(&self, kind: &EventType, a: &Data, b: &Data) -> bool {
        self.view(kind, a) == self.view(kind, b)
    }

    /// Folders outside its own with session files that the file at `path` may continue
    /// ([`FileFacts::base`]).
    fn base_folders(&self, path: &Path) -> Vec<PathBuf> {
        let _ = path;
        Vec::new()
    }

    /// The native id that the name of a session file in such a folder gives.
    fn id_in_name<'p>(&self, path: &'p Path) -> Option<&'p str> {
        let _ = path;
        None
    }

    /// A document in which the agent tells of the session in the file at `path`, apart from it.
    fn metadata_file(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// What such a document tells.
    fn read_metadata(&self, document: &str) -> FileFacts {
        let _ = document;
        FileFacts::default()
    }

    /// The session file that a file without a session of its own belongs to, by its path: the
    /// output of a tool, say. Such files are kept byte for byte beside that one.
    fn belongs_to(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// The folder in which files lie that belong to the session file at `path`.
    fn belongings(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// How the agent's session files are written; none when forklore cannot.
    fn export(&self) -> Option<&dyn Export> {
        None
    }
}

/// The part of a conversation that a compaction of another agent stands in for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Everything before the compaction.
    AllBefore,
    /// Everything before the record of this native id.
    Before(String),
    /// Everything before the record that stands behind so many others in its file.
    BeforeIndex(u64),
    /// Everything up to and with the record of this [number](AgentFormat::number).
    Through(u64),
}

/// How an earlier record is sent from here on.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The native id of that record.
    pub target: String,
    /// What it says now, its speaker being the same; nothing is sent of it where this is none.
    pub instead: Option<Content>,
}

/// Reads the lines of one file in order. It holds what earlier lines said about later ones.
pub trait LineReader: Send {
    /// What one line is. `line` begins with `{`, is UTF-8 and has no line break; bytes that were
    /// not UTF-8 have been replaced. A document comes as one line, whatever is in it.
    fn read(&mut self, line: &str) -> Line;

    /// What a reader of the lines still to come must know; kept with the source.
    fn memory(&self) -> Option<String> {
        None
    }

    /// The same as of before the line that was read last, should it have to be read once more.
    fn memory_before(&self) -> Option<String> {
        self.memory()
    }
}

/// What one line of a session file is.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// An event.
    Record(Box<Record>),
    /// Events that stand inside it, as those of a document do.
    Several(Several),
    /// A record about the file or about other records: kept with the source, no event.
    Side(FileFacts),
    /// Not one JSON object: kept with the source and reported, with the reason.
    Damage(String),
}

/// A text that holds records. What stands between them is kept with the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Several {
    /// Its records, in the order in which they are to be taken, which need not be that of the
    /// text: each with the bytes that it is. None may overlap another.
    pub records: Vec<(Range<usize>, Record)>,
    /// What the rest of it tells.
    pub facts: FileFacts,
    /// From where on it cannot be read, and why.
    pub damage: Option<(usize, String)>,
}

/// What a line tells about its session as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// The session's native id, where the file name does not tell it. The first one counts.
    pub native_id: Option<String>,
    /// The folder the agent worked in. The first one counts.
    pub cwd: Option<String>,
    /// What the session is called; empty for no longer anything. The last one counts. Not kept
    /// with the others: it is a text of the session, and goes with it (SPEC 10).
    #[serde(skip)]
    pub title: Option<String>,
    /// When it was made. The first one counts.
    pub created: Option<Timestamp>,
    /// The path or the native id of the session that its beginning was copied from. The first one
    /// counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<String>,
    /// The native id of the session that called it as a sub-agent. The first one counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// Where it begins inside the session of another file. The first one counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// What is not as the agent writes it, or of a kind that this version does not know. It is
    /// reported; what can be read is read all the same.
    #[serde(skip)]
    pub irregular: Option<String>,
}

/// The beginning of a session that stands in another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The native id of that file's session.
    pub native_id: String,
    /// The number behind that of the last record that belongs to the beginning. Records of such
    /// files have their numbers as [`Record::key`].
    pub end: u64,
    /// How many bytes of that file the beginning is, where that is told.
    pub bytes: Option<u64>,
}

impl FileFacts {
    /// Adds what a later line tells.
    pub fn learn(&mut self, later: Self) {
        fn first<T>(known: &mut Option<T>, later: Option<T>) {
            if known.is_none() {
                *known = later;
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
    /// How other records refer to it, where that is not by its native id.
    pub key: Option<String>,
    /// Which record it continues.
    pub parent: Parent,
    /// When it was written, if it says so.
    pub ts: Option<Timestamp>,
    /// What it is.
    pub kind: EventType,
    /// What forks do with it.
    pub class: Class,
    /// What it does to calls and turns.
    pub effect: Effect,
    /// Whether it is nothing but results of calls, which join the session that made the calls
    /// wherever the record's parent stands (parallel calls).
    pub only_results: bool,
    /// Whether it belongs to a sub-agent whose records stand in the same file.
    pub sidechain: bool,
    /// Whether the agent would resume at it, should no later record say so too.
    pub leaf: bool,
    /// What it says was spent, where that is all it is about (SPEC 3).
    pub usage: Usage,
    /// What it tells of the session as a whole.
    pub facts: FileFacts,
}

impl Record {
    /// A record of this kind that continues the one before it and says nothing else.
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

/// Which record another continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent {
    /// The record before it: the file has no tree.
    Previous,
    /// None: it is a root of the file's tree.
    None,
    /// The latest record of this native id, or of this [key](Record::key).
    Id(String),
}

/// The dialects a program knows, asked in order.
#[derive(Clone, Copy)]
pub struct AgentFormats<'a>(pub &'a [&'a dyn AgentFormat]);

impl<'a> AgentFormats<'a> {
    /// The dialect of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&'a dyn AgentFormat> {
        self.0.iter().copied().find(|dialect| dialect.name() == name)
    }

    /// The first dialect that recognises the file.
    #[must_use]
    pub fn detect(&self, path: &Path, head: &[u8]) -> Option<&'a dyn AgentFormat> {
        self.0.iter().copied().find(|dialect| dialect.detect(path, head))
    }

    /// The agent that wrote the file, where that is one whose files are recognised but not read.
    #[must_use]
    pub fn unsupported(&self, path: &Path, head: &[u8]) -> Option<&'static str> {
        self.0.iter().find_map(|dialect| dialect.lookalike(path, head))
    }
}

/// The id of the session read from a file, before anything about it is known to be taken.
#[must_use]
pub fn session_id(dialect: &str, native_id: &str, attempt: usize) -> Option<SessionId> {
    if attempt == 0 {
        return native_id.parse().ok();
    }
    SessionId::derived(dialect, &[native_id, &attempt.to_string()]).ok()
}
