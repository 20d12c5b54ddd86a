//! A store that counts what an import reads from it, and that can break at a commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_store::attachments::Attachments;
use forklore_store::port::{
    Capabilities, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since, Transaction,
    Verification,
};
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan,
};
use forklore_store::{Error, Result, Store};

/// A store that passes all calls to another one, and counts the sources and headers that it reads.
pub(crate) struct Counted {
    store: Arc<dyn Store>,
    read: AtomicUsize,
    breaking: Option<Break>,
    broken: AtomicBool,
}

/// When a store breaks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Break {
    /// The number of commits before the one that breaks.
    pub(crate) after: usize,
    /// Whether the commit that breaks is written, and only its answer is lost.
    pub(crate) is_written: bool,
}

impl Counted {
    pub(crate) fn over(store: Arc<dyn Store>) -> Self {
        Self { store, read: AtomicUsize::new(0), breaking: None, broken: AtomicBool::new(false) }
    }

    /// Returns a store that breaks at a commit, and refuses all later ones.
    pub(crate) fn breaking(store: Arc<dyn Store>, breaking: Break) -> Self {
        Self { breaking: Some(breaking), ..Self::over(store) }
    }

    /// Checks whether the store broke.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Returns the number of sources and headers that were read since the last call.
    pub(crate) fn take(&self) -> usize {
        self.read.swap(0, Ordering::Relaxed)
    }

    fn count(&self, more: usize) {
        if self.breaking.is_none() {
            self.read.fetch_add(more, Ordering::Relaxed);
        }
    }
}

impl Store for Counted {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        let Some(Break { after, is_written }) = self.breaking else {
            return self.store.commit(transaction);
        };
        let number = self.read.fetch_add(1, Ordering::Relaxed);
        if number < after {
            return self.store.commit(transaction);
        }
        self.broken.store(true, Ordering::Relaxed);
        if number == after && is_written {
            self.store.commit(transaction)?;
        }
        Err(Error::io("committing", "the store broke"))
    }

    fn commit_all(&self, transactions: Vec<Transaction>) -> Result<Vec<Result<Committed>>> {
        self.store.commit_all(transactions)
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        self.store.attachments()
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
