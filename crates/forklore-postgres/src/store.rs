//! The store: the port, on a database.

use std::sync::Arc;
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_store::attachments::Attachments;
use forklore_store::feed::wait_for;
use forklore_store::health::Health;
use forklore_store::meter::Meter;
use forklore_store::port::{
    Capabilities, Changes, Collected, Committed, Cursor, Filter, Headers, OperationId, Operations,
    Page, Query, Since, Store, Transaction, Verification, Write,
};
use forklore_store::rules::check_attachments;
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan,
};
use forklore_store::{Error, Result};
use jiff::Timestamp;

use crate::address::Address;
use crate::attachments::PostgresAttachments;
use crate::connection::Connection;
use crate::database::{Database, Lock};
use crate::fault::{self, Fault};
use crate::layout::Layout;
use crate::shared::Shared;
use crate::{feed, list, maintenance, operation, read, source, verify, write};

/// A store in a PostgreSQL database, which many processes on many machines may share.
pub struct PostgresStore {
    shared: Arc<Shared>,
    attachments: Arc<dyn Attachments>,
}

impl PostgresStore {
    /// Opens the store at this address. Creates its tables if they do not exist.
    ///
    /// # Errors
    /// `Denied` if the database refuses the user; `Io` if it cannot be reached; `Invalid` if the
    /// server has no such database; `Unsupported` if a newer version of forklore wrote the tables, or
    /// the database is not encoded in UTF-8.
    pub fn open(address: Address) -> Result<Self> {
        let store = Self::at(address)?;
        match store.shared.create(Layout::default()) {
            Ok(_) => Ok(store),
            // The database itself is missing, and a program may not be allowed to create one.
            Err(Error::StoreGone { .. }) => Err(without_database(&store.shared.location())),
            Err(error) => Err(error),
        }
    }

    /// Opens the store at this address, which must exist. Creates nothing.
    ///
    /// # Errors
    /// `StoreGone` if there is no such store, and the errors of [`open`](Self::open).
    pub fn open_existing(address: Address) -> Result<Self> {
        let store = Self::at(address)?;
        let location = store.shared.location();
        store.shared.find()?.ok_or(Error::StoreGone { location })?;
        Ok(store)
    }

    /// Checks whether there is a store at this address. Writes nothing.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn exists(address: Address) -> Result<bool> {
        match Self::at(address)?.shared.find() {
            Err(Error::StoreGone { .. }) => Ok(false),
            found => Ok(found?.is_some()),
        }
    }

    /// Looks whether the store can be used. Writes nothing.
    #[must_use]
    pub fn health(address: &Address) -> Health {
        let mut health = Health::default();
        match Self::exists(address.clone()) {
            Ok(true) => health.ok("store", address.to_string()),
            Ok(false) => health.ok("store", format!("{address} has none yet")),
            Err(error) => health.problem("store", &error),
        }
        health
    }

    fn at(address: Address) -> Result<Self> {
        let location = address.to_string();
        let shared =
            Shared::new(address).map_err(|fault| fault.into_error("opening", &location))?;
        let shared = Arc::new(shared);
        let attachments = Arc::new(PostgresAttachments { shared: Arc::clone(&shared) });
        Ok(Self { shared, attachments })
    }

    fn read<T>(&self, doing: &str, call: impl Fn(Database<'_>) -> fault::Result<T>) -> Result<T> {
        let tenant = self.shared.tenant();
        self.shared.read(doing, |connection| call(Database { connection, tenant }))
    }

    /// Reads a page. Events are never changed, but a session can be erased while it is read; a
    /// second look then says so.
    fn page(&self, id: &SessionId, query: &Query, in_trash: bool) -> Result<Page> {
        self.read("reading", |database| {
            let look = || {
                let session = database.session(id)?;
                let is_gone =
                    session.header.is_erased() || (!in_trash && session.header.deleted.is_some());
                if is_gone {
                    return Err(Error::Deleted(id.clone()).into());
                }
                read::page(database, session, query)
            };
            look().or_else(|fault| match fault {
                Fault::Store(Error::MissingAncestor { .. } | Error::Corrupt { .. }) => look(),
                fault => Err(fault),
            })
        })
    }
}

/// Returns the error of a server that has no such database.
pub(crate) fn without_database(location: &str) -> Error {
    Error::Invalid(format!(
        "the server has no database for {location}; create it with: createdb --encoding UTF8 NAME"
    ))
}

/// Checks whether a second execution of the transaction does no harm if the first one succeeded: the
/// rules of repeated appends recognise it.
fn is_repeatable(transaction: &Transaction) -> bool {
    let Transaction { writes, source, operation, .. } = transaction;
    let is_append = |write: &Write| match write {
        Write::Append { append, .. } => append.expect.is_some(),
        _ => false,
    };
    source.is_none() && operation.is_none() && writes.iter().all(is_append)
}

impl Store for PostgresStore {
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

    /// Returns the time of the server's clock; that of this machine if the server cannot be reached.
    fn now(&self) -> Timestamp {
        let now = self.shared.read("reading the clock of", maintenance::now);
        now.unwrap_or_else(|_| forklore_store::clock::StoreClock::default().now())
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        let identity = self.shared.create(Layout::default())?;
        check_attachments(Some(&self.attachments), &transaction.attachments)?;
        let is_repeatable = is_repeatable(&transaction);
        let execute = |connection: &Connection| {
            write::execute(connection, self.shared.tenant(), &transaction)
        };
        let committed = self.shared.repeated("writing to", is_repeatable, execute)?;
        self.shared.announce(identity);
        Ok(committed)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.read("reading", |database| Ok(database.session(session)?.header))
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.page(session, query, false)
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.page(session, query, true)
    }

    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        self.read("reading", |database| {
            let found = database.sessions(sessions, Lock::None)?;
            found
                .into_iter()
                .map(|session| match session {
                    Ok(session) => Ok(Ok(session.header)),
                    Err(Fault::Store(error)) => Ok(Err(error)),
                    Err(fault) => Err(fault),
                })
                .collect()
        })
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.read("listing the sessions of", |database| {
            list::sessions(database, filter, after, limit)
        })
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        let location = || Error::StoreGone { location: self.shared.location() };
        let identity = self.shared.find()?.ok_or_else(location)?;
        if identity.is_distributed {
            return Err(Error::Unsupported(format!(
                "the store {} is distributed, and a distributed store has no feed of changes",
                self.shared.location()
            )));
        }
        if !wait.is_zero() {
            self.shared.listen(identity);
        }
        let mut since = since.clone();
        wait_for(&self.shared.bell, wait, || {
            let changes = self.read("reading the feed of", |database| {
                match feed::changes(database, &self.shared.pool.meter, &identity.id, &since, limit)
                {
                    Err(fault) if fault.is_without_tables() => Err(location().into()),
                    changes => changes,
                }
            })?;
            since = Since::Mark(changes.mark.clone());
            Ok(changes)
        })
    }

    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        self.read("reading the operations of", |database| {
            operation::before(database, before, limit)
        })
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.read("verifying", |database| match session {
            Some(id) => verify::session(database, id),
            None => verify::store(database),
        })
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        Some(Arc::clone(&self.attachments))
    }

    fn meter(&self) -> Option<Arc<Meter>> {
        Some(Arc::clone(&self.shared.pool.meter))
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.read("reading the sources of", |database| source::find(database, by))
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        self.read("reading the sources of", |database| source::locate(database, source, record))
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        self.read("reading the sources of", |database| source::spans(database, source, step))
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        self.read("reading the sources of", |database| source::locations(database, source))
    }

    fn gc(&self) -> Result<Collected> {
        let tenant = self.shared.tenant();
        self.shared.transaction("collecting", |connection| {
            operation::retain(Database { connection, tenant })
        })?;
        self.shared.once("collecting", maintenance::vacuum)?;
        Ok(Collected::default())
    }

    fn store_bytes(&self) -> Result<u64> {
        self.read("measuring", maintenance::size)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use forklore_conformance::Handle;
    use forklore_conformance::events::{asks, result, turns, user};
    use forklore_conformance::scene::{Scene, id};
    use forklore_core::Strategy;
    use forklore_pgserver::Tenant;

    use super::*;

    #[test]
    fn an_append_takes_two_round_trips_and_a_fork_three() {
        let tenant = Tenant::fresh().unwrap_or_else(|none| panic!("{none}"));
        let store = Arc::new(PostgresStore::open(tenant.url().parse().unwrap()).unwrap());
        let factory = || Handle::shared(Arc::<PostgresStore>::clone(&store));
        let scene = Scene::new(&factory);
        scene.root("root", turns(3));
        let trips = |call: &dyn Fn()| {
            let waits = || store.shared.pool.driver.waits.load(Ordering::SeqCst);
            let before = waits();
            call();
            waits() - before
        };
        let append = scene.appending(vec![user("q4"), asks(&[("c1", "read")]), result("c1", "r")]);
        let appended = || assert!(store.append(&id("root"), append.clone()).is_ok());
        assert_eq!(trips(&appended), 2);
        // The cuts are in what the parent wrote, and in what it inherits.
        for (child, parent, cut) in [("one", "root", 4), ("two", "one", 6), ("three", "two", 3)] {
            let new = scene.child_draft(parent, child, cut, Strategy::ShareV1, turns(1));
            assert_eq!(trips(&|| drop(store.create(new.clone()).unwrap())), 3, "{child}");
        }
    }
}
