//! The messages of an outline, read once more as they are taken, with a result beside each call
//! that has none.

use std::collections::VecDeque;

use forklore_core::{Content, Data, Message, Part, Role, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::port::{At, Direction, LogEntry, Query};

use jiff::Timestamp;

use super::messages;
use super::outline::{Item, What};
use crate::events::Events;
use crate::{Engine, Result};

/// What the model of a session would receive, message by message. After an error it ends.
pub struct Messages {
    engine: Engine,
    session: SessionId,
    items: std::vec::IntoIter<Item>,
    /// The session from its first message that is not covered.
    events: Events,
    /// The compaction read last, whose messages stand one behind the other.
    compaction: Option<(u64, Vec<Message>)>,
    ready: VecDeque<Sent>,
    /// Results for calls that have none, to be put before whatever is no result.
    waiting: VecDeque<Sent>,
    /// When the event read last happened.
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

    /// How many messages are still to come.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// How many of the first messages come from the events up to and including `seq`, up to the
    /// first that differs from what a longer history would say there: a call without a result.
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
                    self.waiting.push_back(Sent { message, ts: self.ts, starts_turn: false });
                }
            }
            let mut at = 0;
            parts.retain(|_| {
                at += 1;
                sketches.binary_search_by_key(&(at - 1), |sketch| sketch.at).is_ok()
            });
        }
        self.engine.mark_missing(&mut message);
        self.ready.push_back(Sent { message, ts: self.ts, starts_turn: item.starts_turn });
        Ok(())
    }

    fn read(&mut self, item: &Item) -> Result<Message> {
        let number = usize::try_from(item.number).unwrap_or(usize::MAX);
        if !item.instead {
            let said = loop {
                match self.events.next().transpose()? {
                    Some(stored) if stored.seq < item.seq => {}
                    found => break self.messages_of(found, item.seq)?,
                }
            };
            return said.into_iter().nth(number).ok_or_else(|| self.missing(item.seq));
        }
        if self.compaction.as_ref().is_none_or(|(seq, _)| *seq != item.seq) {
            let at = At::Seq(item.seq);
            let query = Query { at, direction: Direction::Forward, limit: 1, bare: false };
            let found = self.engine.store().read(&self.session, &query)?.events.pop();
            self.compaction = Some((item.seq, self.messages_of(found, item.seq)?));
        }
        let said = self.compaction.as_ref().and_then(|(_, said)| said.get(number));
        said.cloned().ok_or_else(|| self.missing(item.seq))
    }

    /// The messages of the event of this seq, which was there before.
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

/// A message with what its place says about it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) message: Message,
    /// When its event happened.
    pub(crate) ts: Timestamp,
    /// Whether a turn begins with it.
    pub(crate) starts_turn: bool,
}

impl Messages {
    /// The next message with its place.
    pub(crate) fn next_sent(&mut self) -> Option<Result<Sent>> {
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

/// A message that answers a call which has no result.
pub(crate) fn no_result(call: &str, name: &str) -> Message {
    stand_in(call, name, "No result: the call was interrupted.")
}

/// A result in place of one that never came; `why` needs no escapes.
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
