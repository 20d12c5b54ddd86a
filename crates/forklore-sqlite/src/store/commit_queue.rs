//! The commit queue: concurrent appends are written in one transaction; each succeeds or fails
//! separately.
//!
//! Passing a lock from thread to thread costs more than an append. Therefore a thread that finds no
//! active writer writes the appends of all waiting threads. Then it wakes one of the threads that
//! arrived meanwhile, which becomes the next writer.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use forklore_core::SessionId;
use forklore_store::Result;
use forklore_store::port::{Append, Appended};

use super::SqliteStore;
use super::mutex::lock;
use super::shared_sync::Ticket;
use crate::append;
use crate::fault::Fault;
use crate::write_tx::WriteTx;

const DOING: &str = "appending to";

/// Maximum number of appends that one transaction writes.
const MOST: usize = 256;
/// Total size of the payloads, in bytes, at which a transaction accepts no further append. The
/// append that reaches this size is still included, however large it is.
const BYTES: usize = 8 << 20;

/// The queue of appends that threads of this process want to write.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Whether a thread is writing appends or has been woken to do so.
    busy: bool,
}

/// An append that waits in the queue, with the mailbox of the thread that wants it.
#[derive(Debug)]
struct Waiting {
    session: SessionId,
    append: Arc<Append>,
    slot: Arc<Slot>,
}

/// The mailbox of one append. The thread that wants the append waits here for a message.
#[derive(Debug, Default)]
struct Slot {
    message: Mutex<Option<Message>>,
    finished: Condvar,
}

/// A message to a thread that waits for its append.
#[derive(Debug)]
enum Message {
    /// The thread must write the next batch of appends from the queue.
    Write,
    /// The thread's append was written or refused. On success, contains a ticket with which the
    /// thread waits until the append is durable.
    Done(Result<(Appended, Ticket)>),
    /// The transaction failed as a whole and wrote nothing. The thread must write its append again
    /// in a transaction of its own, to get the error of that append.
    Retry,
}

impl SqliteStore {
    /// Appends events to a session, in one transaction with the appends of other threads. Returns
    /// when the events are durable.
    pub(crate) fn append_queued(&self, session: &SessionId, append: Append) -> Result<Appended> {
        let append = Arc::new(append);
        let slot = self.queue.join(session, &append);
        loop {
            match slot.receive() {
                Message::Write => self.write_batch(self.queue.batch()),
                Message::Done(done) => {
                    let (appended, ticket) = done?;
                    // The thread that wrote the append has usually synced already.
                    self.sync(DOING, ticket)?;
                    self.checkpoints.look();
                    return Ok(appended);
                }
                Message::Retry => {
                    return self.write(DOING, |tx| append::append(tx, session, &append));
                }
            }
        }
    }

    fn write_batch(&self, mut batch: Batch<'_>) {
        let committed = self.commit(DOING, |conn| {
            self.transaction(conn, |tx| match batch.appends.as_slice() {
                [one] => Ok(vec![Ok(append::append(tx, &one.session, &one.append)?)]),
                many => many.iter().map(|one| append_one(tx, one)).collect(),
            })
        });
        batch.pass_on();
        match committed {
            Ok((done, ticket)) => {
                // Ignore a failure here: each thread tries to sync too, and gets the error from its
                // own attempt.
                let _ = self.sync(DOING, ticket);
                let explained = |fault: Fault| fault.about(DOING, &self.path);
                let done = done.into_iter().map(|done| Ok((done.map_err(explained)?, ticket)));
                batch.send(done.collect());
            }
            Err(error) if batch.appends.len() == 1 => batch.send(vec![Err(error)]),
            // Nothing was written. Dropping the batch makes each thread retry alone, and the retry
            // returns the error.
            Err(_) => {}
        }
    }
}

/// Writes one append in a savepoint of the transaction. Returns the inner error if only this append
/// was refused and rolled back. Returns the outer error if the whole transaction failed.
fn append_one(tx: &WriteTx<'_>, one: &Waiting) -> Result<Result<Appended, Fault>, Fault> {
    tx.begin_part();
    tx.prepare_cached("SAVEPOINT one")?.execute([])?;
    let done = append::append(tx, &one.session, &one.append);
    match done {
        Err(Fault::Sql(error)) => return Err(Fault::Sql(error)),
        Err(_) => {
            tx.prepare_cached("ROLLBACK TO one")?.execute([])?;
        }
        Ok(_) => {}
    }
    tx.prepare_cached("RELEASE one")?.execute([])?;
    Ok(done)
}

impl Queue {
    /// Adds an append at the end of the queue. If no thread is writing, the caller's mailbox gets
    /// the message to write.
    fn join(&self, session: &SessionId, append: &Arc<Append>) -> Arc<Slot> {
        let slot = Arc::<Slot>::default();
        let mut state = lock(&self.0);
        if !state.busy {
            state.busy = true;
            slot.send(Message::Write);
        }
        let (session, append) = (session.clone(), Arc::clone(append));
        state.waiting.push_back(Waiting { session, append, slot: Arc::clone(&slot) });
        slot
    }

    /// Takes the next appends from the front of the queue. Only the thread that received
    /// [`Message::Write`] calls this, and its own append is the first of them.
    fn batch(&self) -> Batch<'_> {
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

    /// Sends the first thread in the queue the message to write. If the queue is empty, records
    /// that no thread is writing.
    fn pass_on(&self) {
        let mut state = lock(&self.0);
        match state.waiting.front() {
            Some(next) => next.slot.send(Message::Write),
            None => state.busy = false,
        }
    }
}

impl Slot {
    fn send(&self, message: Message) {
        *lock(&self.message) = Some(message);
        self.finished.notify_one();
    }

    /// Waits for the next message to this thread, and removes it from the mailbox.
    fn receive(&self) -> Message {
        let mut next = lock(&self.message);
        loop {
            match next.take() {
                Some(message) => return message,
                None => next = self.finished.wait(next).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// The appends that one transaction writes. Dropping the batch, even in a panic, makes each thread
/// without a result write its append alone. It also wakes the next writer, if that was not done
/// yet.
#[derive(Debug)]
struct Batch<'q> {
    queue: &'q Queue,
    appends: Vec<Waiting>,
    passed_on: bool,
}

impl Batch<'_> {
    /// Wakes the thread that writes the next batch of appends. That thread can write while the
    /// current one syncs its own batch.
    fn pass_on(&mut self) {
        self.passed_on = true;
        self.queue.pass_on();
    }

    /// Sends each thread of the batch the result of its append.
    fn send(mut self, done: Vec<Result<(Appended, Ticket)>>) {
        for (append, done) in self.appends.drain(..).zip(done) {
            append.slot.send(Message::Done(done));
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        for append in self.appends.drain(..) {
            append.slot.send(Message::Retry);
        }
        if !self.passed_on {
            self.queue.pass_on();
        }
    }
}
