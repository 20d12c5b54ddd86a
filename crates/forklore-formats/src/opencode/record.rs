//! Parses a document of opencode, or a line that was generated from its database.
//!
//! A message may occur in several lines, because opencode updates the message's rows in its
//! database. An unchanged repetition becomes no event and is stored with the source. A changed
//! message becomes a branch.

use forklore_core::EventType;
use forklore_core::agent_format::{FileFacts, Line, LineReader, Parent, Record, Several};
use forklore_core::call::Effect;
use forklore_core::data::without_lone_surrogates;
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::message::{Info, MessageSummary, OwnMessage};
use crate::document::{Document, range};
use crate::history::{At, History, key};
use crate::lenient::{Object, fields};
use crate::time;

/// Reads one opencode session: the lines that forklore generates from the database, or an exported
/// document.
#[derive(Debug)]
pub(super) struct Reader {
    history: History,
}

impl Reader {
    pub(super) fn new(memory: Option<&str>) -> Self {
        Self { history: History::new(memory) }
    }

    fn line(&mut self, line: &str) -> Result<Line, String> {
        let text = without_lone_surrogates(line);
        let found = Document::read(&text, "messages");
        if found.has_list {
            return Ok(self.document(&text, &found));
        }
        let mut plainer = String::new();
        let message: OwnMessage<'_> = fields(line, &mut plainer)?;
        if let Some(deleted) = message.deleted {
            return Ok(self.deleted(deleted));
        }
        if message.is_session() {
            let revert = message.info.0.revert.0.message_id.get();
            let record = self.revert(revert);
            let facts = facts(&message.info.0);
            return Ok(record.map_or(Line::Side(facts.clone()), |record| {
                Line::Record(Box::new(Record { facts, ..record }))
            }));
        }
        let record = message.summary().and_then(|message| self.message(message));
        Ok(record.map_or(Line::Side(FileFacts::default()), |record| Line::Record(Box::new(record))))
    }

    /// Reads a message. Returns `None` if the message was read before and has not changed since.
    fn message(&mut self, message: MessageSummary) -> Option<Record> {
        let existing = message.id.as_deref().and_then(|id| self.history.in_list(id));
        let parent = match existing {
            Some(at) if self.history.fingerprint(at) == Some(message.fingerprint) => return None,
            Some(at) => self.history.parent(at),
            None => self.history.tip(),
        };
        let tip = self.history.tip();
        let record = self.add(parent, message);
        // The message changed, so the new version is a branch. The messages after the old version
        // remain the current list.
        if existing.is_some_and(|at| at != tip) {
            self.history.go_to(tip);
        }
        Some(record)
    }

    fn document(&mut self, text: &str, found: &Document<'_>) -> Line {
        let mut messages: Vec<(&RawValue, OwnMessage<'_>)> = found
            .items
            .iter()
            .filter_map(|raw| Some((*raw, serde_json::from_str(raw.get()).ok()?)))
            .collect();
        // Messages are sorted by time, because the ids restarted in August 2026 and do not
        // determine the order.
        if messages.iter().all(|(_, message)| message.info.0.time.0.created.0 > 0.0) {
            messages.sort_by(|(_, a), (_, b)| {
                let at = |message: &OwnMessage<'_>| message.info.0.time.0.created.0;
                at(a).total_cmp(&at(b)).then_with(|| a.info.0.id.get().cmp(&b.info.0.id.get()))
            });
        }
        let mut records = Vec::with_capacity(messages.len());
        for (raw, message) in &messages {
            let tip = self.history.tip();
            let range = range(text, raw.get());
            let record = message.summary().map(|message| self.add(tip, message));
            records.extend(range.zip(record));
        }
        let info = found.field("info").map(OwnMessage::of_info).unwrap_or_default().info.0;
        let index = found.field("info").and_then(|raw| {
            let fields: Object<Reverted<'_>> = serde_json::from_str(raw.get()).ok()?;
            range(text, fields.0.revert?.get())
        });
        if let Some(index) = index
            && let Some(record) = self.revert(info.revert.0.message_id.get())
        {
            records.push((index, record));
        }
        Line::Several(Several { records, facts: facts(&info), damage: found.damage.clone() })
    }

    fn add(&mut self, parent: At, message: MessageSummary) -> Record {
        let MessageSummary { id, kind, class, starts_turn, calls, ts, fingerprint } = message;
        let behind = self.history.behind(parent);
        let at = self.history.add(parent, id.as_deref().unwrap_or_default(), fingerprint);
        self.history.go_to(at);
        self.history.set_written(at);
        Record {
            native_id: id,
            key: Some(key(at)),
            class,
            effect: Effect { starts_turn, calls },
            ..new(kind, behind, ts)
        }
    }

    /// Hides the message `from` and all later messages, or restores them if `from` is `None`.
    /// Returns a record that follows the last visible message, because the agent would continue
    /// there. Returns `None` if nothing changes, or if the current conversation does not contain
    /// `from`.
    fn revert(&mut self, from: Option<&str>) -> Option<Record> {
        let (name, to) = match from {
            Some(id) => ("revert", self.history.parent(self.history.in_list(id)?)),
            None => ("unrevert", self.history.tip()),
        };
        // The same messages may have been shown and hidden again, with new ones behind them.
        let is_last = from.is_none() || self.history.written() == Some(to);
        if self.history.hidden() == from && is_last {
            return None;
        }
        self.history.hide(from.map(str::to_owned));
        Some(self.mark(name, to))
    }

    /// Removes the messages with these ids from the end of the current conversation. Returns a
    /// record that follows the last remaining message, where the agent continues. Returns no record
    /// if nothing is removed or an earlier record already shows this position.
    fn deleted(&mut self, ids: &RawValue) -> Line {
        let ids: Vec<String> = serde_json::from_str(ids.get()).unwrap_or_default();
        let hidden = self.history.hidden().filter(|id| ids.iter().any(|gone| gone == id));
        let was_hidden = hidden.is_some();
        let shown =
            hidden.and_then(|id| self.history.in_list(id)).map(|at| self.history.parent(at));
        let mut to = self.history.tip();
        while self.history.id(to).is_some_and(|id| ids.iter().any(|gone| gone == id)) {
            to = self.history.parent(to);
        }
        if to == self.history.tip() {
            return Line::Side(FileFacts::default());
        }
        self.history.go_to(to);
        if was_hidden {
            self.history.hide(None);
            // The event that hid the messages already began the branch at this position, so no
            // further event is needed unless other messages were deleted too.
            if shown.is_none_or(|shown| shown == to) {
                return Line::Side(FileFacts::default());
            }
        }
        Line::Record(Box::new(self.mark("deleted", to)))
    }

    fn mark(&mut self, name: &str, behind: At) -> Record {
        let parent = self.history.behind(behind);
        self.history.set_written(behind);
        new(EventType::extension(super::NAME, name), parent, None)
    }
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Reverted<'a> {
    #[serde(borrow)]
    revert: Option<&'a RawValue>,
}

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        self.history.begin_line();
        self.line(line).unwrap_or_else(Line::Damage)
    }

    fn memory(&self) -> Option<String> {
        self.history.memory()
    }

    fn memory_before(&self) -> Option<String> {
        self.history.memory_before()
    }
}

fn facts(info: &Info<'_>) -> FileFacts {
    FileFacts {
        native_id: info.id.to_owned(),
        cwd: info.directory.to_owned(),
        title: info.title.to_owned(),
        caller: info.parent_id.to_owned(),
        created: time::from_millis(info.time.0.created),
        ..FileFacts::default()
    }
}

fn new(kind: EventType, parent: Parent, ts: Option<Timestamp>) -> Record {
    Record { parent, ts, ..Record::of(kind) }
}
