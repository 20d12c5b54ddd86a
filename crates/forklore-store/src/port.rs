//! The [`Store`] trait, which is the interface between the engine and a store.
//!
//! Every change to a store is one [`Transaction`], which [`Store::commit`] executes atomically. A
//! store on another machine needs one round trip for it. The store does not trust what a caller
//! read earlier: it checks every expectation inside the transaction, so fork, append, delete and
//! detach cannot race. [`Store::capabilities`] tells what a store supports beyond the base of the
//! contract.

mod feed;
mod read;
mod transaction;
mod write;

use std::sync::Arc;
use std::time::Duration;

use forklore_core::{Header, SessionId};
use jiff::Timestamp;

pub use feed::{Changes, Mark, SessionChange, Since};
pub use forklore_core::report::{Collected, Packed, Problem, Verification};
pub use read::{At, Cursor, Direction, Filter, Headers, LogEntry, Page, Query};
pub use transaction::{Committed, Removal, Transaction, Write, Written};
pub use write::{Append, Appended, Beginning, Change, Changed, Children, NewSession, Removed};

use crate::attachments::Attachments;
use crate::clock::StoreClock;
use crate::error::{Error, Result};
use crate::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan, SourceStep,
};

/// The optional parts of the contract that a store supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Committed data is there when the store is opened again, and two handles may be open at once.
    pub durable: bool,
    /// Several processes may use the store at once.
    pub processes: bool,
    /// The store retains the sources of imported sessions.
    pub sources: bool,
    /// The store can free the space of deleted data.
    pub maintenance: bool,
    /// The store has attachments.
    pub attachments: bool,
}

/// Storage for sessions and their events.
pub trait Store: Send + Sync {
    /// Returns the optional parts of the contract that the store supports. The result never
    /// changes.
    fn capabilities(&self) -> Capabilities;

    /// Returns the time of the store's own clock. This clock decides whether a lease is valid,
    /// whatever the clocks of the callers say, and no recorded time is later than it.
    fn now(&self) -> Timestamp {
        StoreClock::default().now()
    }

    /// Executes all writes of the transaction atomically and in order, or none of them. They are
    /// durable when it returns (docs/semantics.md, Writing). Each write sees the writes before it.
    ///
    /// # Errors
    /// The error of the first rejected write, see [`Write`]; `Stale` if the transaction's source is
    /// not in the expected state, `Invalid` if an attachment does not exist. Then nothing was
    /// written.
    fn commit(&self, transaction: Transaction) -> Result<Committed>;

    /// Returns the header of a session. It works for a deleted session too, whose `deleted` is then
    /// set. Here and in all other methods, ids match exactly, including case.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`.
    fn header(&self, session: &SessionId) -> Result<Header>;

    /// Reads a page of events of the assembled history.
    ///
    /// # Errors
    /// `NotFound`, `Deleted`, `Corrupt`, `MissingAncestor`.
    fn read(&self, session: &SessionId, query: &Query) -> Result<Page>;

    /// Returns the headers of several sessions in one call, each as from [`header`](Self::header).
    ///
    /// # Errors
    /// `Io`, `Corrupt` if the store cannot be read at all.
    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        Ok(sessions.iter().map(|session| self.header(session)).collect())
    }

    /// Reads pages of several sessions, or of several ranges of one, in one call, each as from
    /// [`read`](Self::read).
    ///
    /// # Errors
    /// `Io`, `Corrupt` if the store cannot be read at all.
    fn pages(&self, reads: &[(SessionId, Query)]) -> Result<Vec<Result<Page>>> {
        Ok(reads.iter().map(|(session, query)| self.read(session, query)).collect())
    }

    /// Lists headers, the most recently updated first (then by id), starting after `after`. A
    /// `limit` of 0 means no limit. Headers that cannot be read are returned as damaged and do not
    /// count towards the limit (docs/semantics.md, Writing).
    ///
    /// # Errors
    /// `Corrupt` if the list itself cannot be read, `Io`.
    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers>;

    /// Returns the sessions that were written to since `since`, at most `limit` of them (0 means no
    /// limit). If there are none yet, it waits for the next commit of any process, at most for
    /// `wait`.
    ///
    /// Each session comes once, with its current state, in the order of the last commits. So a
    /// reader never finds a later commit before an earlier one of the same session. What a page
    /// shows is durable, and nothing between two marks is missing, whoever wrote it.
    ///
    /// # Errors
    /// `ForeignMark` if the mark is from another store, `MarkExpired` if the store was restored to
    /// an earlier state or no longer has the changes after the mark, `StoreGone` if the store was
    /// deleted meanwhile, `Corrupt`, `Io`.
    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes>;

    /// Reads everything stored, of one session or all, and returns the problems found.
    ///
    /// # Errors
    /// `NotFound`, or `Io` if the store cannot be read at all. Damage is a problem and not an
    /// error.
    fn verify(&self, session: Option<&SessionId>) -> Result<Verification>;

    /// Returns the store's attachments; `None` if it does not support them.
    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        None
    }

    /// Returns the matching sources, the most recently created first.
    ///
    /// # Errors
    /// `Corrupt`, `Io`, `Unsupported` without the capability `sources`.
    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        let _ = by;
        Err(no_sources())
    }

    /// Returns the location of the latest record with a native id, given as its [`RecordKey`].
    ///
    /// # Errors
    /// `Corrupt`, `Io`, `Unsupported` without the capability `sources`.
    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        let _ = (source, record);
        Err(no_sources())
    }

    /// Returns the spans that one step of the import wrote; `None` after the last step. Steps are
    /// numbered from 0.
    ///
    /// # Errors
    /// `Corrupt`, `Io`, `Unsupported` without the capability `sources`.
    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        let _ = (source, step);
        Err(no_sources())
    }

    /// Returns the locations of all records of a source, for copying it into another store; `None`
    /// if the store cannot list them.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        let _ = source;
        Ok(None)
    }

    /// Frees the space of deleted data. Afterwards, no file of the store contains bytes of events
    /// that no session shows (docs/semantics.md, Delete, detach).
    ///
    /// # Errors
    /// `Locked`, `Io`, `Unsupported` without the capability `maintenance`.
    fn gc(&self) -> Result<Collected> {
        Err(no_maintenance())
    }

    /// Stores rarely read data in less space, and joins histories made of very many small pieces,
    /// so that they are read as fast as short ones. A family is rarely read if none of its sessions
    /// was updated since `cold`. No read returns a different result afterwards. A store without
    /// anything to pack does nothing.
    ///
    /// # Errors
    /// `Locked`, `Io`.
    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        let _ = cold;
        Ok(Packed::default())
    }

    /// Returns the size of the store's files, in bytes.
    ///
    /// # Errors
    /// `Io`, `Unsupported` without the capability `maintenance`.
    fn store_bytes(&self) -> Result<u64> {
        Err(no_maintenance())
    }

    /// Creates a session with its first events, in its own transaction: [`Write::Create`].
    ///
    /// # Errors
    /// Those of [`Write::Create`].
    fn create(&self, new: NewSession) -> Result<Header> {
        self.commit(Write::Create(Box::new(new)).into())?.created()
    }

    /// Appends events after the head, in its own transaction: [`Write::Append`].
    ///
    /// # Errors
    /// Those of [`Write::Append`].
    fn append(&self, session: &SessionId, append: Append) -> Result<Appended> {
        self.commit(Write::Append { session: session.clone(), append }.into())?.appended()
    }

    /// Changes something other than the log, in its own transaction: [`Write::Change`].
    ///
    /// # Errors
    /// Those of [`Write::Change`].
    fn change(&self, session: &SessionId, change: &Change) -> Result<Changed> {
        let (session, change) = (session.clone(), change.clone());
        self.commit(Write::Change { session, change }.into())?.changed()
    }

    /// Deletes sessions, in its own transaction: [`Write::Remove`].
    ///
    /// # Errors
    /// Those of [`Write::Remove`].
    fn remove(
        &self,
        sessions: &[SessionId],
        children: Children,
        now: Timestamp,
    ) -> Result<Removed> {
        let removal = Removal { sessions: sessions.to_vec(), children, now };
        self.commit(Write::Remove(removal).into())?.removed()
    }

    /// Writes what was read from a file, and how far it was read, in one transaction.
    ///
    /// # Errors
    /// Those of [`Store::commit`]; `Unsupported` without the capability `sources`.
    fn import(&self, writes: Vec<Write>, step: SourceStep) -> Result<SourceId> {
        let source = Some(Box::new(step));
        self.commit(Transaction { writes, source, ..Transaction::default() })?.imported()
    }
}

/// Returns the error of a store that does not retain sources.
#[must_use]
pub fn no_sources() -> Error {
    Error::Unsupported("this store keeps no sources of imported sessions".into())
}

fn no_maintenance() -> Error {
    Error::Unsupported("this store gives no space back".into())
}
