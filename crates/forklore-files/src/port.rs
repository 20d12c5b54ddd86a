//! Implements [`Store`] for [`FilesStore`]. Each method delegates to the module of its operation.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_store::Result;
use forklore_store::attachments::Attachments;
use forklore_store::port::{
    Capabilities, Changes, Collected, Committed, Cursor, Filter, Headers, OperationId, Operations,
    Page, Query, Since, Store, Transaction, Verification,
};
use forklore_store::rules::check_attachments;
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan,
};
use jiff::Timestamp;

use crate::store::FilesStore;
use crate::transaction::again;
use crate::{maintenance, operation, read, redact, sources, verify};

impl Store for FilesStore {
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
        self.folder().clock.now()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        check_attachments(Store::attachments(self).as_ref(), &transaction.attachments)?;
        self.commit_transaction(&transaction)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        Ok(self.reading()?.any(session)?.header)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        again(|| read::page(self.reading()?, session, query))
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        again(|| read::page_in_trash(self.reading()?, session, query))
    }

    fn redacted(&self, session: &SessionId) -> Result<Vec<u64>> {
        again(|| redact::redacted(self.reading()?, session))
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.reading()?.list(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.follow(since, limit, wait)
    }

    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        operation::page(|| self.reading(), before, limit)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        match session {
            Some(id) => verify::session(self.reading()?, id),
            None => {
                let mut found = verify::all(self.reading()?)?;
                if let Err(error) = self.index() {
                    found.problems.push(forklore_store::port::Problem {
                        session_id: None,
                        seq: None,
                        attachment: None,
                        kind: error.kind(),
                        message: error.to_string(),
                    });
                }
                Ok(found)
            }
        }
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        Some(self.attachments())
    }

    fn cache_folder(&self) -> Option<PathBuf> {
        self.cache().map(|cache| cache.path().to_owned())
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.reading()?;
        Ok(self.index()?.find(by))
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        self.reading()?;
        Ok(self.index()?.locate(source.0, record))
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        again(|| {
            let folder = self.reading()?;
            sources::spans(folder, &*self.index()?, source, step)
        })
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        self.reading()?;
        Ok(self.index()?.locations(source.0))
    }

    fn gc(&self) -> Result<Collected> {
        let collected = {
            let (_passed, folder) = self.exclusive()?;
            let index = self.index()?;
            maintenance::collect(folder, &index)
        };
        // What was computed from the store may contain deleted events too. Whoever uses it may be
        // waiting for the store, so this does not wait for them while it has the store's lock.
        let cached = self.remove_cache()?;
        let collected = collected?;
        Ok(Collected { freed_bytes: collected.freed_bytes + cached, ..collected })
    }

    fn store_bytes(&self) -> Result<u64> {
        maintenance::bytes_of_files(self.reading()?)
    }
}
