//! Parses the lines of a Codex file. This is the hot path of an import: each line is parsed once,
//! and only the required values are built.

use std::borrow::Cow;
use std::path::Path;

use forklore_core::Usage;
use forklore_core::agent_format::{Base, FileFacts, Line, LineReader, Parent, Record, Several};
use forklore_core::data::without_lone_surrogates;
use forklore_core::{Class, Effect, EventType};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fields::{Fields, Item, Subagent};
use super::name;
use super::sort::{self, Sorted};
use super::usage::{self, Total};
use crate::document::{Document, range};
use crate::lenient::{Object, Text, fields};
use crate::time;

/// Maximum number of turns whose starts are stored. A rollback (return to the start of an earlier
/// turn) can go back at most to the oldest of these turns.
const TURNS: usize = 4_096;
/// Maximum number of characters of an unexpected value that a problem message shows.
const SHOWN: usize = 40;

/// Reads the lines of one Codex session file.
#[derive(Debug)]
pub(super) struct Reader {
    ids: Option<Ids>,
    /// Whether the file is one JSON document, as the first versions of Codex wrote it.
    is_document: bool,
    counts: Counts,
    turns: Vec<u64>,
    undo: Undo,
}

/// The ids in the name of a Codex session file: of the conversation and of the file.
#[derive(Debug)]
struct Ids {
    thread: String,
    file: String,
}

/// What the reader remembers of the lines that it has read. A record's number is its ordinal. If
/// the file has no ordinals, it is the record's position among the records of the file, counted
/// from 0.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Counts {
    /// Whether the header was read. Also true if the file begins with another record, and this
    /// record was read.
    #[serde(rename = "told")]
    header_read: bool,
    /// The session's start time, which the header contains. Lines without an envelope have no time
    /// of their own and get this one.
    begun: Option<Timestamp>,
    /// Whether the file's records have ordinals (running numbers that Codex writes).
    ordinals: bool,
    /// The number of the record that was read last, plus 1; 0 before the first record.
    next: u64,
    /// The number of the first record of the running task. `None` if no task runs, or if a turn has
    /// already begun in the task.
    before_task: Option<u64>,
    /// The last rollback (return of the conversation to an earlier record). The first value is the
    /// number of the first record after the rollback. The second is the number of the record to
    /// which the conversation went back, plus 1.
    resumed: Option<(u64, u64)>,
    /// The session's total usage, as the last usage record that was read states it.
    #[serde(rename = "spent")]
    usage: Option<Total>,
}

/// The reader's state as it is stored between imports. For each turn that was not rolled back,
/// `turns` has the number of the last record before the turn, plus 1.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Memory<'a> {
    #[serde(flatten)]
    counts: Counts,
    turns: Cow<'a, [u64]>,
}

/// The state of the reader before the last line. If the line changed the list of turns, `turns` has
/// the number of unchanged turns, and the earlier turns that followed them.
#[derive(Debug, Default)]
struct Undo {
    counts: Counts,
    turns: Option<(usize, Vec<u64>)>,
}

impl Reader {
    pub(super) fn new(path: &Path, memory: Option<&str>) -> Self {
        let ids = name::rollout(path)
            .map(|ids| Ids { thread: ids.thread.to_owned(), file: ids.file.to_owned() });
        let memory = memory.and_then(|text| serde_json::from_str::<Memory<'_>>(text).ok());
        let Memory { counts, turns } = memory.unwrap_or_default();
        let is_document = name::is_document(path);
        Self { ids, is_document, counts, turns: turns.into_owned(), undo: Undo::default() }
    }

    fn line(&mut self, line: &Fields<'_>) -> Line {
        let item = &line.payload.0;
        match line.kind.get() {
            Some("session_meta") => Line::Side(self.meta(item, &line.payload.0.timestamp)),
            // The header of a file without envelopes.
            None if line.id.get().is_some() => {
                let bare = Item { id: line.id.clone(), ..Item::default() };
                Line::Side(self.meta(&bare, &line.timestamp))
            }
            None => Line::Side(FileFacts::default()),
            Some(kind) => {
                let (sorted, usage) = self.sort(kind, item);
                Line::Record(Box::new(self.record(sorted, usage, line, item)))
            }
        }
    }

    fn sort(&mut self, kind: &str, item: &Item<'_>) -> (Sorted, Usage) {
        let usage = match kind {
            "response_item" => return (sort::item(item), Usage::default()),
            "compacted" => {
                let compaction = sort::own(EventType::HISTORY_COMPACTION, Effect::default());
                return (compaction, Usage::default());
            }
            "event_msg" if item.kind.is("token_count") => {
                usage::by_total(&mut self.counts.usage, &item.info.0)
            }
            "event_msg" => return (sort::event(item.kind.get()), Usage::default()),
            "token_usage_record" => {
                let thread = item.thread_token_usage.as_ref().map(|tokens| tokens.0);
                usage::by_call(&mut self.counts.usage, item.usage.0, thread)
            }
            kind => return (sort::other(kind), Usage::default()),
        };
        let name = item.kind.get().unwrap_or(kind);
        match usage {
            Some(usage) => (sort::own(EventType::PROVIDER_USAGE, Effect::default()), usage),
            // The record repeats usage that was counted already.
            None => (sort::extension(name, Class::Audit), Usage::default()),
        }
    }

    /// Reads the facts in a header line. The first header describes the session of this file. A
    /// later header was copied with the records of another session, and names that session.
    fn meta(&mut self, item: &Item<'_>, created: &Text<'_>) -> FileFacts {
        if std::mem::replace(&mut self.counts.header_read, true) {
            return FileFacts { copied_from: item.id.to_owned(), ..FileFacts::default() };
        }
        let ids = self.ids.as_ref();
        let base = &item.history_base.0;
        let base = base.thread_id.to_owned().map(|native_id| Base {
            native_id,
            end: base.end_ordinal_exclusive.0.unwrap_or_default(),
            after: None,
            bytes: base.end_byte_offset.0,
        });
        self.counts.begun = time::from_text(created);
        FileFacts {
            native_id: ids.map(|ids| ids.file.clone()).or_else(|| item.id.to_owned()),
            cwd: item.cwd.to_owned(),
            created: self.counts.begun,
            copied_from: item.forked_from_id.to_owned().filter(|_| base.is_none()),
            caller: caller(item),
            leaf_of: ids.filter(|ids| ids.thread != ids.file).map(|ids| ids.thread.clone()),
            base,
            irregular: irregular(item, ids),
            ..FileFacts::default()
        }
    }

    /// Reads a document: the header in `session`, and the items without envelopes in `items`.
    fn document(&mut self, text: &str) -> Line {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Session<'a> {
            #[serde(borrow)]
            id: Text<'a>,
            #[serde(borrow)]
            timestamp: Text<'a>,
            #[serde(borrow)]
            cwd: Text<'a>,
        }
        let text = &*without_lone_surrogates(text);
        let mut found = Document::read(text, "items");
        let Object(session) = found
            .field("session")
            .and_then(|raw| serde_json::from_str::<Object<Session<'_>>>(raw.get()).ok())
            .unwrap_or_default();
        self.counts.header_read = true;
        self.counts.begun = time::from_text(&session.timestamp);
        let mut records = Vec::new();
        for raw in &found.items {
            let Ok(Object(item)) = serde_json::from_str::<Object<Item<'_>>>(raw.get()) else {
                continue;
            };
            if item.kind.get().is_none() && item.role.get().is_none() {
                continue;
            }
            let record = self.bare(&item);
            records.extend(range(text, raw.get()).map(|range| (range, record)));
        }
        let facts = FileFacts {
            native_id: session.id.to_owned(),
            cwd: session.cwd.to_owned(),
            created: self.counts.begun,
            ..FileFacts::default()
        };
        Line::Several(Several { records, facts, damage: found.damage.take() })
    }

    /// Converts a line without an envelope (time and type around a payload) to a record. Codex
    /// wrote such lines in early 2025.
    fn bare(&mut self, item: &Item<'_>) -> Record {
        let ts = self.counts.begun;
        let record = self.record(sort::item(item), Usage::default(), &Fields::default(), item);
        Record { ts, ..record }
    }

    fn record(
        &mut self,
        (kind, class, effect): Sorted,
        usage: Usage,
        line: &Fields<'_>,
        item: &Item<'_>,
    ) -> Record {
        let event = if line.kind.is("event_msg") { item.kind.get() } else { None };
        let parent = match event {
            Some("thread_rolled_back") => self.rolled_back(item.num_turns.count()),
            _ => Parent::Previous,
        };
        if matches!(event, Some("task_started" | "turn_started")) {
            self.counts.before_task = Some(self.counts.next);
        }
        if effect.starts_turn {
            self.begin_turn();
        }
        let (key, strange) = self.number(line.ordinal.0);
        Record {
            key,
            parent,
            ts: time::from_text(&line.timestamp),
            class,
            effect,
            usage,
            facts: self.facts_once(strange),
            ..Record::of(kind)
        }
    }

    /// Returns the number by which other records refer to this record, and a problem message if its
    /// ordinal is irregular. A record with a repeated ordinal gets no number, because references
    /// mean the earlier record with that ordinal.
    fn number(&mut self, ordinal: Option<u64>) -> (Option<String>, Option<String>) {
        let counts = &mut self.counts;
        let number = match ordinal {
            Some(ordinal) => {
                counts.ordinals = true;
                ordinal
            }
            None if counts.ordinals => return (None, None),
            None => counts.next,
        };
        if number < counts.next {
            let strange = format!("the ordinal {number} comes again");
            return (None, Some(strange));
        }
        counts.next = number.saturating_add(1);
        (Some(number.to_string()), None)
    }

    /// Records the start of a turn. A turn begins with the first record of its task, which precedes
    /// the user message. It begins with the user message if no task runs, or if the task already
    /// has a turn. The first turn of a session also begins with the user message, so that a
    /// rollback of this turn does not remove the records before the message.
    fn begin_turn(&mut self) {
        let task = self.counts.before_task.take().filter(|_| !self.turns.is_empty());
        if self.turns.len() >= TURNS {
            self.undo.turns = Some((0, self.turns.clone()));
            self.turns.remove(0);
        } else {
            self.undo.turns = Some((self.turns.len(), Vec::new()));
        }
        let before = task.unwrap_or(self.counts.next);
        // A turn directly after a rollback begins where the rollback went back to. A rollback of
        // this turn then returns to that position and not to the end of the abandoned turn.
        let resumed = self.counts.resumed.filter(|(behind, _)| *behind == before);
        self.turns.push(resumed.map_or(before, |(_, before)| before));
    }

    /// Forgets the last `turns` turns, because the agent rolled them back. Returns a reference to
    /// the last record before these turns.
    fn rolled_back(&mut self, turns: u64) -> Parent {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let remaining = self.turns.len().saturating_sub(turns);
        let Some(before) = self.turns.get(remaining).copied() else { return Parent::Previous };
        self.undo.turns = Some((remaining, self.turns.split_off(remaining)));
        self.counts.before_task = None;
        self.counts.resumed = Some((self.counts.next.saturating_add(1), before));
        match before.checked_sub(1) {
            Some(number) => Parent::Id(number.to_string()),
            None => Parent::None,
        }
    }

    /// Returns the facts for a record. If the record is the first of a file without a header, they
    /// include the native id (the agent's own session id) from the file name.
    fn facts_once(&mut self, irregular: Option<String>) -> FileFacts {
        if std::mem::replace(&mut self.counts.header_read, true) {
            return FileFacts { irregular, ..FileFacts::default() };
        }
        let lost = "the file does not begin with whose session it is";
        FileFacts {
            native_id: self.ids.as_ref().map(|ids| ids.file.clone()),
            irregular: Some(lost.to_owned()),
            ..FileFacts::default()
        }
    }
}

impl LineReader for Reader {
    fn read(&mut self, text: &str) -> Line {
        self.undo = Undo { counts: self.counts, turns: None };
        if self.is_document {
            return self.document(text);
        }
        let line = match fields::<Fields<'_>>(text, &mut String::new()) {
            Ok(line) if line.kind.get().is_some_and(sort::is_item) => None,
            Ok(line) => Some(self.line(&line)),
            Err(why) => Some(Line::Damage(why)),
        };
        line.unwrap_or_else(|| match fields::<Item<'_>>(text, &mut String::new()) {
            Ok(item) => Line::Record(Box::new(self.bare(&item))),
            Err(why) => Line::Damage(why),
        })
    }

    fn memory(&self) -> Option<String> {
        let turns = Cow::Borrowed(self.turns.as_slice());
        serde_json::to_string(&Memory { counts: self.counts, turns }).ok()
    }

    fn memory_before(&self) -> Option<String> {
        let turns = match &self.undo.turns {
            Some((stored, behind)) => [self.turns.get(..*stored)?, behind].concat().into(),
            None => Cow::Borrowed(self.turns.as_slice()),
        };
        serde_json::to_string(&Memory { counts: self.undo.counts, turns }).ok()
    }
}

/// Returns the id of the conversation that started this session, if it is a sub-agent's session.
fn caller(item: &Item<'_>) -> Option<String> {
    let subagent = item.source.0.subagent.filter(|raw| raw.get() != "null");
    let spawned = || -> Option<String> {
        let subagent: Subagent<'_> = serde_json::from_str(subagent?.get()).ok()?;
        subagent.thread_spawn.0.parent_thread_id.to_owned()
    };
    // The header of a built-in sub-agent, such as a review, names only the conversation that it
    // belongs to.
    let of_conversation =
        || item.session_id.to_owned().filter(|id| subagent.is_some() && !item.id.is(id));
    spawned().or_else(|| item.parent_thread_id.to_owned()).or_else(of_conversation)
}

/// Returns a problem message if a header is irregular. A header is irregular if its history mode is
/// unknown, or if its session id differs from the one in the file name.
fn irregular(item: &Item<'_>, ids: Option<&Ids>) -> Option<String> {
    let shown = |text: &str| text.chars().take(SHOWN).collect::<String>();
    if let Some(mode) = item.history_mode.get()
        && !matches!(mode, "legacy" | "paginated")
    {
        return Some(format!("the history mode {:?} is not known", shown(mode)));
    }
    let (ids, id) = (ids?, item.id.get()?);
    let other = ids.thread != id;
    other.then(|| format!("the file says that it is of session {:?}", shown(id)))
}
