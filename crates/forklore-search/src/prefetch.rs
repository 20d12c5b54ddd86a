//! Reads sessions on a separate thread, while the index stores what the thread has read before.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::vec::IntoIter;

use forklore_core::workspace::Workspace;
use forklore_core::{EventType, SessionId};
use forklore_engine::{Engine, Error};
use forklore_index::{Fault, Result};
use forklore_store::port::{At, LogEntry};
use rusqlite::Connection;

use crate::document::Document;
use crate::sessions::{self, SessionRow};

/// The types of the events that are summaries.
const SUMMARIES: [EventType; 2] = [EventType::HISTORY_COMPACTION, EventType::BRANCH_SUMMARY];

/// The size of the payloads after which the thread hands over what it read, in bytes.
const PIECE: u64 = 256 << 10;
/// The number of pieces that may wait for the index.
const WAITING: usize = 8;
/// The maximum number of sessions that one thread reads after its first session.
const SESSIONS: usize = 1_000;

/// An event, with what the index stores of it.
pub(crate) struct Prepared {
    pub(crate) stored: LogEntry,
    /// The size of the payload, in bytes.
    pub(crate) bytes: u64,
    /// The words of the event. `None` if it is neither part of the conversation nor a summary.
    pub(crate) document: Option<Document>,
}

impl Prepared {
    pub(crate) fn of(engine: &Engine, stored: LogEntry) -> Self {
        let event = &stored.event;
        let has_words = event.class.is_conversation() || SUMMARIES.contains(&event.kind);
        let document = has_words.then(|| Document::of(engine, event).indexed());
        let bytes = event.data.get().len() as u64 + 1;
        Self { stored, bytes, document }
    }
}

/// What the thread hands over.
enum Piece {
    Events(Vec<Prepared>),
    /// The session was read to its end, or to an event that cannot be read.
    End(Result<(), Error>),
}

/// A session that the thread reads, and the seq from which on it is read.
#[derive(Clone, Debug)]
struct Planned {
    number: i64,
    session: SessionId,
    next_seq: u64,
}

/// A thread that reads sessions, in ascending order of their numbers.
struct Stream {
    /// The sessions that were not received completely. In the first of these sessions, `next_seq`
    /// is the seq of the next event to take.
    planned: VecDeque<Planned>,
    received: IntoIter<Prepared>,
    /// `None` only while the stream is dropped.
    pieces: Option<Receiver<Piece>>,
    thread: Option<JoinHandle<()>>,
}

/// A reader that reads the sessions of an update ahead of the update.
pub(crate) struct Prefetch<'a> {
    engine: &'a Engine,
    workspace: Option<&'a Workspace>,
    stream: Option<Stream>,
}

impl<'a> Prefetch<'a> {
    pub(crate) fn new(engine: &'a Engine, workspace: Option<&'a Workspace>) -> Self {
        Self { engine, workspace, stream: None }
    }

    /// Returns the next event of a session, from `row.next_seq` on. `None` after the last event.
    pub(crate) fn next(&mut self, conn: &Connection, row: &SessionRow) -> Result<Option<Prepared>> {
        let is_at_row = |stream: &Stream| {
            let first = stream.planned.front();
            first.is_some_and(|it| (it.number, it.next_seq) == (row.number, row.next_seq))
        };
        if !self.stream.as_ref().is_some_and(is_at_row) {
            // There is no thread yet, all planned sessions were read, or another process has
            // brought the index further. Start a thread that begins with this row.
            let after = sessions::pending_after(conn, self.workspace, row.number, SESSIONS)?;
            let planned = std::iter::once(row.clone()).chain(after).map(|row| Planned {
                number: row.number,
                session: row.id,
                next_seq: row.next_seq,
            });
            self.stream = Some(Stream::begin(self.engine, planned.collect())?);
        }
        match &mut self.stream {
            Some(stream) => stream.next(),
            None => Ok(None),
        }
    }
}

impl Stream {
    fn begin(engine: &Engine, planned: VecDeque<Planned>) -> Result<Self> {
        let (sender, pieces) = sync_channel(WAITING);
        let (engine, sessions) = (engine.clone(), planned.clone());
        let thread = std::thread::Builder::new().name("search-read".into());
        let thread = thread.spawn(move || {
            // Reading stops with an error if the index needs no more.
            let _ = sessions.iter().try_for_each(|session| read(&engine, session, &sender));
        });
        let thread =
            thread.map_err(|error| forklore_store::Error::io("starting a thread", error))?;
        let (pieces, thread) = (Some(pieces), Some(thread));
        Ok(Self { planned, received: Vec::new().into_iter(), pieces, thread })
    }

    fn next(&mut self) -> Result<Option<Prepared>> {
        loop {
            if let Some(prepared) = self.received.next() {
                if let Some(first) = self.planned.front_mut() {
                    first.next_seq = prepared.stored.seq + 1;
                }
                return Ok(Some(prepared));
            }
            match self.pieces.as_ref().and_then(|pieces| pieces.recv().ok()) {
                Some(Piece::Events(events)) => self.received = events.into_iter(),
                Some(Piece::End(result)) => {
                    self.planned.pop_front();
                    return result.map(|()| None).map_err(Fault::from);
                }
                None => {
                    let ended = std::io::Error::other("the thread that reads sessions ended");
                    return Err(forklore_store::Error::io("reading sessions", ended).into());
                }
            }
        }
    }
}

impl Drop for Stream {
    /// Ends the thread, so that nothing reads the store any more when the update has ended.
    fn drop(&mut self) {
        self.pieces = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported: the receiver saw the thread end early.
            let _ = thread.join();
        }
    }
}

/// The index needs nothing more from the thread.
struct Unwanted;

fn read(engine: &Engine, planned: &Planned, sender: &SyncSender<Piece>) -> Result<(), Unwanted> {
    let send = |piece| sender.send(piece).map_err(|_| Unwanted);
    let (mut events, mut bytes, mut result) = (Vec::new(), 0, Ok(()));
    for stored in engine.events(&planned.session, At::Seq(planned.next_seq)) {
        match stored {
            Ok(stored) => {
                let prepared = Prepared::of(engine, stored);
                bytes += prepared.bytes;
                events.push(prepared);
            }
            Err(error) => {
                result = Err(error);
                break;
            }
        }
        if bytes >= PIECE {
            send(Piece::Events(std::mem::take(&mut events)))?;
            bytes = 0;
        }
    }
    if !events.is_empty() {
        send(Piece::Events(events))?;
    }
    send(Piece::End(result))
}
