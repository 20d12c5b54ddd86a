//! Converts events to the entries of the reader. A result appears with its call.

use std::collections::HashMap;

use forklore_core::describe::Describer;
use forklore_core::{Content, Event, EventType, Header, OpenCalls, Part, Role, SessionId};
use forklore_engine::Engine;
use forklore_page::{Block, Source, ToolOutput, shown_type};
use forklore_store::port::LogEntry;
use jiff::Timestamp;

use crate::recorded::State;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message.
    Message(Role),
    /// A compaction: the model goes on with this instead of what is before it.
    Compaction,
    /// A summary of a branch.
    Summary,
    /// An event that cannot be read.
    Damaged,
}

/// An event of a session, as the reader shows it.
pub(crate) struct Entry {
    pub(crate) seq: u64,
    /// The log positions of further events that the entry shows: the results of its calls.
    pub(crate) also: Vec<u64>,
    /// The number of inheritable events up to the entry's last event. It is the same in all branches
    /// that share the event.
    pub(crate) ordinal: u64,
    pub(crate) turn: u64,
    pub(crate) starts_turn: bool,
    pub(crate) ts: Option<Timestamp>,
    pub(crate) kind: Kind,
    /// The session that wrote the event. `None` if the event cannot be read.
    pub(crate) writer: Option<SessionId>,
    pub(crate) partial: bool,
    pub(crate) blocks: Vec<Block>,
    /// The states of files that were recorded after it, and before the next entry.
    pub(crate) states: Vec<State>,
}

impl Entry {
    /// Checks whether the entry shows the event at this log position.
    pub(crate) fn has(&self, seq: u64) -> bool {
        self.seq == seq || self.also.contains(&seq)
    }

    /// Returns the log position of the last event that the entry shows.
    pub(crate) fn last(&self) -> u64 {
        self.also.last().copied().unwrap_or(self.seq)
    }
}

/// A converter of the events of one session. It gets the events in ascending order.
pub(crate) struct Entries<'a> {
    engine: &'a Engine,
    session: &'a SessionId,
    describer: Describer,
    entries: Vec<Entry>,
    /// The calls without a result. The key is the id of the call. The value is the position of the
    /// entry with the call, and of the call's block in this entry.
    open: HashMap<String, (usize, usize)>,
}

impl<'a> Entries<'a> {
    pub(crate) fn of(engine: &'a Engine, header: &'a Header) -> Self {
        Self {
            engine,
            session: &header.id,
            describer: Describer::in_folder(header.workspace.as_str()),
            entries: Vec::new(),
            open: HashMap::new(),
        }
    }

    /// Adds the tool calls that are open before the first event.
    pub(crate) fn after(&mut self, open: &OpenCalls) {
        open.calls().for_each(|call| self.describer.open(&call.id, &call.name));
    }

    /// Checks whether the reader shows an event, without converting it.
    pub(crate) fn shows(event: &Event) -> bool {
        event.class.is_conversation() || is_summary(event)
    }

    pub(crate) fn has_open_calls(&self) -> bool {
        !self.open.is_empty()
    }

    pub(crate) fn finish(self) -> Vec<Entry> {
        self.entries
    }

    /// Adds an event that cannot be read.
    pub(crate) fn add_damaged(&mut self, seq: u64, message: String) {
        let last = self.entries.last();
        self.entries.push(Entry {
            seq,
            also: Vec::new(),
            ordinal: last.map_or(0, |entry| entry.ordinal),
            turn: last.map_or(0, |entry| entry.turn),
            starts_turn: false,
            ts: None,
            kind: Kind::Damaged,
            writer: None,
            partial: false,
            blocks: vec![Block::Text(message)],
            states: Vec::new(),
        });
    }

    /// Adds an event, unless the reader does not show it.
    pub(crate) fn add(&mut self, stored: &LogEntry) {
        let event = &stored.event;
        if event.kind == EventType::WORKSPACE_SNAPSHOT
            && let Some(entry) = self.entries.last_mut()
        {
            entry.states.extend(State::of(stored));
        }
        if !Self::shows(event) {
            return;
        }
        let (kind, parts) = parts(self.engine, event);
        // After any other text of the user, calls get no result any more.
        let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
        if kind == Kind::Message(Role::User) && !parts.iter().any(is_result) {
            self.open.clear();
        }
        let (mut blocks, mut of_earlier, mut files) = (Vec::new(), None, 0);
        for part in &parts {
            if let Some(earlier) = self.earlier_call(stored.seq, part, &mut files) {
                of_earlier = Some(earlier);
                continue;
            }
            if let Part::ToolCall { id, .. } = part {
                self.open.insert(id.clone(), (self.entries.len(), blocks.len()));
            }
            let mut block = Block::of(part, &mut self.describer);
            let sources = block.sources_mut();
            self.link(stored.seq, sources, &mut files);
            blocks.push(block);
        }
        let merged = of_earlier.filter(|_| blocks.is_empty());
        if let Some(entry) = merged.and_then(|at| self.entries.get_mut(at)) {
            entry.also.push(stored.seq);
            return;
        }
        self.entries.push(Entry {
            seq: stored.seq,
            also: Vec::new(),
            ordinal: stored.counts.inheritable,
            turn: stored.counts.turns,
            starts_turn: event.effect.starts_turn,
            ts: Some(event.ts),
            kind,
            writer: Some(stored.origin.session_id.clone()),
            partial: event.is_partial(),
            blocks,
            states: Vec::new(),
        });
    }

    /// Adds the part to the call whose result it is, if that call is in an entry. Returns the
    /// position of that entry.
    fn earlier_call(&mut self, seq: u64, part: &Part, files: &mut usize) -> Option<usize> {
        let Part::ToolResult { call_id, .. } = part else { return None };
        let (at, block) = self.open.remove(call_id)?;
        if at >= self.entries.len() {
            return None;
        }
        let mut output = ToolOutput::of(part, &mut self.describer)?;
        self.link(seq, output.images.iter_mut().collect(), files);
        let block = self.entries.get_mut(at)?.blocks.get_mut(block)?;
        let Block::Call(call) = block else { return None };
        call.output = Some(output);
        Some(at)
    }

    /// Replaces images whose bytes are in the event by links to them.
    fn link(&self, seq: u64, sources: Vec<&mut Source>, files: &mut usize) {
        for source in sources {
            let Source::Inline { media_type, .. } = source else { continue };
            let address = format!("/s/{}/e/{seq}/file/{files}", self.session);
            *files += 1;
            let is_shown = shown_type(media_type).is_some();
            *source = if is_shown { Source::Link(address) } else { Source::None };
        }
    }
}

fn is_summary(event: &Event) -> bool {
    [EventType::HISTORY_COMPACTION, EventType::BRANCH_SUMMARY].contains(&event.kind)
}

/// Returns the kind and the parts of an event that the reader shows.
pub(crate) fn parts(engine: &Engine, event: &Event) -> (Kind, Vec<Part>) {
    let is_empty =
        |part: &Part| matches!(part, Part::Reasoning { text, .. } if text.trim().is_empty());
    let of_content = |content: Content| match content {
        Content::Text(text) => vec![Part::Text { text }],
        Content::Parts(parts) => parts.into_iter().filter(|part| !is_empty(part)).collect(),
    };
    if event.class.is_conversation() {
        let message = engine.message(event);
        return (Kind::Message(message.role), of_content(message.content));
    }
    let kind = match event.kind == EventType::HISTORY_COMPACTION {
        true => Kind::Compaction,
        false => Kind::Summary,
    };
    let messages = engine.summary_messages(event).unwrap_or_default();
    (kind, messages.into_iter().flat_map(|message| of_content(message.content)).collect())
}
