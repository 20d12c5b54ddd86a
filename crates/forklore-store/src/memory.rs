//! The store in memory, which is the reference implementation for the other stores.
//!
//! The store has the whole history of each session as one list, and a fork copies the beginning of
//! the parent's list. Without spans and segments, the code shows the rules of the contract
//! directly. All data is lost when the store is dropped.

mod attachments;
mod feed;
mod operations;
mod preview;
mod session;
mod sources;
mod state;
mod transaction;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forklore_core::{Header, SessionId};
use jiff::Timestamp;

pub use self::attachments::MemoryAttachments;
pub use self::preview::Preview;
use self::sources::StoredSource;
use self::state::State;
use crate::attachments::Attachments;
use crate::clock::StoreClock;
use crate::error::Result;
use crate::feed::wait_for;
use crate::port::{
    Capabilities, Changes, Collected, Committed, Cursor, Filter, Headers, OperationId, Operations,
    Page, Query, Since, Store, Transaction, Verification,
};
use crate::rules::check_attachments;
use crate::sources::{FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan};

/// A store in memory. All data is lost when the store is dropped.
#[derive(Debug)]
pub struct MemoryStore {
    state: Mutex<State>,
    attachments: Option<Arc<MemoryAttachments>>,
    clock: StoreClock,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self { state: Mutex::default(), attachments: Some(Arc::default()), clock: <_>::default() }
    }
}

impl MemoryStore {
    /// Creates a store that does not support attachments.
    #[must_use]
    pub fn without_attachments() -> Self {
        Self { attachments: None, ..Self::default() }
    }

    /// Replaces the store's clock, for tests.
    #[must_use]
    pub fn with_clock(self, clock: StoreClock) -> Self {
        Self { clock, ..self }
    }

    /// Removes everything that the store has of a session, as a damaged disk may do. For tests.
    pub fn lose(&self, session: &SessionId) {
        self.state().sessions.remove(&session.fold());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        let (sources, maintenance, attachments) = (true, true, self.attachments.is_some());
        Capabilities { sources, maintenance, attachments, operations: true, ..<_>::default() }
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        check_attachments(Store::attachments(self).as_ref(), &transaction.attachments)?;
        self.state().commit(transaction, self.clock.now())
    }

    fn header(&self, id: &SessionId) -> Result<Header> {
        Ok(self.state().any(id)?.header.clone())
    }

    fn read(&self, id: &SessionId, query: &Query) -> Result<Page> {
        self.state().page(id, query)
    }

    fn read_in_trash(&self, id: &SessionId, query: &Query) -> Result<Page> {
        self.state().page_in_trash(id, query)
    }

    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        let state = self.state();
        Ok(sessions.iter().map(|id| Ok(state.any(id)?.header.clone())).collect())
    }

    fn pages(&self, reads: &[(SessionId, Query)]) -> Result<Vec<Result<Page>>> {
        let state = self.state();
        Ok(reads.iter().map(|(id, query)| state.page(id, query)).collect())
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        let state = self.state();
        let mut found: Vec<_> = state.sessions.values().map(|session| &session.header).collect();
        found.retain(|header| filter.matches(header));
        found.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        found.retain(|header| after.is_none_or(|cursor| cursor.is_before(header)));
        found.truncate(if limit == 0 { usize::MAX } else { limit });
        Ok(Headers { sound: found.into_iter().cloned().collect(), damaged: Vec::new() })
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        let bell = self.state().feed.bell.clone();
        let mut since = since.clone();
        wait_for(&bell, wait, || {
            let changes = self.state().changes(&since, limit)?;
            since = Since::Mark(changes.mark.clone());
            Ok(changes)
        })
    }

    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        Ok(self.state().operations_before(before, limit))
    }

    fn verify(&self, id: Option<&SessionId>) -> Result<Verification> {
        let state = self.state();
        let (sessions, events) = match id {
            Some(id) => (1, state.get(id)?.log.len()),
            None => (state.living().count(), state.needed().len()),
        };
        let (sessions, events) = (sessions as u64, events as u64);
        Ok(Verification { sessions, events, ..Verification::default() })
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        let attachments = self.attachments.clone()?;
        Some(attachments)
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        Ok(self.state().sources_by(by))
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        Ok(self.state().source(source).and_then(|leased| leased.locate(record)))
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        Ok(self.state().source(source).and_then(|leased| leased.ranges(step)))
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        Ok(self.state().source(source).map(StoredSource::locations))
    }

    /// Frees only old operations, because an erasure already drops the session's history.
    fn gc(&self) -> Result<Collected> {
        self.state().retain_operations();
        Ok(Collected::default())
    }

    /// Returns the total size, in bytes, of the payloads of events that sessions need. Erased
    /// sessions need none. An event that several sessions share counts once.
    fn store_bytes(&self) -> Result<u64> {
        let state = self.state();
        let entries = state.unerased().flat_map(|session| &session.log);
        let sizes: BTreeMap<_, _> = entries
            .map(|entry| ((&entry.holder, &entry.origin), entry.event.data.get().len() as u64))
            .collect();
        Ok(sizes.into_values().sum())
    }
}
