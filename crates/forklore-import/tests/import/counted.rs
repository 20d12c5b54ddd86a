//! A store that counts what an import reads from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_store::port::{
    Capabilities, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since, Transaction,
    Verification,
};
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan,
};
use forklore_store::{Result, Store};

/// A store that passes all calls to another one, and counts the sources and headers that it reads.
pub(crate) struct Counted {
    store: Arc<dyn Store>,
    read: AtomicUsize,
}

impl Counted {
    pub(crate) fn over(store: Arc<dyn Store>) -> Self {
        Self { store, read: AtomicUsize::new(0) }
    }

    /// Returns the number of sources and headers that were read since the last call.
    pub(crate) fn take(&self) -> usize {
        self.read.swap(0, Ordering::Relaxed)
    }

    fn count(&self, more: usize) {
        self.read.fetch_add(more, Ordering::Relaxed);
    }
}

impl Store for Counted {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        self.store.commit(transaction)
    }

    fn commit_all(&self, transactions: Vec<Transaction>) -> Result<Vec<Result<Committed>>> {
        self.store.commit_all(transactions)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.count(1);
        self.store.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.store.read(session, query)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.store.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.store.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.store.verify(session)
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        let found = self.store.sources(by)?;
        self.count(1 + found.len());
        Ok(found)
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        self.count(1);
        self.store.locate_record(source, record)
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        self.store.source_spans(source, step)
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        self.store.record_locations(source)
    }
}
