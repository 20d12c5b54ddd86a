//! Builds an outline of the messages of a request from the events of a session. Applies
//! compactions, includes summaries and finished sub-agents, and leaves out events that the model
//! does not receive. Calls and results are paired later, in `pair_calls`.

use std::collections::BTreeMap;
use std::ops::Range;

use forklore_api::DetachedSubagent;
use forklore_core::agent_format::{Covers, Edit};
use forklore_core::{Class, Content, Event, EventId, EventType, Message, Part, Role, SessionId};
use forklore_store::port::{At, Direction, LogEntry, Query};
use serde::Deserialize;

use super::messages;
use crate::view::compacted_range;
use crate::{Engine, Result};

/// The messages of one request to a model, without their content.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) items: Vec<Item>,
    pub(super) excluded: BTreeMap<String, u64>,
    /// The model that the session's events named last; `None` if they named none. The request
    /// contains no reasoning of other models.
    pub(super) model: Option<String>,
    /// The sub-agents that ancestors started and that, as far as this history tells, have not
    /// ended.
    pub(super) detached: Vec<DetachedSubagent>,
}

/// One message of a model request without its content. States which event of the log the message
/// comes from.
#[derive(Debug)]
pub(super) struct Item {
    /// The seq of the event from which this message comes. If an event gives several messages, the
    /// field `number` is the position of this one among them, from 0.
    pub(super) seq: u64,
    pub(super) number: u32,
    /// Whether the message replaces other messages, because it belongs to a compaction or edits an
    /// earlier message. Such a message appears where the replaced messages were, not where its own
    /// event is.
    pub(super) instead: bool,
    /// If this message is an edit that replaces an earlier message: the seq of that earlier
    /// message.
    edits: Option<u64>,
    /// The conversation index of the message: its position among the conversation events, from 0.
    /// `None` if the message comes from an event of another class.
    pub(super) index: Option<u64>,
    /// The type of the event from which this message comes.
    kind: EventType,
    pub(super) role: Role,
    /// Whether this message starts a turn of the conversation.
    pub(super) starts_turn: bool,
    /// Whether no part of the message remains after the removal of the tool results that match no
    /// open call.
    pub(super) emptied: bool,
    /// The parts of the message that the request sends; `None` if the content is plain text.
    pub(super) parts: Option<Vec<Sketch>>,
}

/// The messages that a compaction replaces, in one of two forms.
#[derive(Debug)]
enum Covered {
    /// The messages whose conversation indexes are in this range. Compactions in forklore's own
    /// form state such a range.
    Indexes(Range<u64>),
    /// The first messages of the history; the field is their number. A compaction in the form of
    /// another agent has no index range.
    First(usize),
}

impl Covered {
    fn holds(&self, at: usize, item: &Item) -> bool {
        match self {
            Self::Indexes(indexes) => item.index.is_some_and(|index| indexes.contains(&index)),
            Self::First(count) => at < *count,
        }
    }

    /// Checks whether the item precedes the compaction's messages in the outline. It does if the
    /// compaction does not cover the item, and the item's conversation index is absent or below the
    /// end of the covered range. `at` is the item's position in the outline.
    fn begins_behind(&self, at: usize, item: &Item) -> bool {
        match self {
            Self::Indexes(indexes) => !self.holds(at, item) && item.index < Some(indexes.end),
            Self::First(_) => false,
        }
    }
}

/// A part of a message, such as a tool call or its result, without its content.
#[derive(Debug)]
pub(super) struct Sketch {
    /// The position of the part in its message, from 0.
    pub(super) at: usize,
    pub(super) what: What,
}

/// The kind of a message part, with the facts that decide whether the part is sent to the model.
#[derive(Debug)]
pub(super) enum What {
    Call { id: Box<str>, answered: bool },
    Result { call: Box<str>, synthetic: bool },
    Reasoning { model: Option<Box<str>> },
    Other,
}

impl Outline {
    pub(super) fn add(
        &mut self,
        engine: &Engine,
        session: &SessionId,
        stored: &LogEntry,
    ) -> Result<()> {
        let event = &stored.event;
        self.note_model(event);
        self.note_subagent(session, stored);
        let messages = messages::of_event(engine, event);
        if event.class == Class::Context && event.kind == EventType::HISTORY_COMPACTION {
            match self.covered(engine, session, stored)? {
                Some(covered) => self.compact(stored.seq, &messages, &covered),
                None => self.exclude(event.kind.as_str()),
            }
            return Ok(());
        }
        if let Some(edit) = engine.edit(event) {
            return self.edit(engine, session, stored, edit);
        }
        if messages.is_empty() {
            self.exclude(event.kind.as_str());
        }
        let conversation = event.class.is_conversation();
        let index = conversation.then(|| stored.counts.index.saturating_sub(1));
        for (number, message) in (0..).zip(&messages) {
            let starts_turn = event.effect.starts_turn;
            let item = Item::of(message, &event.kind, (stored.seq, number), index);
            self.items.push(Item { starts_turn, ..item });
        }
        Ok(())
    }

    pub(super) fn exclude(&mut self, kind: &str) {
        *self.excluded.entry(kind.to_owned()).or_default() += 1;
    }

    /// Applies an edit: a record of another agent that replaces or removes an earlier message. A
    /// replacement appears at the position of the earlier message.
    fn edit(
        &mut self,
        engine: &Engine,
        session: &SessionId,
        stored: &LogEntry,
        edit: Edit,
    ) -> Result<()> {
        let target = self.seq_of(engine, session, &edit.target, stored.seq)?;
        let is_target = |item: &Item| target == Some(item.edits.unwrap_or(item.seq));
        let index = self.items.iter().position(|item| !item.covers() && is_target(item));
        let Some(index) = index else {
            self.exclude(stored.event.kind.as_str());
            return Ok(());
        };
        let Some(content) = edit.instead else {
            let gone = self.items.remove(index);
            self.exclude(gone.kind.as_str());
            return Ok(());
        };
        if let Some(item) = self.items.get_mut(index) {
            let edited = Message { role: item.role, content };
            let (index, starts_turn) = (item.index, item.starts_turn);
            let kind = &stored.event.kind;
            let new = Item::of(&edited, kind, (stored.seq, 0), index);
            *item = Item { instead: true, edits: target, starts_turn, ..new };
        }
        Ok(())
    }

    /// Determines which of the preceding messages a compaction covers. Returns `None` if the
    /// payload of the compaction does not state that.
    fn covered(
        &self,
        engine: &Engine,
        session: &SessionId,
        stored: &LogEntry,
    ) -> Result<Option<Covered>> {
        let event = &stored.event;
        let Some(name) = &event.dialect else {
            return Ok(compacted_range(&event.data).map(Covered::Indexes));
        };
        let dialect = engine.agent_formats().named(name);
        Ok(match dialect.and_then(|dialect| dialect.compaction(&event.data)) {
            None => None,
            Some(Covers::AllBefore) => Some(Covered::First(self.items.len())),
            Some(Covers::Before(id)) => {
                let first_retained = self.seq_of(engine, session, &id, stored.seq)?;
                Some(self.covered_before(first_retained))
            }
            Some(Covers::After(id)) => {
                let last_covered = self.seq_of(engine, session, &id, stored.seq)?;
                Some(self.covered_before(last_covered.map(|last| last.saturating_add(1))))
            }
            Some(Covers::BeforeIndex(location)) => {
                // In the session that first wrote the records, the seq of a record equals its
                // position in the imported file.
                let is_retained = |stored: &LogEntry| stored.origin.seq >= location;
                Some(Covered::First(self.inherited_from(engine, session, &is_retained)?))
            }
            Some(Covers::Through(last)) => {
                let is_retained = |stored: &LogEntry| {
                    let data = &stored.event.data;
                    let number = dialect.and_then(|dialect| {
                        let number = dialect.number(data)?;
                        let is_here = dialect.are_numbered_together(data, &event.data);
                        Some(if is_here { number } else { stored.seq })
                    });
                    number.is_none_or(|number| number > last)
                };
                Some(Covered::First(self.inherited_from(engine, session, &is_retained)?))
            }
        })
    }

    /// Returns the messages before the first event that a compaction retains. Without such an
    /// event, returns all messages.
    fn covered_before(&self, first_retained: Option<u64>) -> Covered {
        let index = self.items.iter().position(|item| {
            !item.instead && first_retained.is_some_and(|retained| item.seq >= retained)
        });
        Covered::First(index.unwrap_or(self.items.len()))
    }

    /// Returns the lowest position in the outline from which on `is_inherited` accepts the event of
    /// every item. Returns the end of the outline if `is_inherited` does not accept the last item's
    /// event. Ignores items that replace others. Searches backwards from the end; few items are
    /// accepted, so one read per item is fast enough.
    fn inherited_from(
        &self,
        engine: &Engine,
        session: &SessionId,
        is_inherited: &dyn Fn(&LogEntry) -> bool,
    ) -> Result<usize> {
        let mut from = self.items.len();
        let visible = self.items.iter().enumerate().rev().filter(|(_, item)| !item.instead);
        for (at, item) in visible {
            let at_item = At::Seq(item.seq);
            let query = Query { at: at_item, direction: Direction::Forward, limit: 1, bare: false };
            let found = engine.store().read(session, &query)?.events;
            if !found.first().is_some_and(is_inherited) {
                break;
            }
            from = at;
        }
        Ok(from)
    }

    /// Removes the items of the messages that a compaction covers. Inserts in their place the items
    /// of `messages`, the messages that the compaction contains.
    fn compact(&mut self, seq: u64, messages: &[Message], covered: &Covered) {
        let mut items = std::mem::take(&mut self.items).into_iter().enumerate().peekable();
        while let Some((_, item)) = items.next_if(|(at, item)| covered.begins_behind(*at, item)) {
            self.items.push(item);
        }
        let index = match covered {
            Covered::Indexes(indexes) => indexes.start,
            Covered::First(_) => 0,
        };
        self.items.extend((0..).zip(messages).map(|(number, message)| {
            let kind = &EventType::HISTORY_COMPACTION;
            let item = Item::of(message, kind, (seq, number), Some(index));
            Item { instead: true, ..item }
        }));
        for (at, item) in items {
            if covered.holds(at, &item) {
                self.exclude(item.kind.as_str());
            } else {
                self.items.push(item);
            }
        }
    }

    /// Returns the seq of the last event before `seq` whose event id is `id`, or `None` if there is
    /// none.
    fn seq_of(
        &self,
        engine: &Engine,
        session: &SessionId,
        id: &str,
        seq: u64,
    ) -> Result<Option<u64>> {
        let Ok(id) = id.parse::<EventId>() else { return Ok(None) };
        let query =
            Query { at: At::Id(id), direction: Direction::Forward, limit: 10_000, bare: true };
        let found = engine.store().read(session, &query)?.events;
        Ok(found.iter().rev().map(|stored| stored.seq).find(|found| *found < seq))
    }

    /// Adds to `detached` a running sub-agent that an ancestor of `session` started, and removes it
    /// when an event reports its end. The sub-agent belongs to the ancestor: the session never
    /// waits for it.
    fn note_subagent(&mut self, session: &SessionId, stored: &LogEntry) {
        #[derive(Deserialize)]
        struct Subagent {
            session_id: SessionId,
            status: String,
        }
        if stored.event.kind != EventType::SUBAGENT_EVENT {
            return;
        }
        let Ok(Subagent { session_id, status }) = stored.event.data.read() else { return };
        self.detached.retain(|detached| detached.session_id != session_id);
        let owner = &stored.origin.session_id;
        if status == "running" && owner != session {
            let owner_session_id = owner.clone();
            let seq = stored.seq;
            self.detached.push(DetachedSubagent { session_id, owner_session_id, seq });
        }
    }

    fn note_model(&mut self, event: &Event) {
        #[derive(Deserialize)]
        struct Named {
            model: Option<String>,
        }
        let names_one =
            event.kind == EventType::REASONING || event.kind == EventType::PROVIDER_USAGE;
        if names_one && let Ok(Named { model: Some(model) }) = event.data.read() {
            self.model = Some(model);
        }
    }
}

impl Item {
    fn of(
        message: &Message,
        kind: &EventType,
        (seq, number): (u64, u32),
        index: Option<u64>,
    ) -> Self {
        let parts = match &message.content {
            Content::Text(_) => None,
            Content::Parts(parts) => Some(parts.iter().enumerate().map(Sketch::of).collect()),
        };
        let (kind, role) = (kind.clone(), message.role);
        let (instead, starts_turn, emptied) = (false, false, false);
        Self { seq, number, instead, edits: None, index, kind, role, starts_turn, emptied, parts }
    }

    /// Checks whether a compaction put this item, such as its summary, in place of other messages.
    /// An item with `edits` stands in place of another message too, but comes from an edit.
    fn covers(&self) -> bool {
        self.instead && self.edits.is_none()
    }
}

impl Sketch {
    fn of((at, part): (usize, &Part)) -> Self {
        let what = match part {
            Part::ToolCall { id, .. } => What::Call { id: id.as_str().into(), answered: false },
            Part::ToolResult { call_id, synthetic, .. } => {
                What::Result { call: call_id.as_str().into(), synthetic: *synthetic }
            }
            Part::Reasoning { model, .. } => {
                What::Reasoning { model: model.as_deref().map(Into::into) }
            }
            Part::Text { .. } | Part::Attachment { .. } | Part::Other { .. } => What::Other,
        };
        Self { at, what }
    }
}
