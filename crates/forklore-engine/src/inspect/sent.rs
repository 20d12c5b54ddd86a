//! Reads the messages of an outline from the store as the iterator advances. Adds a synthetic
//! result for each call without a result.

use std::collections::VecDeque;

use forklore_core::{Content, Data, Message, Part, Role, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::port::{At, Direction, LogEntry, Query};

use jiff::Timestamp;

use super::messages;
use super::outline::{Item, What};
use crate::events::Events;
use crate::{Engine, Result};

/// Iterates over the messages that the model of a session would receive. Ends after the first
/// error.
pub struct Messages {
    engine: Engine,
    session: SessionId,
    items: std::vec::IntoIter<Item>,
    /// The session's events. They begin with the event of the first item that replaces no other
    /// message.
    events: Events,
    /// The compaction or edit that was read last: its seq and its messages. The messages of one
    /// compaction are consecutive in the output, so one read suffices for all of them.
    compaction: Option<(u64, Vec<Message>)>,
    /// The messages that were read already, each with its number in the conversation.
    ready: VecDeque<(Option<u64>, Sent)>,
    /// Synthetic tool results that are inserted before the next message that is not a tool result.
    waiting: VecDeque<(Option<u64>, Sent)>,
    /// The timestamp of the event that was read last. Synthetic results get this timestamp.
    ts: Timestamp,
    left: usize,
}

impl Messages {
    pub(super) fn of(engine: &Engine, session: &SessionId, items: Vec<Item>, open: usize) -> Self {
        let first = items.iter().find(|item| !item.instead).map_or(0, |item| item.seq);
        Self {
            engine: engine.clone(),
            session: session.clone(),
            left: items.iter().filter(|item| !item.emptied).count() + open,
            items: items.into_iter(),
            events: engine.events(session, At::Seq(first)),
            compaction: None,
            ready: VecDeque::new(),
            waiting: VecDeque::new(),
            ts: Timestamp::UNIX_EPOCH,
        }
    }

    /// Returns the number of messages that the iterator has not yet returned.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// Returns how many leading messages of the request come from the events up to and including
    /// the one at `seq`. The count ends with the first message that has an open tool call, because
    /// a longer history could contain the result of that call.
    pub(super) fn shared_up_to(&self, seq: u64) -> usize {
        let mut shared = 0;
        for item in self.items.as_slice().iter().filter(|item| !item.emptied) {
            if item.seq > seq {
                break;
            }
            shared += 1;
            if item.has_open_call() {
                break;
            }
        }
        shared
    }

    fn add(&mut self, item: &Item) -> Result<()> {
        let mut message = self.read(item)?;
        message.role = item.role;
        if item.role != Role::Tool {
            self.ready.append(&mut self.waiting);
        }
        if let (Content::Parts(parts), Some(sketches)) = (&mut message.content, &item.parts) {
            for sketch in sketches {
                if let What::Call { answered: false, .. } = sketch.what
                    && let Some(Part::ToolCall { id, name, .. }) = parts.get(sketch.at)
                {
                    let message = no_result(id, name);
                    let sent = Sent { message, ts: self.ts, starts_turn: false };
                    self.waiting.push_back((None, sent));
                }
            }
            let mut at = 0;
            parts.retain(|_| {
                at += 1;
                sketches.binary_search_by_key(&(at - 1), |sketch| sketch.at).is_ok()
            });
        }
        self.engine.mark_missing(&mut message);
        let sent = Sent { message, ts: self.ts, starts_turn: item.starts_turn };
        self.ready.push_back((item.index, sent));
        Ok(())
    }

    fn read(&mut self, item: &Item) -> Result<Message> {
        let number = usize::try_from(item.number).unwrap_or(usize::MAX);
        if !item.instead {
            let messages = loop {
                match self.events.next().transpose()? {
                    Some(stored) if stored.seq < item.seq => {}
                    found => break self.messages_of(found, item.seq)?,
                }
            };
            return messages.into_iter().nth(number).ok_or_else(|| self.missing(item.seq));
        }
        if self.compaction.as_ref().is_none_or(|(seq, _)| *seq != item.seq) {
            let at = At::Seq(item.seq);
            let query = Query { at, direction: Direction::Forward, limit: 1, bare: false };
            let found = self.engine.store().read(&self.session, &query)?.events.pop();
            self.compaction = Some((item.seq, self.messages_of(found, item.seq)?));
        }
        let messages = self.compaction.as_ref().and_then(|(_, text)| text.get(number));
        messages.cloned().ok_or_else(|| self.missing(item.seq))
    }

    /// Returns the messages of the event `found`, which must be the event at `seq`. A missing event
    /// is an error, because the event existed when the iterator was created.
    fn messages_of(&mut self, found: Option<LogEntry>, seq: u64) -> Result<Vec<Message>> {
        let found = found.filter(|stored| stored.seq == seq).ok_or_else(|| self.missing(seq))?;
        self.ts = found.event.ts;
        Ok(messages::of_event(&self.engine, &found.event))
    }

    fn missing(&self, seq: u64) -> crate::Error {
        let missing = format!("the event at {seq}");
        StoreError::MissingAncestor { session: self.session.clone(), missing }.into()
    }
}

/// A message of a model request, with the timestamp of the event that contains it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) message: Message,
    /// The timestamp of the event that contains the message.
    pub(crate) ts: Timestamp,
    /// Whether the message starts a turn of the conversation.
    pub(crate) starts_turn: bool,
}

impl Messages {
    /// Iterates over the messages, each with its number in the conversation, from 0: the number
    /// that `message:N` and the other views of the session use. The number is `None` for a message
    /// without a place of its own in the conversation, such as a summary or a synthetic result.
    pub fn numbered(mut self) -> impl Iterator<Item = Result<(Option<u64>, Message)>> {
        std::iter::from_fn(move || {
            self.next_numbered().map(|next| next.map(|(index, sent)| (index, sent.message)))
        })
    }

    /// Returns the next message of the iterator with its timestamp, and whether it starts a turn.
    /// Returns `None` at the end, and after an error.
    pub(crate) fn next_sent(&mut self) -> Option<Result<Sent>> {
        self.next_numbered().map(|next| next.map(|(_, sent)| sent))
    }

    fn next_numbered(&mut self) -> Option<Result<(Option<u64>, Sent)>> {
        while self.ready.is_empty() {
            match self.items.next() {
                Some(item) if item.emptied => {}
                Some(item) => {
                    if let Err(error) = self.add(&item) {
                        self.items = Vec::new().into_iter();
                        self.waiting.clear();
                        self.left = 0;
                        return Some(Err(error));
                    }
                }
                None if self.waiting.is_empty() => break,
                None => self.ready.append(&mut self.waiting),
            }
        }
        self.left = self.left.saturating_sub(1);
        self.ready.pop_front().map(Ok)
    }
}

impl Iterator for Messages {
    type Item = Result<Message>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_sent().map(|sent| sent.map(|sent| sent.message))
    }
}

/// Builds a tool-result message for the call with the id `call`, which has no recorded result.
pub(crate) fn no_result(call: &str, name: &str) -> Message {
    stand_in(call, name, "No result: the call was interrupted.")
}

/// Builds a tool-result message, marked as synthetic, for the call with the id `call`. Its content
/// is `why`, which must not contain characters that JSON escapes.
pub(super) fn stand_in(call: &str, name: &str, why: &str) -> Message {
    let result = Part::ToolResult {
        call_id: call.to_owned(),
        name: Some(name.to_owned()),
        content: Data::from_checked(format!("\"{why}\"")),
        is_error: true,
        synthetic: true,
    };
    Message { role: Role::Tool, content: Content::Parts(vec![result]) }
}
