//! Implements [`Store`] for [`SqliteStore`]. The methods that read or write sessions delegate to
//! the module of their verb.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_store::Result;
use forklore_store::attachments::Attachments;
use forklore_store::port::{
    Capabilities, Changes, Collected, Committed, Cursor, Filter, Headers, OperationId, Operations,
    Packed, Page, Query, Since, Store, Transaction, Verification,
};
use forklore_store::rules::check_attachments;
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan,
};
use jiff::Timestamp;

use crate::store::SqliteStore;
use crate::{
    fault, feed, list, maintenance, operation, pack, read, redact, session, sources, transaction,
    verify,
};

/// Separates a failure of one read from a failure of the whole connection, for each of several
/// reads. Returns an outer error if the connection cannot be used any more, so that no further read
/// makes sense. Returns an inner error if only this read failed.
fn apart<T>(read: fault::Result<T>) -> fault::Result<fault::Result<T>> {
    match read {
        Err(fault) if fault.spoils() => Err(fault),
        read => Ok(read),
    }
}

impl Store for SqliteStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            durable: true,
            processes: true,
            sources: true,
            maintenance: true,
            attachments: true,
            operations: true,
            detach_first: false,
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        check_attachments(Store::attachments(self).as_ref(), &transaction.attachments)?;
        transaction::commit(self, transaction)
    }

    fn commit_all(&self, transactions: Vec<Transaction>) -> Result<Vec<Result<Committed>>> {
        transaction::commit_all(self, transactions)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.read_with("reading", |conn| Ok(session::with_notes(conn, session)?.header))
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.read_cached("reading", |conn, cache| {
            read::page(conn, session, query, self.identities(), cache)
        })
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.read_with("reading", |conn| {
            read::page_in_trash(conn, session, query, self.identities())
        })
    }

    fn redacted(&self, session: &SessionId) -> Result<Vec<u64>> {
        self.read_with("reading", |conn| redact::redacted(conn, session))
    }

    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        let doing = "reading";
        let found = self.read_in_parts(doing, |conn, _, begin_part| {
            let one = |id| {
                begin_part();
                session::with_notes(conn, id).map(|session| session.header)
            };
            sessions.iter().map(|id| apart(one(id))).collect::<fault::Result<Vec<_>>>()
        })?;
        Ok(found.into_iter().map(|one| one.map_err(|f| f.about(doing, self.path()))).collect())
    }

    fn pages(&self, reads: &[(SessionId, Query)]) -> Result<Vec<Result<Page>>> {
        let doing = "reading";
        let found = self.read_in_parts(doing, |conn, cache, begin_part| {
            let mut pages = Vec::with_capacity(reads.len());
            for (session, query) in reads {
                begin_part();
                pages.push(apart(read::page(conn, session, query, self.identities(), cache))?);
            }
            Ok(pages)
        })?;
        Ok(found.into_iter().map(|one| one.map_err(|f| f.about(doing, self.path()))).collect())
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        let doing = "listing";
        let (sound, faults) =
            self.read_with(doing, |conn| list::list(conn, filter, after, limit))?;
        let damaged = faults.into_iter().map(|fault| fault.about(doing, self.path())).collect();
        Ok(Headers { sound, damaged })
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        feed::changes(self, since, limit, wait)
    }

    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        operation::page(self, before, limit)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        match session {
            Some(id) => verify::session(self, id),
            None => verify::all(self),
        }
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        Some(self.attachments())
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.read_with("reading", |conn| sources::find(conn, by))
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        self.read_with("reading", |conn| sources::locate(conn, source, record))
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        self.read_with("reading", |conn| sources::ranges_of(conn, source, step))
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        self.read_with("reading", |conn| sources::locations(conn, source).map(Some))
    }

    fn cache_folder(&self) -> Option<PathBuf> {
        self.cache().map(|cache| cache.path().to_owned())
    }

    fn gc(&self) -> Result<Collected> {
        maintenance::gc(self)
    }

    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        pack::pack(self, cold)
    }

    fn store_bytes(&self) -> Result<u64> {
        maintenance::store_bytes(self.path())
    }
}
