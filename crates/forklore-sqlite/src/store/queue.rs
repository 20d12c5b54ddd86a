//! The commit queue: concurrent appends are written in one transaction.
//!
//! Handing a lock from thread to thread costs more than an append. So a thread that finds no writer
//! active writes for all threads that wait, then wakes one of those that arrived meanwhile.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use forklore_core::SessionId;
use forklore_store::Result;
use forklore_store::port::{Append, Appended};

use super::lock::lock;
use super::shared_sync::Ticket;

/// Maximum number of appends in one transaction.
const MOST: usize = 256;
/// Maximum bytes of payload in one transaction. The append that reaches the limit is still
/// included, whatever its size.
const BYTES: usize = 8 << 20;

/// The queue of appends that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Whether a thread writes, or has been woken to write.
    busy: bool,
}

/// An append that waits in the queue.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) session: SessionId,
    pub(super) append: Arc<Append>,
    slot: Arc<Slot>,
}

/// Where the thread of one append waits for its next message.
#[derive(Debug, Default)]
pub(super) struct Slot {
    word: Mutex<Option<Word>>,
    finished: Condvar,
}

/// A message to a waiting thread.
#[derive(Debug)]
pub(super) enum Word {
    /// The thread must write the next batch.
    Write,
    /// The result of the thread's append, with the ticket of the sync that makes it durable.
    Done(Result<(Appended, Ticket)>),
    /// The transaction failed as a whole: the thread must retry alone to get its own error.
    Alone,
}

impl Queue {
    /// Adds an append at the end of the queue. If no thread writes, the caller becomes the writer.
    pub(super) fn join(&self, session: &SessionId, append: &Arc<Append>) -> Arc<Slot> {
        let slot = Arc::<Slot>::default();
        let mut state = lock(&self.0);
        if !state.busy {
            state.busy = true;
            slot.tell(Word::Write);
        }
        let (session, append) = (session.clone(), Arc::clone(append));
        state.waiting.push_back(Waiting { session, append, slot: Arc::clone(&slot) });
        slot
    }

    /// Takes the next appends from the front of the queue, for the thread that received
    /// [`Word::Write`]. Its own append is the first of them.
    pub(super) fn batch(&self) -> Batch<'_> {
        let mut state = lock(&self.0);
        let mut bytes = 0;
        let some = state.waiting.iter().take(MOST).take_while(|waiting| {
            let fits = bytes < BYTES;
            let payloads = waiting.append.events.iter().map(|event| event.data.get().len());
            bytes += payloads.sum::<usize>();
            fits
        });
        let some = some.count();
        Batch { queue: self, appends: state.waiting.drain(..some).collect(), passed_on: false }
    }

    /// Wakes the first waiting thread to write, or marks the queue as idle if none waits.
    fn pass_on(&self) {
        let mut state = lock(&self.0);
        match state.waiting.front() {
            Some(next) => next.slot.tell(Word::Write),
            None => state.busy = false,
        }
    }
}

impl Slot {
    fn tell(&self, word: Word) {
        *lock(&self.word) = Some(word);
        self.finished.notify_one();
    }

    /// Waits for the next message and takes it.
    pub(super) fn word(&self) -> Word {
        let mut word = lock(&self.word);
        loop {
            match word.take() {
                Some(word) => return word,
                None => word = self.finished.wait(word).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// Appends that are written together. However the write ends, even by a panic, each waiting thread
/// gets a message and the next writer is woken.
#[derive(Debug)]
pub(super) struct Batch<'q> {
    queue: &'q Queue,
    pub(super) appends: Vec<Waiting>,
    passed_on: bool,
}

impl Batch<'_> {
    /// Wakes the next writer, so that it writes while this batch is made durable.
    pub(super) fn pass_on(&mut self) {
        self.passed_on = true;
        self.queue.pass_on();
    }

    /// Sends each thread the result of its append.
    pub(super) fn tell(mut self, done: Vec<Result<(Appended, Ticket)>>) {
        for (append, done) in self.appends.drain(..).zip(done) {
            append.slot.tell(Word::Done(done));
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        for append in self.appends.drain(..) {
            append.slot.tell(Word::Alone);
        }
        if !self.passed_on {
            self.queue.pass_on();
        }
    }
}
