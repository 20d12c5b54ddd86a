//! The port over the journal, with the rules of the profile before it.

use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_store::port::{
    Append, Appended, Change, Changed, Changes, Children, Collected, Cursor, Filter, Headers,
    Maintenance, NewSession, Packed, Page, Query, Removed, Since, Store, Verification,
};
use forklore_store::sources::{
    FindSource, Place, Range, RecordKey, Source, SourceId, Sources, Step, Write,
};
use forklore_store::{Error, Result};
use jiff::Timestamp;

use super::GraphStore;
use crate::iri::is_did;
use crate::profile::Profile;

impl GraphStore {
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
    fn create(&self, new: NewSession) -> Result<Header> {
        self.check(&new)?;
        self.journal.create(new)
    }

    fn append(&self, session: &SessionId, append: Append) -> Result<Appended> {
        self.journal.append(session, append)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.journal.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.journal.read(session, query)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.journal.sessions(filter, after, limit)
    }

    fn change(&self, session: &SessionId, change: &Change) -> Result<Changed> {
        self.journal.change(session, change)
    }

    fn remove(
        &self,
        sessions: &[SessionId],
        children: Children,
        now: Timestamp,
    ) -> Result<Removed> {
        let children = match self.profile {
            Profile::Plain => children,
            Profile::Trails => Children::Refuse,
        };
        self.journal.remove(sessions, children, now)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.journal.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.journal.verify(session)
    }
}

impl Sources for GraphStore {
    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.journal.sources(by)
    }

    fn place(&self, source: SourceId, record: RecordKey) -> Result<Option<Place>> {
        self.journal.place(source, record)
    }

    fn ranges(&self, source: SourceId, step: u64) -> Result<Option<Vec<Range>>> {
        self.journal.ranges(source, step)
    }

    fn places(&self, source: SourceId) -> Result<Option<Vec<(RecordKey, Place)>>> {
        self.journal.places(source)
    }

    fn import(&self, step: Step) -> Result<SourceId> {
        for write in &step.writes {
            if let Write::Create(new) = write {
                self.check(new)?;
            }
        }
        self.journal.import(step)
    }
}

impl Maintenance for GraphStore {
    fn gc(&self, now: Timestamp) -> Result<Collected> {
        self.journal.gc(now)
    }

    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        self.journal.pack(cold)
    }

    fn store_bytes(&self) -> Result<u64> {
        self.journal.store_bytes()
    }
}
