//! What happened in the present turn of a session, numbered, so that a client which connects anew
//! gets what it misses and nothing twice.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_agent::notify::{KernelEvent, Notification};
use forklore_core::SessionId;
use serde::Serialize;
use tokio::sync::watch;

/// One server-sent event.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) number: u64,
    pub(crate) event: &'static str,
    pub(crate) data: Arc<str>,
    /// What this is a piece of. The whole replaces all pieces.
    piece_of: Option<(SessionId, Whole)>,
}

/// Something that arrives in pieces, and then whole.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Whole {
    Block(usize),
    Call(String),
}

/// The events of the present or the last turn of a session.
pub(crate) struct Stream {
    items: Mutex<Items>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Items {
    /// The number of the next event.
    next: u64,
    queue: VecDeque<Item>,
    is_running: bool,
}

impl Stream {
    pub(crate) fn new() -> Self {
        Self { items: Mutex::default(), changed: watch::Sender::new(()) }
    }

    /// Begins a turn: the events of the one before are over, and the store has what they were about.
    pub(crate) fn begin(&self, data: &impl Serialize) {
        {
            let mut items = self.items();
            items.queue.clear();
            items.is_running = true;
        }
        self.push("begin", data);
    }

    /// Ends a turn.
    pub(crate) fn end(&self, data: &impl Serialize) {
        self.items().is_running = false;
        self.push("end", data);
    }

    /// Adds an event.
    pub(crate) fn push(&self, event: &'static str, data: &impl Serialize) {
        self.add(event, data, None);
    }

    /// Adds a notification of the kernel. Forgets the pieces of what it has whole, so that the events
    /// of a turn never need more memory than its answers.
    pub(crate) fn notify(&self, notification: &Notification) {
        let (piece_of, whole) = match &notification.event {
            KernelEvent::ContentBlockStart(start) => (Some(Whole::Block(start.block_index)), None),
            KernelEvent::ContentBlockDelta(piece) | KernelEvent::ThinkingDelta(piece) => {
                (Some(Whole::Block(piece.block_index)), None)
            }
            KernelEvent::ToolProgress(step) => (Some(Whole::Call(step.tool_call_id.clone())), None),
            KernelEvent::ContentBlockEnd(end) => (None, Some(Whole::Block(end.block_index))),
            KernelEvent::ThinkingFinal(end) => (None, Some(Whole::Block(end.block_index))),
            KernelEvent::ToolPost(done) | KernelEvent::ToolError(done) => {
                (None, Some(Whole::Call(done.tool_call_id.clone())))
            }
            _ => (None, None),
        };
        // Sub-agents that work at the same time number their blocks alike.
        let of = |whole| (notification.session_id.clone(), whole);
        if let Some(whole) = whole.map(of) {
            self.items().queue.retain(|item| item.piece_of.as_ref() != Some(&whole));
        }
        self.add("notification", notification, piece_of.map(of));
    }

    fn add(
        &self,
        event: &'static str,
        data: &impl Serialize,
        piece_of: Option<(SessionId, Whole)>,
    ) {
        let Ok(data) = serde_json::to_string(data) else { return };
        {
            let mut items = self.items();
            let number = items.next;
            items.next += 1;
            items.queue.push_back(Item { number, event, data: data.into(), piece_of });
        }
        self.changed.send_replace(());
    }

    /// Returns the number from which a client reads that names no event: the beginning of the running
    /// turn, or what comes next.
    pub(crate) fn start(&self) -> u64 {
        let items = self.items();
        let first = items.queue.front().filter(|_| items.is_running);
        first.map_or(items.next, |item| item.number)
    }

    /// Returns the number of the next event.
    pub(crate) fn next(&self) -> u64 {
        self.items().next
    }

    /// Returns at most `most` events from a number on.
    pub(crate) fn from(&self, number: u64, most: usize) -> Vec<Item> {
        let items = self.items();
        let begin = items.queue.partition_point(|item| item.number < number);
        items.queue.iter().skip(begin).take(most).cloned().collect()
    }

    /// Returns a receiver that notices new events.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn items(&self) -> MutexGuard<'_, Items> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
