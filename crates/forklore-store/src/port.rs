//! The [`Store`] trait, the interface between the engine and a store.
//!
//! Every change to a store is one [`Transaction`], which [`Store::commit`] executes atomically. A
//! store on another machine therefore needs one round trip for each change. The store does not
//! trust what a caller read earlier: it checks every expectation inside the transaction, so that
//! fork, append, delete and detach cannot race. [`Store::capabilities`] returns which optional
//! parts of the contract a store supports.

mod feed;
mod operation;
mod read;
mod redaction;
mod transaction;
mod write;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forklore_core::redaction::may_be_redacted;
use forklore_core::{Header, SessionId, Strategy};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use feed::{Changes, Mark, SessionChange, Since};
pub use forklore_core::operation::{Operation, OperationId, OperationKind, Outcome};
pub use forklore_core::report::{Collected, Packed, Problem, Verification};
pub use operation::{NewOperation, Operations};
pub use read::{At, Cursor, Direction, Filter, Headers, LogEntry, Page, Query};
pub use redaction::{EventRedaction, Redacted, Redactions};
pub use transaction::{Committed, Deletion, Removal, Transaction, Write, Written};
pub use write::{Append, Appended, Beginning, Change, Changed, Children, NewSession, Removed};

use crate::attachments::Attachments;
use crate::clock::StoreClock;
use crate::error::{Error, Result};
use crate::meter::Meter;
use crate::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan, SourceStep,
};

/// The number of events that [`Store::redacted`] reads at once.
const REDACTED_PAGE: usize = 1000;

/// The optional features of the `Store` interface that a store supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Whether committed data is still present when the store is opened again. If true, two handles
    /// of the store may also be open at once.
    pub durable: bool,
    /// Whether several processes may use the store at once.
    pub processes: bool,
    /// Whether the store records the sources (the imported files) of imported sessions.
    pub sources: bool,
    /// Whether the store can free the space of deleted data.
    pub maintenance: bool,
    /// Whether the store supports attachments.
    pub attachments: bool,
    /// Whether the store records operations, so that they can be undone. A store without this
    /// capability ignores the operation of a transaction.
    pub operations: bool,
    /// Whether the store deletes no session while branch children build on it, also with
    /// [`Children::Retain`]. The children must be detached first.
    pub detach_first: bool,
}

/// Storage for sessions and their events.
pub trait Store: Send + Sync {
    /// Returns the optional features that the store supports. The result never changes.
    fn capabilities(&self) -> Capabilities;

    /// Returns the time of the store's own clock. This clock decides whether a lease is valid,
    /// whatever the callers' clocks show. The store records no time later than this clock's time.
    fn now(&self) -> Timestamp {
        StoreClock::default().now()
    }

    /// Executes all writes of the transaction atomically and in order, or none of them. The writes
    /// are durable when the method returns (docs/semantics.md, Writing). Each write sees the
    /// effects of the writes before it.
    ///
    /// # Errors
    /// The error of the first rejected write (see [`Write`]); `Stale` if the transaction's source
    /// (the imported file) is not in the expected state, or if what the transaction undoes has
    /// changed since; `Invalid` if an attachment does not exist. After an error, nothing was
    /// written.
    fn commit(&self, transaction: Transaction) -> Result<Committed>;

    /// Executes several transactions in order. Each is executed atomically, and succeeds or fails
    /// by itself. All transactions that succeeded are durable when the method returns. A store may
    /// write them together, which is much faster for many small transactions. The result has one
    /// entry for each transaction, in their order.
    ///
    /// # Errors
    /// An error that concerns the whole store ([`Error::is_of_store`]). Some of the transactions
    /// may then have been executed. The error of a single transaction is its entry in the result.
    fn commit_all(&self, transactions: Vec<Transaction>) -> Result<Vec<Result<Committed>>> {
        let mut done = Vec::with_capacity(transactions.len());
        for transaction in transactions {
            match self.commit(transaction) {
                Err(error) if error.is_of_store() => return Err(error),
                one => done.push(one),
            }
        }
        Ok(done)
    }

    /// Returns the header of a session. The header of a deleted session has the field `deleted`,
    /// and is otherwise complete if the session is in the trash. In this and all other methods, ids
    /// match exactly, including case.
    ///
    /// # Errors
    /// `NotFound` if no session has this id; `Corrupt` if the stored header is damaged.
    fn header(&self, session: &SessionId) -> Result<Header>;

    /// Reads a page of events from the history of a session: its inherited events and its own.
    ///
    /// # Errors
    /// `NotFound` if no session has this id; `Deleted` if the session was deleted; `Corrupt` if
    /// stored bytes are damaged; `MissingAncestor` if the store no longer has events that the
    /// history refers to.
    fn read(&self, session: &SessionId, query: &Query) -> Result<Page>;

    /// Reads like [`read`](Self::read), but also reads a session in the trash. `gc` needs this to
    /// find the attachments that such a session mentions. The default implementation cannot read a
    /// session in the trash. With it, `gc` removes no attachments while the trash has a session.
    ///
    /// # Errors
    /// Those of [`read`](Self::read). `Deleted` only if the session was erased; the default
    /// implementation also returns it for a session in the trash.
    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.read(session, query)
    }

    /// Returns the headers of several sessions in one call. Each result is that of
    /// [`header`](Self::header) for the session at the same index.
    ///
    /// # Errors
    /// `Io` or `Corrupt` if the whole store cannot be read.
    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        Ok(sessions.iter().map(|session| self.header(session)).collect())
    }

    /// Reads several pages in one call, of one or more sessions. Each result is that of
    /// [`read`](Self::read) for the session and query at the same index.
    ///
    /// # Errors
    /// `Io` or `Corrupt` if the whole store cannot be read.
    fn pages(&self, reads: &[(SessionId, Query)]) -> Result<Vec<Result<Page>>> {
        Ok(reads.iter().map(|(session, query)| self.read(session, query)).collect())
    }

    /// Lists the headers that match `filter`, the most recently updated first. Headers with the
    /// same update time are sorted by id. The list starts after the position `after`. It has at
    /// most `limit` headers; 0 means no limit. Headers that cannot be read are returned as errors
    /// and do not count towards the limit (docs/semantics.md, Writing).
    ///
    /// # Errors
    /// `Corrupt` if the list itself is damaged; `Io` if it cannot be read for another reason.
    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers>;

    /// Returns the sessions that were written to after the position `since`, at most `limit` of
    /// them (0 means no limit). If there are none, the call waits for the next commit of any
    /// process, at most for `wait`.
    ///
    /// Each session comes once, with its current state. Sessions come in the order of their last
    /// commits, so a reader never finds a later commit before an earlier one of the same session. A
    /// page shows only durable changes. Consecutive pages omit no change, whichever process wrote
    /// it.
    ///
    /// # Errors
    /// `ForeignMark` if the mark (the reader's position) is from another store; `MarkExpired` if
    /// the store was restored to a state before the mark, or no longer has the changes after the
    /// mark; `StoreGone` if the store was deleted; `Corrupt` if stored bytes are damaged; `Io` if
    /// the store cannot be read.
    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes>;

    /// Returns the recorded operations, the newest first: at most `limit` of them (0 means no
    /// limit), all older than `before` if that is given.
    ///
    /// # Errors
    /// `Unsupported` if the store lacks the capability `operations`; `Io` or `Corrupt` if the log
    /// of operations cannot be read at all.
    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        let _ = (before, limit);
        Err(no_operations())
    }

    /// Returns the seqs of the redacted events that are stored with a session, in ascending order:
    /// of its own events, and of its copies of inherited events if it has any (docs/semantics.md,
    /// Redaction). The default implementation reads the history. A store that finds them faster
    /// overrides it.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    fn redacted(&self, session: &SessionId) -> Result<Vec<u64>> {
        let header = self.header(session)?;
        let copies = header.detached || header.strategy == Some(Strategy::ReplayV1);
        let is_stored = |it: &LogEntry| copies || it.origin.session_id == *session;
        let (mut found, mut seq) = (Vec::new(), 0);
        loop {
            let (at, direction) = (At::Seq(seq), Direction::Forward);
            let query = Query { at, direction, limit: REDACTED_PAGE, bare: false };
            let page = self.read(session, &query)?;
            let stored = page.events.iter().filter(|it| is_stored(it));
            let redacted = stored.filter(|it| may_be_redacted(&it.event.data));
            found.extend(redacted.map(|it| it.seq));
            match page.events.last().filter(|_| page.more) {
                Some(last) => seq = last.seq + 1,
                None => return Ok(found),
            }
        }
    }

    /// Reads all stored data of `session`, or of the whole store if `session` is `None`. Returns
    /// the problems found.
    ///
    /// # Errors
    /// `NotFound` if no session has this id; `Deleted` if the session was deleted; `Io` if the
    /// whole store cannot be read. Damage is not an error: it is returned as a problem.
    fn verify(&self, session: Option<&SessionId>) -> Result<Verification>;

    /// Returns the store's attachment storage; `None` if the store does not support attachments.
    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        None
    }

    /// Returns the meter of the store, if it counts something itself. [`Metered`](crate::meter::Metered)
    /// adds the rest.
    fn meter(&self) -> Option<Arc<Meter>> {
        None
    }

    /// Returns the folder for data that is computed from this store and can be computed again, such
    /// as an index ([`CacheFolder`](crate::disk::CacheFolder)). The folder need not exist. `None`
    /// if the store has no such folder, or may not be written to. A store with such a folder
    /// removes it in [`gc`](Self::gc), because the folder may contain deleted data.
    fn cache_folder(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the sources (imported files) that match `by`, the most recently created first.
    ///
    /// # Errors
    /// `Corrupt` if stored bytes are damaged; `Io` if the store cannot be read; `Unsupported` if
    /// the store lacks the capability `sources`.
    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        let _ = by;
        Err(no_sources())
    }

    /// Returns the location of the latest record with a given native id in a source. A native id is
    /// an id that the file's agent gave to the record. `record` is the [`RecordKey`] (a hash) of
    /// that id. Returns `None` if the source has no such record.
    ///
    /// # Errors
    /// `Corrupt` if stored bytes are damaged; `Io` if the store cannot be read; `Unsupported` if
    /// the store lacks the capability `sources`.
    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        let _ = (source, record);
        Err(no_sources())
    }

    /// Returns the spans (byte ranges of the imported file) that one import step stored. `step` is
    /// the number of that step, from 0, among those steps of the source that stored spans. Returns
    /// `None` if there is no step with this number.
    ///
    /// # Errors
    /// `Corrupt` if stored bytes are damaged; `Io` if the store cannot be read; `Unsupported` if
    /// the store lacks the capability `sources`.
    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        let _ = (source, step);
        Err(no_sources())
    }

    /// Returns the keys and locations of all records of a source. A caller needs them to copy the
    /// source into another store. Returns `None` if the store cannot list them or has no such
    /// source.
    ///
    /// # Errors
    /// `Corrupt` if stored bytes are damaged; `Io` if the store cannot be read.
    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        let _ = source;
        Ok(None)
    }

    /// Frees the space of deleted data. Afterwards, the store's files contain only those events
    /// that the history of some session contains (docs/semantics.md, Delete, detach).
    ///
    /// # Errors
    /// `Locked` if another process locks the store for too long; `Io` if a read or a write fails;
    /// `Unsupported` if the store lacks the capability `maintenance`.
    fn gc(&self) -> Result<Collected> {
        Err(no_maintenance())
    }

    /// Compresses the data of idle families. A family (a root session and its descendants) is idle
    /// if none of its sessions was updated since `cold`. The method also joins the pieces of each
    /// history that consists of very many small pieces. Such a history can then be read as fast as
    /// a history of few pieces. Every read still returns the same result afterwards. The default
    /// implementation does nothing.
    ///
    /// # Errors
    /// `Locked` if another process locks the store for too long; `Io` if a read or a write fails.
    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        let _ = cold;
        Ok(Packed::default())
    }

    /// Returns the total size of the store's files, in bytes.
    ///
    /// # Errors
    /// `Io` if the files cannot be accessed; `Unsupported` if the store lacks the capability
    /// `maintenance`.
    fn store_bytes(&self) -> Result<u64> {
        Err(no_maintenance())
    }

    /// Creates a session with its first events, in a transaction with a single [`Write::Create`].
    ///
    /// # Errors
    /// The errors of [`Write::Create`].
    fn create(&self, new: NewSession) -> Result<Header> {
        self.commit(Write::Create(Box::new(new)).into())?.created()
    }

    /// Appends events after the session's head, in a transaction with a single [`Write::Append`].
    ///
    /// # Errors
    /// The errors of [`Write::Append`].
    fn append(&self, session: &SessionId, append: Append) -> Result<Appended> {
        self.commit(Write::Append { session: session.clone(), append }.into())?.appended()
    }

    /// Changes a session's header or storage, but not its log. The transaction has a single
    /// [`Write::Change`].
    ///
    /// # Errors
    /// The errors of [`Write::Change`].
    fn change(&self, session: &SessionId, change: &Change) -> Result<Changed> {
        let (session, change) = (session.clone(), change.clone());
        self.commit(Write::Change { session, change }.into())?.changed()
    }

    /// Erases sessions, in a transaction with a single [`Write::Remove`].
    ///
    /// # Errors
    /// The errors of [`Write::Remove`].
    fn remove(
        &self,
        sessions: &[SessionId],
        children: Children,
        now: Timestamp,
    ) -> Result<Removed> {
        self.delete(sessions, children, Deletion::Erase, now)
    }

    /// Deletes sessions in the given way, in a transaction with a single [`Write::Remove`].
    ///
    /// # Errors
    /// The errors of [`Write::Remove`].
    fn delete(
        &self,
        sessions: &[SessionId],
        children: Children,
        deletion: Deletion,
        now: Timestamp,
    ) -> Result<Removed> {
        let removal = Removal { sessions: sessions.to_vec(), children, deletion, now };
        self.commit(Write::Remove(removal).into())?.removed()
    }

    /// Executes one step of an import in one transaction. `writes` are the sessions and events read
    /// from a file, and `step` records how far the file was read.
    ///
    /// # Errors
    /// The errors of [`Store::commit`]; `Unsupported` if the store lacks the capability `sources`.
    fn import(&self, writes: Vec<Write>, step: SourceStep) -> Result<SourceId> {
        let source = Some(Box::new(step));
        self.commit(Transaction { writes, source, ..Transaction::default() })?.imported()
    }
}

/// Returns the error of a store that lacks the capability `sources` (records of imported files).
#[must_use]
pub fn no_sources() -> Error {
    Error::Unsupported("this store keeps no sources of imported sessions".into())
}

/// Returns the error of a store that lacks the capability `operations`.
#[must_use]
pub fn no_operations() -> Error {
    Error::Unsupported("this store keeps no log of operations, so nothing can be undone".into())
}

fn no_maintenance() -> Error {
    Error::Unsupported("this store gives no space back".into())
}
