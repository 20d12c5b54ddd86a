//! The commit queue: concurrent appends are written in one transaction.
//!
//! Passing a lock from thread to thread costs more than an append. Therefore a thread that finds no
//! active writer writes the appends of all waiting threads. Then it wakes one of the threads that
//! arrived meanwhile, which becomes the next writer.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use forklore_core::SessionId;
use forklore_store::Result;
use forklore_store::port::{Append, Appended};

use super::lock::lock;
use super::shared_sync::Ticket;

/// Maximum number of appends in one transaction.
const MOST: usize = 256;
/// Bytes of payload after which a transaction takes no further append. The append that reaches this
/// limit is still included, whatever its size.
const BYTES: usize = 8 << 20;

/// The queue of appends that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Whether a thread is writing or has been woken to write.
    busy: bool,
}

/// An append that waits in the queue.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) session: SessionId,
    pub(super) append: Arc<Append>,
    slot: Arc<Slot>,
}

/// The mailbox of one append: its thread waits here for the next message.
#[derive(Debug, Default)]
pub(super) struct Slot {
    word: Mutex<Option<Word>>,
    finished: Condvar,
}

/// A message to a waiting thread.
#[derive(Debug)]
pub(super) enum Word {
    /// The thread must write the next batch of appends.
    Write,
    /// The result of the thread's append, with the ticket of the sync that makes it durable.
    Done(Result<(Appended, Ticket)>),
    /// The transaction failed as a whole. The thread must retry its append alone, to get its own
    /// error.
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

    /// Takes the next appends from the front of the queue. The thread that received [`Word::Write`]
    /// calls this; its own append is the first of them.
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

    /// Wakes the first waiting thread, which then writes. If no thread waits, marks the queue as
    /// idle.
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

/// Appends that one transaction writes. Dropping a batch sends a message to each thread that still
/// waits for its result, and wakes the next writer. This holds even if the write panics.
#[derive(Debug)]
pub(super) struct Batch<'q> {
    queue: &'q Queue,
    pub(super) appends: Vec<Waiting>,
    passed_on: bool,
}

impl Batch<'_> {
    /// Wakes the next writer. It can then write while this thread makes this batch durable.
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
