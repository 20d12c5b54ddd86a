//! A store that counts the calls to another one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forklore_core::{Header, SessionId};
use jiff::Timestamp;

use super::{Counter, Meter, Timing};
use crate::attachments::Attachments;
use crate::error::{Error, Result};
use crate::port::{
    Capabilities, Changes, Collected, Committed, Cursor, Filter, Headers, OperationId, Operations,
    Packed, Page, Query, Since, Store, Transaction, Verification, Write,
};
use crate::sources::{FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan};

/// A store that passes every call to its base, and counts commits, reads and changes.
pub struct Metered {
    base: Arc<dyn Store>,
    meter: Arc<Meter>,
}

impl Metered {
    /// Creates a store over `base`. Its meter is that of `base`, if `base` has one.
    #[must_use]
    pub fn over(base: Arc<dyn Store>) -> Self {
        let meter = base.meter().unwrap_or_default();
        Self { base, meter }
    }

    fn timed<T>(&self, timing: Timing, call: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = call();
        self.meter.time(timing, begun.elapsed());
        done
    }

    /// Counts the outcome of one transaction.
    fn ended(&self, writes: Writes, done: &Result<Committed>) {
        match done {
            Ok(_) => {
                self.meter.count(Counter::Appends, writes.appends);
                self.meter.count(Counter::Forks, writes.forks);
            }
            Err(Error::Conflict { .. } | Error::LabelInUse { .. } | Error::IdInUse(_)) => {
                self.meter.count(Counter::Conflicts, 1);
            }
            Err(error) if error.is_of_store() => self.meter.count(Counter::Failures, 1),
            Err(_) => {}
        }
    }
}

/// What a transaction is to write.
#[derive(Clone, Copy)]
struct Writes {
    appends: u64,
    forks: u64,
}

impl Writes {
    fn of(transaction: &Transaction) -> Self {
        let count = |is: fn(&&Write) -> bool| transaction.writes.iter().filter(is).count() as u64;
        Self {
            appends: count(|write| matches!(write, Write::Append { .. })),
            forks: count(|write| matches!(write, Write::Create(new) if new.from.is_some())),
        }
    }
}

impl Store for Metered {
    fn meter(&self) -> Option<Arc<Meter>> {
        Some(Arc::clone(&self.meter))
    }

    fn capabilities(&self) -> Capabilities {
        self.base.capabilities()
    }

    fn now(&self) -> Timestamp {
        self.base.now()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        let writes = Writes::of(&transaction);
        let done = self.timed(Timing::Commit, || self.base.commit(transaction));
        self.ended(writes, &done);
        done
    }

    fn commit_all(&self, transactions: Vec<Transaction>) -> Result<Vec<Result<Committed>>> {
        let writes: Vec<_> = transactions.iter().map(Writes::of).collect();
        let done = self.timed(Timing::Commit, || self.base.commit_all(transactions));
        match &done {
            Ok(all) => writes.into_iter().zip(all).for_each(|(one, done)| self.ended(one, done)),
            Err(_) => self.meter.count(Counter::Failures, 1),
        }
        done
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.base.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.timed(Timing::Read, || self.base.read(session, query))
    }

    fn redacted(&self, session: &SessionId) -> Result<Vec<u64>> {
        self.base.redacted(session)
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.timed(Timing::Read, || self.base.read_in_trash(session, query))
    }

    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        self.base.headers(sessions)
    }

    fn pages(&self, reads: &[(SessionId, Query)]) -> Result<Vec<Result<Page>>> {
        self.timed(Timing::Read, || self.base.pages(reads))
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.base.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        let changes = self.base.changes(since, limit, wait)?;
        self.meter.count(Counter::Changes, changes.sessions.len() as u64);
        Ok(changes)
    }

    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        self.base.operations(before, limit)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.base.verify(session)
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        self.base.attachments()
    }

    fn cache_folder(&self) -> Option<PathBuf> {
        self.base.cache_folder()
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.base.sources(by)
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        self.base.locate_record(source, record)
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        self.base.source_spans(source, step)
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        self.base.record_locations(source)
    }

    fn gc(&self) -> Result<Collected> {
        self.base.gc()
    }

    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        self.base.pack(cold)
    }

    fn store_bytes(&self) -> Result<u64> {
        self.base.store_bytes()
    }
}
