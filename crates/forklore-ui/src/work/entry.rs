//! Converts events to entries of the reader.

use std::collections::HashMap;

use forklore_core::describe::{Change, Describer, Outcome, file_edits};
use forklore_core::{Content, Event, EventType, Header, OpenCalls, Part, SessionId};
use forklore_engine::Engine;
use forklore_store::port::LogEntry;
use serde_json::Value;

use crate::model::{Entry, EntryKind, Piece};
use crate::safe::Safe;
use crate::tone::Tone;

/// The maximum size in bytes of a text that is shown.
const LONGEST: usize = 256 << 10;
/// The maximum size in bytes of a text that is one line until it is unfolded.
const LONGEST_FOLDED: usize = 64 << 10;

/// A converter of the events of one session. It gets the events in ascending order.
pub(super) struct Entries<'a> {
    engine: &'a Engine,
    describer: Describer,
    labels: HashMap<SessionId, Safe>,
    /// Whether to convert also events that are no part of the conversation.
    all: bool,
}

impl<'a> Entries<'a> {
    pub(super) fn of(engine: &'a Engine, header: &Header, all: bool) -> Self {
        let describer = Describer::in_folder(header.workspace.as_str());
        let own = (header.id.clone(), Safe::line(header.label.as_str()));
        Self { engine, describer, labels: HashMap::from([own]), all }
    }

    /// Adds the tool calls that are open before the first event.
    pub(super) fn after(&mut self, open: &OpenCalls) {
        open.calls().for_each(|call| self.describer.open(&call.id, &call.name));
    }

    /// Checks whether an event is shown, without converting it.
    pub(super) fn shows(&self, event: &Event) -> bool {
        let is_summary =
            [EventType::HISTORY_COMPACTION, EventType::BRANCH_SUMMARY].contains(&event.kind);
        self.all || is_summary || event.class.is_conversation()
    }

    /// Converts an event; `None` if it is not shown.
    pub(super) fn entry(&mut self, stored: &LogEntry) -> Option<Entry> {
        let event = &stored.event;
        let is_message = event.class.is_conversation();
        let summary = if is_message { None } else { self.engine.summary_messages(event) };
        let (kind, parts) = match summary {
            _ if is_message => {
                let mut message = self.engine.message(event);
                if let Content::Parts(parts) = &mut message.content {
                    parts.retain(|part| !is_empty_thinking(part));
                }
                let kind = EntryKind::Message(message.role);
                (kind, self.pieces(&message.content))
            }
            Some(messages) => {
                let pieces = messages.iter().flat_map(|message| self.pieces(&message.content));
                (EntryKind::Summary, pieces.collect())
            }
            None if self.all => (EntryKind::Event, vec![raw(event.data.get())]),
            None => return None,
        };
        Some(Entry {
            seq: stored.seq,
            index: is_message.then(|| stored.counts.index.saturating_sub(1)),
            turn: stored.counts.turns,
            starts_turn: event.effect.starts_turn,
            ts: Some(event.ts),
            kind,
            name: Safe::line(event.kind.as_str()),
            branch: self.label(&stored.origin.session_id),
            partial: event.is_partial(),
            parts,
        })
    }

    fn label(&mut self, session: &SessionId) -> Safe {
        if let Some(label) = self.labels.get(session) {
            return label.clone();
        }
        let header = self.engine.store().header(session).ok();
        let label = header.filter(|header| !header.is_erased());
        let label = label.map(|header| Safe::line(header.label.as_str())).unwrap_or_default();
        self.labels.insert(session.clone(), label.clone());
        label
    }

    fn pieces(&mut self, content: &Content) -> Vec<Piece> {
        match content {
            Content::Text(text) => vec![Piece::Text(Safe::block(text, LONGEST))],
            Content::Parts(parts) => parts.iter().map(|part| self.piece(part)).collect(),
        }
    }

    fn piece(&mut self, part: &Part) -> Piece {
        if let Part::Text { text } = part {
            return Piece::Text(Safe::block(text, LONGEST));
        }
        let line = Safe::line(&self.describer.part(part));
        let folded = |tone, text: &str| {
            let text = Safe::block(&format!("{line}\n{text}"), LONGEST_FOLDED);
            Piece::Folded { tone, line: line.clone(), text }
        };
        match part {
            Part::ToolCall { arguments, .. } => folded(Tone::Tool, &readable(arguments.get())),
            Part::ToolResult { .. } => {
                let outcome = Outcome::of(part);
                let tone = match &outcome {
                    Some(outcome) if outcome.failed => Tone::Bad,
                    _ => Tone::Dim,
                };
                folded(tone, &outcome.map(|outcome| outcome.text).unwrap_or_default())
            }
            Part::Reasoning { text, .. } => folded(Tone::Dim, text),
            Part::Other { value } => folded(Tone::Dim, value.get()),
            Part::Text { .. } | Part::Attachment { .. } => folded(Tone::Dim, ""),
        }
    }
}

fn is_empty_thinking(part: &Part) -> bool {
    matches!(part, Part::Reasoning { text, .. } if text.is_empty())
}

fn raw(data: &str) -> Piece {
    let text = Safe::block(data, LONGEST_FOLDED);
    let line: String = data.chars().take(400).collect();
    Piece::Folded { tone: Tone::Dim, line: Safe::line(&line), text }
}

/// Formats the arguments of a call: the changes of files that it makes, or else one line for each
/// argument.
fn readable(json: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(json) else { return json.to_owned() };
    let mut text = String::new();
    for edit in file_edits(&value) {
        text.push_str(&format!("{}\n", edit.path));
        for (mark, line) in edit.changes.iter().flat_map(Change::marked) {
            text.push_str(&format!("{mark} {line}\n"));
        }
    }
    match &value {
        _ if !text.is_empty() => text,
        Value::Object(fields) => fields.iter().map(|(name, value)| argument(name, value)).collect(),
        Value::String(text) => text.clone(),
        _ => json.to_owned(),
    }
}

fn argument(name: &str, value: &Value) -> String {
    match value.as_str() {
        Some(text) if text.contains('\n') => format!("{name}:\n{text}\n"),
        Some(text) => format!("{name}: {text}\n"),
        None => format!("{name}: {value}\n"),
    }
}

/// Returns the entry for an event that cannot be read.
pub(super) fn damaged(seq: u64, message: &str) -> Entry {
    Entry {
        seq,
        index: None,
        turn: 0,
        starts_turn: false,
        ts: None,
        kind: EntryKind::Damaged,
        name: Safe::line("damaged"),
        branch: Safe::default(),
        partial: false,
        parts: vec![Piece::Text(Safe::block(message, LONGEST))],
    }
}
