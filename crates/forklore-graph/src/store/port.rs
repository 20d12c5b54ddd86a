//! Implements the port [`Store`] for [`GraphStore`]: applies the rules of the store's profile, then
//! passes each call on to the journal, which is the files store that contains the sessions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_store::attachments::Attachments;
use forklore_store::port::{
    Capabilities, Changes, Children, Collected, Committed, Cursor, Filter, Headers, NewSession,
    OperationId, Operations, Packed, Page, Query, Since, Store, Transaction, Verification, Write,
};
use forklore_store::rules::{ForkDepth, Link, fork_depth};
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan,
};
use forklore_store::{Error, Result};
use jiff::Timestamp;

use super::GraphStore;
use crate::iri::is_did;
use crate::profile::Profile;

impl GraphStore {
    /// Checks the depth of a session to create. `links` are the sessions that the transaction
    /// creates before it.
    fn check_depth(&self, new: &NewSession, links: &mut HashMap<SessionId, Link>) -> Result<()> {
        let Some(most) = self.max_fork_depth() else { return Ok(()) };
        let link = Link::of_new(new);
        let find = |id: &SessionId| match links.get(id) {
            Some(link) => Ok(Some(link.clone())),
            None => match self.journal.header(id) {
                Ok(header) => Ok(Some(Link::of(&header))),
                Err(Error::NotFound(_) | Error::Lost { .. } | Error::Corrupt { .. }) => Ok(None),
                Err(error) => Err(error),
            },
        };
        if link.depends_on().is_some() {
            match fork_depth(link.clone(), most, find)? {
                ForkDepth::Links(links) if links <= most => {}
                _ => {
                    return Err(Error::Invalid(format!(
                        "in the Trails profile a fork is at most {most} deep, unless it is a copy"
                    )));
                }
            }
        }
        links.insert(new.id.clone(), link);
        Ok(())
    }

    fn check(&self, new: &NewSession) -> Result<()> {
        let named = new.principal.as_deref().filter(|_| self.profile == Profile::Trails);
        match named.filter(|principal| !is_did(principal)) {
            Some(_) => Err(Error::Invalid(
                "in the Trails profile a principal is a DID, like did:web:example.com".into(),
            )),
            None => Ok(()),
        }
    }
}

impl Store for GraphStore {
    fn capabilities(&self) -> Capabilities {
        let detach_first = self.profile == Profile::Trails;
        Capabilities { detach_first, ..self.journal.capabilities() }
    }

    fn now(&self) -> Timestamp {
        self.journal.now()
    }

    fn commit(&self, mut transaction: Transaction) -> Result<Committed> {
        let mut links = HashMap::new();
        for write in &mut transaction.writes {
            match write {
                Write::Create(new) => {
                    self.check(new)?;
                    self.check_depth(new, &mut links)?;
                }
                Write::Remove(removal) if self.profile == Profile::Trails => {
                    removal.children = Children::Refuse;
                }
                _ => {}
            }
        }
        self.journal.commit(transaction)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.journal.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.journal.read(session, query)
    }

    fn redacted(&self, session: &SessionId) -> Result<Vec<u64>> {
        self.journal.redacted(session)
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.journal.read_in_trash(session, query)
    }

    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        self.journal.headers(sessions)
    }

    fn pages(&self, reads: &[(SessionId, Query)]) -> Result<Vec<Result<Page>>> {
        self.journal.pages(reads)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.journal.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.journal.changes(since, limit, wait)
    }

    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        self.journal.operations(before, limit)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.journal.verify(session)
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        Some(self.attachments())
    }

    fn cache_folder(&self) -> Option<PathBuf> {
        self.journal.cache_folder()
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.journal.sources(by)
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        self.journal.locate_record(source, record)
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        self.journal.source_spans(source, step)
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        self.journal.record_locations(source)
    }

    fn gc(&self) -> Result<Collected> {
        self.journal.gc()
    }

    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        self.journal.pack(cold)
    }

    fn store_bytes(&self) -> Result<u64> {
        self.journal.store_bytes()
    }
}
