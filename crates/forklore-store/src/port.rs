//! The port: what the engine asks of a store, in nine methods.
//!
//! Each call is one atomic step. What a caller read before is never trusted: the store checks
//! every expectation inside the step, so fork, append, delete and detach cannot race. A store has
//! no clock; callers say what time it is.

mod feed;

use std::collections::BTreeSet;
use std::time::Duration;

use forklore_core::header::{CopyOf, Usage};
use forklore_core::workspace::Workspace;
use forklore_core::{
    Counts, Cut, Data, Event, EventId, Header, Label, Origin, SessionId, SessionKind, Strategy,
    ToolCallPolicy,
};
use jiff::Timestamp;
use serde::Serialize;

use crate::error::{Error, Result};

pub use feed::{Changes, Mark, SessionChange, Since};

/// Keeps sessions and their events.
pub trait Store: Send + Sync {
    /// Makes a session with its first events; it becomes visible whole and last (SPEC 6.5).
    ///
    /// # Errors
    /// `IdTaken`, `LabelTaken`, `NotFound` or `Deleted` (the parent), `Invalid` (a cut that the
    /// parent does not reach, a child without its `session_fork`, a kind that does not go with
    /// its beginning), `MissingAncestor`.
    fn create(&self, new: NewSession) -> Result<Header>;

    /// Adds events behind the head, all or none; they are durable when it returns (SPEC 9). A
    /// repetition of an earlier append writes nothing, so it needs no lease.
    ///
    /// # Errors
    /// `NotFound`, `Deleted`, `Invalid` (no events), `Held`, `LeaseLost`, `Conflict` with the real
    /// head.
    fn append(&self, session: &SessionId, append: Append) -> Result<Appended>;

    /// The header of a session, of a deleted one too (its `deleted` is then set). As everywhere, the
    /// id names a session only in its own spelling.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`.
    fn header(&self, session: &SessionId) -> Result<Header>;

    /// Events of the assembled history, a page at a time.
    ///
    /// # Errors
    /// `NotFound`, `Deleted`, `Corrupt`, `MissingAncestor`.
    fn read(&self, session: &SessionId, query: &Query) -> Result<Page>;

    /// Headers, the last updated first (then by id), those behind `after` only; `limit` 0 is all.
    /// A header that cannot be read is told beside the others and counts for no limit (SPEC 9).
    ///
    /// # Errors
    /// `Corrupt` when the list itself cannot be read, `Io`.
    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers>;

    /// Changes something about a session that is not its log.
    ///
    /// # Errors
    /// `NotFound`, `Deleted`, `LabelTaken`, `Held`, `LeaseLost`, `MissingAncestor`.
    fn change(&self, session: &SessionId, change: &Change) -> Result<Changed>;

    /// Deletes sessions in one step. What any other session needs stays as a nameless segment;
    /// of each a tombstone stays (SPEC 10). A session already deleted is passed over.
    ///
    /// # Errors
    /// `HasChildren` unless `children` is [`Children::Keep`], `Held`, `NotFound`.
    fn remove(&self, sessions: &[SessionId], children: Children, now: Timestamp)
    -> Result<Removed>;

    /// Which sessions were written to since, at most `limit` of them (0 is all). Where there is
    /// nothing yet, it waits for the next commit of any process, at most so long.
    ///
    /// Each session comes once, with its state of now, in the order of the last commits: a reader
    /// never finds a later commit before an earlier one of the same session. What a page shows is
    /// durable, and nothing between two marks is left out, whoever wrote it.
    ///
    /// # Errors
    /// `ForeignMark` when the mark is of another store, `MarkExpired` when the store was put back
    /// to an earlier state or no longer has what is behind it, `StoreGone` when the store was
    /// deleted meanwhile, `Corrupt`, `Io`.
    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes>;

    /// Reads everything stored, of one session or all, and says what is wrong with it.
    ///
    /// # Errors
    /// `NotFound`, or `Io` when the store cannot be read at all. Damage is a problem, no error.
    fn verify(&self, session: Option<&SessionId>) -> Result<Verification>;
}

/// A session to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// How it comes to be; a root has no `from`, the others have one.
    pub kind: SessionKind,
    /// Its label; a root's is `main`.
    pub label: Label,
    /// What people call it.
    pub title: Option<String>,
    /// Its folder.
    pub workspace: Workspace,
    /// For whom it acts.
    pub principal: Option<String>,
    /// Its ceiling.
    pub permissions: Option<BTreeSet<String>>,
    /// The application's notes.
    pub metadata: Option<Data>,
    /// The application's configuration.
    pub config: Option<Data>,
    /// Whose records it holds.
    pub dialect: Option<String>,
    /// The file it was read from.
    pub source: Option<String>,
    /// The session whose beginning it repeats.
    pub copy_of: Option<CopyOf>,
    /// When it is made.
    pub created: Timestamp,
    /// Where it begins.
    pub from: Option<Beginning>,
    /// Its own first events; a child's first is its `session_fork`.
    pub events: Vec<Event>,
    /// The sum of what `events` say was spent.
    pub usage: Usage,
}

/// Where a child begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The session it comes from.
    pub parent: SessionId,
    /// The place; `kept` inheritable events are inherited, by a delegate none.
    pub cut: Cut,
    /// How the prefix is stored.
    pub strategy: Strategy,
    /// What was asked for open calls.
    pub tool_calls: ToolCallPolicy,
}

/// Events to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The head the caller saw; none goes behind whatever is there.
    pub expect: Option<i64>,
    /// The runtime that writes, where one holds the session.
    pub owner: Option<String>,
    /// The sum of what `events` say was spent.
    pub usage: Usage,
    /// What time it is.
    pub now: Timestamp,
}

/// What an append came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The seq of the first event.
    pub from_seq: u64,
    /// The seq of the last event.
    pub to_seq: u64,
    /// The head now; behind `to_seq` when the append was a repetition.
    pub head_seq: i64,
    /// The events were already there, from an earlier append with the same ids (SPEC 9).
    pub repeated: bool,
}

/// Which events to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The event to begin with.
    pub at: At,
    /// Towards the end, or towards the beginning.
    pub direction: Direction,
    /// The most events in the page, at least 1. A store may return fewer to bound memory.
    pub limit: usize,
    /// Leave out `data` (it reads `null`): for callers that want places and counts only.
    pub bare: bool,
}

/// An event's place in the assembled history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// The event at this log position, or the next one in the direction of reading.
    Seq(u64),
    /// The inheritable event of this number, from 1.
    Kept(u64),
    /// The conversation event of this index, from 0.
    Index(u64),
    /// The event that begins this turn, from 1.
    Turn(u64),
    /// Every event of this id, whatever the direction, in order.
    Id(EventId),
}

/// Which way a page is read. Events come in the order they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Rising seq.
    Forward,
    /// Falling seq.
    Backward,
}

/// A page of events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The events, in the order of reading; empty when there is nothing at the place asked for.
    pub events: Vec<Stored>,
    /// Whether more follow in that direction.
    pub more: bool,
}

/// An event where a reader of one session finds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its number in the session read.
    pub seq: u64,
    /// Where it was first written.
    pub origin: Origin,
    /// The counts of the session's history up to and including it.
    pub counts: Counts,
    /// The event.
    pub event: Event,
}

/// Which sessions to list. Conditions add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Sessions of this family only.
    pub family: Option<SessionId>,
    /// Sessions of this workspace only.
    pub workspace: Option<Workspace>,
    /// Children of this session only.
    pub parent: Option<SessionId>,
    /// Sessions of this label only.
    pub label: Option<Label>,
    /// Sessions whose id begins or ends like this only.
    pub id_part: Option<String>,
    /// Sessions of these kinds only; empty is all.
    pub kinds: Vec<SessionKind>,
    /// Sessions updated at or after this time only.
    pub since: Option<Timestamp>,
    /// Deleted sessions too.
    pub deleted: bool,
}

/// The headers that a filter asks for, and what of them cannot be read.
#[derive(Debug, Default)]
pub struct Headers {
    /// Those that can be read, in order.
    pub sound: Vec<Header>,
    /// Why each of the others cannot, naming its place; they may come again with a later page.
    pub damaged: Vec<Error>,
}

impl Headers {
    /// The headers, for a caller that cannot go on without one of them.
    ///
    /// # Errors
    /// The first damage.
    pub fn all(self) -> Result<Vec<Header>> {
        self.damaged.into_iter().next().map_or(Ok(self.sound), Err)
    }
}

/// The place behind the last header of a page of [`Store::sessions`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// When that session was updated.
    pub updated: Timestamp,
    /// Its id.
    pub id: SessionId,
}

/// A change of something that is not the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Another label.
    Label(Label),
    /// Another title, or none.
    Title(Option<String>),
    /// Which session of its file the agent would resume.
    Leaf(Option<SessionId>),
    /// Which session it is a copy of, as far as a place, or none (SPEC 1).
    CopyOf(Option<CopyOf>),
    /// Take or renew the lease; the turn begins at the head when it is taken.
    Hold {
        /// The runtime.
        owner: String,
        /// Until when, unless renewed.
        expires: Timestamp,
        /// What time it is.
        now: Timestamp,
    },
    /// Give the lease back.
    Release {
        /// The runtime.
        owner: String,
    },
    /// Copy the assembled prefix into a segment of its own (SPEC 10). Lasting: a second time it
    /// does nothing.
    Detach,
}

/// What a change came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The header now.
    pub header: Header,
    /// How many events a [`Change::Detach`] copied.
    pub copied_events: u64,
}

/// What a delete does about branch children that are not deleted with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    /// Their existence refuses the delete, unless they were detached.
    Refuse,
    /// They keep what they need.
    Keep,
}

/// What a delete came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The sessions that are now gone, in the order given.
    pub deleted: Vec<SessionId>,
    /// Of how many of them a segment stays because a living session's history refers to it: to
    /// events they wrote, or to their own copy of a prefix. A history refers to what its parent's
    /// referred to when it was forked, or to its own copy once it is detached.
    pub kept_segments: u64,
}

/// What a check of the whole store came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Sessions looked at.
    pub sessions: u64,
    /// Events read, shared ones once.
    pub events: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Something wrong in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The session, where known.
    pub session_id: Option<SessionId>,
    /// The log position, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The attachment that is missing or damaged, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachment: Option<forklore_core::AttachmentId>,
    /// The kind, like an error's.
    pub kind: forklore_core::ErrorKind,
    /// What is wrong, in words.
    pub message: String,
}

impl Problem {
    /// What an error says is wrong, with its place where it names one, else with this session.
    #[must_use]
    pub fn of(error: &Error, session: Option<&SessionId>) -> Self {
        let (named, seq) = match error {
            Error::Corrupt { session, seq, .. } => (session.as_ref(), *seq),
            Error::MissingAncestor { session, .. } => (Some(session), None),
            _ => (None, None),
        };
        let session_id = named.or(session).cloned();
        Self { session_id, seq, attachment: None, kind: error.kind(), message: error.to_string() }
    }
}

/// What a store can do about its own space. Beside the port: a store without it keeps everything.
pub trait Maintenance {
    /// Gives back the space of what was deleted: afterwards no file of the store contains bytes
    /// of events that no session shows (SPEC 10).
    ///
    /// # Errors
    /// `Locked`, `Io`.
    fn gc(&self, now: Timestamp) -> Result<Collected>;

    /// Writes what is seldom read in less space, and joins histories that are made of very many
    /// small pieces, so that they are read like short ones. Seldom read are the families of which
    /// no session was updated since `cold`. No answer changes; a store that has nothing to pack
    /// does nothing.
    ///
    /// # Errors
    /// `Locked`, `Io`.
    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        let _ = cold;
        Ok(Packed::default())
    }

    /// The size of the store's files, in bytes.
    ///
    /// # Errors
    /// `Io`.
    fn store_bytes(&self) -> Result<u64>;
}

/// What a gc freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// Bytes given back to the file system.
    pub freed_bytes: u64,
    /// Segments that nobody needed.
    pub segments: u64,
    /// Events in them.
    pub events: u64,
    /// Attachments that no event names; a store leaves them to its caller, who knows the names.
    pub attachments: u64,
}

/// What a pack came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Packed {
    /// Bytes given back to the file system.
    pub freed_bytes: u64,
    /// Events that take less space now.
    pub events: u64,
    /// Histories of many small pieces that were joined.
    pub histories: u64,
}
