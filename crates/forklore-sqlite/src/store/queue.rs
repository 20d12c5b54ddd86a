//! The commit queue: appends that come at once are written in one transaction.
//!
//! Handing a lock from thread to thread costs more than an append does. So whoever finds nobody
//! writing writes for all that wait, and then lets one of those who came meanwhile go on.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use forklore_core::SessionId;
use forklore_store::Result;
use forklore_store::port::{Append, Appended};

use super::lock::lock;
use super::shared_sync::Ticket;

/// The most appends in one transaction.
const MOST: usize = 256;
/// The most bytes of payload in one transaction, but for its first append.
const BYTES: usize = 8 << 20;

/// Appends that wait for their turn.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Whether a thread writes, or was told to.
    busy: bool,
}

/// An append that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) session: SessionId,
    pub(super) append: Arc<Append>,
    slot: Arc<Slot>,
}

/// Where the thread of an append waits for what becomes of it.
#[derive(Debug, Default)]
pub(super) struct Slot {
    word: Mutex<Option<Word>>,
    finished: Condvar,
}

/// What a thread is told.
#[derive(Debug)]
pub(super) enum Word {
    /// It writes next.
    Write,
    /// What became of its append, and which sync it needs.
    Done(Result<(Appended, Ticket)>),
    /// The transaction failed as a whole: it tries by itself, to hear why.
    Alone,
}

impl Queue {
    /// Puts an append at the end.
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

    /// What the thread that was told to write finds: some appends, its own among them.
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

    /// Lets the next one write.
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

    /// Waits for the next word.
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

/// Appends that are written together. Whatever becomes of the writing, each is told something, and
/// somebody writes next.
#[derive(Debug)]
pub(super) struct Batch<'q> {
    queue: &'q Queue,
    pub(super) appends: Vec<Waiting>,
    passed_on: bool,
}

impl Batch<'_> {
    /// Lets the next one write, while what is in here is made durable.
    pub(super) fn pass_on(&mut self) {
        self.passed_on = true;
        self.queue.pass_on();
    }

    /// Tells each what became of it.
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
