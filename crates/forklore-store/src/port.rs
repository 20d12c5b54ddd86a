//! The port: what the engine asks of a store.
//!
//! Everything that changes a store is one [`Transaction`], taken by [`Store::commit`] as one atomic
//! step: a store on another machine needs one round trip for it. What a caller read before is never
//! trusted: the store checks every expectation inside the step, so fork, append, delete and detach
//! cannot race. What a store can do beyond the base of the contract it says itself
//! ([`Store::capabilities`]).

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

/// What a store can do beyond the base of the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// What was committed is there when the store is opened again, and two handles may be open at
    /// once.
    pub durable: bool,
    /// Several processes may use it at once.
    pub processes: bool,
    /// It keeps the sources of imported sessions.
    pub sources: bool,
    /// It gives back the space of what was deleted.
    pub maintenance: bool,
    /// It keeps attachments.
    pub attachments: bool,
}

/// Keeps sessions and their events.
pub trait Store: Send + Sync {
    /// What the store can do beyond the base of the contract; always the same.
    fn capabilities(&self) -> Capabilities;

    /// What time it is by the store's own clock. It decides who holds a lease, whatever time its
    /// callers have, and nothing is recorded as later than it says.
    fn now(&self) -> Timestamp {
        StoreClock::default().now()
    }

    /// Takes all writes of the transaction in one step, in order, or none of them. They are durable
    /// when it returns (SPEC 9). Each write sees those before it.
    ///
    /// # Errors
    /// That of the first write that is refused, see [`Write`]; `Stale` where the transaction's
    /// source is not where it expects it, `Invalid` where an attachment is not there. Nothing was
    /// then written.
    fn commit(&self, transaction: Transaction) -> Result<Committed>;

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

    /// The headers of several sessions in one call, each as [`header`](Self::header) gives it.
    ///
    /// # Errors
    /// `Io`, `Corrupt` when the store cannot be read at all.
    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        Ok(sessions.iter().map(|session| self.header(session)).collect())
    }

    /// Pages of several sessions, or of several ranges of one, in one call, each as
    /// [`read`](Self::read) gives it.
    ///
    /// # Errors
    /// `Io`, `Corrupt` when the store cannot be read at all.
    fn pages(&self, reads: &[(SessionId, Query)]) -> Result<Vec<Result<Page>>> {
        Ok(reads.iter().map(|(session, query)| self.read(session, query)).collect())
    }

    /// Headers, the last updated first (then by id), those after `after` only; `limit` 0 is all.
    /// A header that cannot be read is returned as damaged and counts for no limit (SPEC 9).
    ///
    /// # Errors
    /// `Corrupt` when the list itself cannot be read, `Io`.
    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers>;

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

    /// The store's attachments, where it keeps any.
    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        None
    }

    /// The sources that fit, the one made last first.
    ///
    /// # Errors
    /// `Corrupt`, `Io`, `Unsupported` without the capability `sources`.
    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        let _ = by;
        Err(no_sources())
    }

    /// Where the latest record of a native id stands, the id given as its [`RecordKey`].
    ///
    /// # Errors
    /// `Corrupt`, `Io`, `Unsupported` without the capability `sources`.
    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        let _ = (source, record);
        Err(no_sources())
    }

    /// The ranges that one step wrote, by its number from 0; none after the last step.
    ///
    /// # Errors
    /// `Corrupt`, `Io`, `Unsupported` without the capability `sources`.
    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        let _ = (source, step);
        Err(no_sources())
    }

    /// Where all records of a source stand, for a copy into another store; none where the store
    /// cannot list them.
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

    /// Gives back the space of what was deleted: afterwards no file of the store contains bytes
    /// of events that no session shows (SPEC 10).
    ///
    /// # Errors
    /// `Locked`, `Io`, `Unsupported` without the capability `maintenance`.
    fn gc(&self) -> Result<Collected> {
        Err(no_maintenance())
    }

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
    /// `Io`, `Unsupported` without the capability `maintenance`.
    fn store_bytes(&self) -> Result<u64> {
        Err(no_maintenance())
    }

    /// Makes a session with its first events, in a transaction of its own: [`Write::Create`].
    ///
    /// # Errors
    /// Those of [`Write::Create`].
    fn create(&self, new: NewSession) -> Result<Header> {
        self.commit(Write::Create(Box::new(new)).into())?.created()
    }

    /// Adds events after the head, in a transaction of its own: [`Write::Append`].
    ///
    /// # Errors
    /// Those of [`Write::Append`].
    fn append(&self, session: &SessionId, append: Append) -> Result<Appended> {
        self.commit(Write::Append { session: session.clone(), append }.into())?.appended()
    }

    /// Changes something that is not the log, in a transaction of its own: [`Write::Change`].
    ///
    /// # Errors
    /// Those of [`Write::Change`].
    fn change(&self, session: &SessionId, change: &Change) -> Result<Changed> {
        let (session, change) = (session.clone(), change.clone());
        self.commit(Write::Change { session, change }.into())?.changed()
    }

    /// Deletes sessions, in a transaction of its own: [`Write::Remove`].
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

    /// Writes what was read of a file, and how far it was read, in one transaction.
    ///
    /// # Errors
    /// Those of [`Store::commit`]; `Unsupported` without the capability `sources`.
    fn import(&self, writes: Vec<Write>, step: SourceStep) -> Result<SourceId> {
        let source = Some(Box::new(step));
        self.commit(Transaction { writes, source, ..Transaction::default() })?.imported()
    }
}

/// The error of a store that keeps no sources.
#[must_use]
pub fn no_sources() -> Error {
    Error::Unsupported("this store keeps no sources of imported sessions".into())
}

fn no_maintenance() -> Error {
    Error::Unsupported("this store gives no space back".into())
}
