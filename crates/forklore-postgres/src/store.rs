//! The store: the port, on a database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forklore_core::{Header, SessionId};
use forklore_store::attachments::Attachments;
use forklore_store::disk::CacheFolder;
use forklore_store::feed::wait_for;
use forklore_store::health::Health;
use forklore_store::meter::Meter;
use forklore_store::port::{
    Capabilities, Changes, Collected, Committed, Cursor, Filter, Headers, OperationId, Operations,
    Page, Query, Since, Store, Transaction, Verification,
};
use forklore_store::rules::{self, check_attachments};
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
use crate::recent::Recent;
use crate::session::Session;
use crate::shared::Shared;
use crate::{feed, list, maintenance, operation, read, source, verify, write};

/// A store in a PostgreSQL database, which many processes on many machines may share.
pub struct PostgresStore {
    shared: Arc<Shared>,
    attachments: Arc<dyn Attachments>,
    recent: Recent,
}

const READING_CLOCK: &str = "reading the clock of";
/// How long a look at the server's clock may take. After that, its time is reckoned.
const CLOCK: Duration = Duration::from_secs(1);
/// How long a verification may take.
const VERIFICATION: Duration = Duration::from_secs(24 * 3600);

impl PostgresStore {
    /// Opens the store at this address. Creates its tables if they do not exist.
    ///
    /// # Errors
    /// `Denied` if the database refuses the user; `Io` if it cannot be reached; `Invalid` if the
    /// server has no such database; `Unsupported` if a newer version of forklore wrote the tables, or
    /// the database is not encoded in UTF-8.
    pub fn open(address: Address) -> Result<Self> {
        let shared = Self::at(address)?;
        match shared.create(Layout::default()) {
            Ok(_) => Self::of(shared),
            // The database itself is missing, and a program may not be allowed to create one.
            Err(Error::StoreGone { .. }) => Err(without_database(&shared.location())),
            Err(error) => Err(error),
        }
    }

    /// Opens the store at this address, which must exist. Creates nothing.
    ///
    /// # Errors
    /// `StoreGone` if there is no such store, and the errors of [`open`](Self::open).
    pub fn open_existing(address: Address) -> Result<Self> {
        let shared = Self::at(address)?;
        let location = shared.location();
        shared.find()?.ok_or(Error::StoreGone { location })?;
        Self::of(shared)
    }

    /// Checks whether there is a store at this address. Writes nothing.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn exists(address: Address) -> Result<bool> {
        match Self::at(address)?.find() {
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

    fn at(address: Address) -> Result<Arc<Shared>> {
        let location = address.to_string();
        let shared =
            Shared::new(address).map_err(|fault| fault.into_error("opening", &location))?;
        Ok(Arc::new(shared))
    }

    fn of(shared: Arc<Shared>) -> Result<Self> {
        let recent = Recent::new(shared.read(READING_CLOCK, maintenance::now)?);
        let attachments = Arc::new(PostgresAttachments { shared: Arc::clone(&shared) });
        Ok(Self { shared, attachments, recent })
    }

    /// Returns the folder of this machine for data that is computed from the store.
    fn cache(&self) -> Option<CacheFolder> {
        let identity = self.shared.find().ok().flatten()?;
        self.shared.pool.address.cache(&identity.id)
    }

    fn read<T>(&self, doing: &str, call: impl Fn(Database<'_>) -> fault::Result<T>) -> Result<T> {
        let tenant = self.shared.tenant();
        self.shared.read(doing, |connection| call(Database { connection, tenant }))
    }

    /// Reads a page. Events are never changed, but a session can be erased while it is read; a
    /// second look then says so.
    fn page(&self, id: &SessionId, query: &Query, in_trash: bool) -> Result<Page> {
        self.read("reading", |database| {
            let check = |session: &Session| {
                let header = &session.header;
                if header.is_erased() || (!in_trash && header.deleted.is_some()) {
                    return Err(Error::Deleted(id.clone()).into());
                }
                Ok(())
            };
            let look = || read::page(database, &self.recent, id, query, check);
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

    /// Returns the time of the server's clock. If the server stated it a moment ago, or does not
    /// answer, reckons it from there.
    fn now(&self) -> Timestamp {
        if let Some(now) = self.recent.clock.recent() {
            return now;
        }
        let deadline = CLOCK.min(self.shared.pool.address.deadline);
        let sent = Instant::now();
        match self.shared.read_within(deadline, READING_CLOCK, maintenance::now) {
            Ok(now) => {
                self.recent.clock.set(now, sent);
                now
            }
            Err(_) => self.recent.clock.reckoned(),
        }
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        let identity = self.shared.create(Layout::default())?;
        check_attachments(Some(&self.attachments), &transaction.attachments)?;
        let is_repeatable = rules::is_repeatable(&transaction);
        let execute = |connection: &Connection| {
            let database = Database { connection, tenant: self.shared.tenant() };
            write::execute(database, &self.recent, &transaction)
        };
        let committed = self.shared.repeated("writing to", is_repeatable, execute)?;
        self.shared.announce(identity);
        Ok(committed)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        let found = self.read("reading", |database| database.session(session))?;
        self.recent.put(&found);
        Ok(found.header)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.page(session, query, false)
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.page(session, query, true)
    }

    fn redacted(&self, session: &SessionId) -> Result<Vec<u64>> {
        self.read("reading", |database| read::redacted(database, session))
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
        let tenant = self.shared.tenant();
        self.shared.read_within(VERIFICATION, "verifying", |connection| {
            let database = Database { connection, tenant };
            match session {
                Some(id) => verify::session(database, id),
                None => verify::store(database),
            }
        })
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        Some(Arc::clone(&self.attachments))
    }

    fn cache_folder(&self) -> Option<PathBuf> {
        self.cache().map(|cache| cache.path().to_owned())
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
        let wait = self.shared.pool.address.deadline;
        let freed_bytes = self.cache().map_or(Ok(0), |cache| cache.remove(wait))?;
        Ok(Collected { freed_bytes, ..Collected::default() })
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
    use forklore_pgserver::{Target, Tenant};
    use forklore_store::port::{Append, At, Direction};

    use super::*;

    #[test]
    fn an_append_and_a_page_take_one_round_trip_and_a_fork_three() {
        let tenant = Tenant::fresh().unwrap_or_else(|none| panic!("{none}"));
        // As behind a pooler, no statement is prepared, which would be a round trip too.
        let url = format!("{}&listen=no", tenant.url());
        let store = Arc::new(PostgresStore::open(url.parse().unwrap()).unwrap());
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
        let append = Append { expect: Some(5), ..append };
        let appended = || assert!(store.append(&id("root"), append.clone()).is_ok());
        assert_eq!(trips(&appended), 1);
        // An append that names no head is not known to be harmless when it is repeated.
        let blind = scene.appending(vec![user("q5")]);
        let appended = || assert!(store.append(&id("root"), blind.clone()).is_ok());
        assert_eq!(trips(&appended), 2);
        assert_eq!(trips(&|| assert!(store.now() > blind.now)), 0);
        // The row of the session and the page that is right for the row as it was seen last.
        let query = Query { at: At::Seq(2), direction: Direction::Forward, limit: 3, bare: false };
        let read =
            || assert_eq!(Store::read(&*store, &id("root"), &query).unwrap().events.len(), 3);
        assert_eq!(trips(&read), 1);
        // The cuts are in what the parent wrote, and in what it inherits.
        for (child, parent, cut) in [("one", "root", 4), ("two", "one", 6), ("three", "two", 3)] {
            let new = scene.child_draft(parent, child, cut, Strategy::ShareV1, turns(1));
            assert_eq!(trips(&|| drop(store.create(new.clone()).unwrap())), 3, "{child}");
        }
        // The first page of a child finds its ancestors too.
        let read =
            || assert_eq!(Store::read(&*store, &id("three"), &query).unwrap().events.len(), 3);
        assert_eq!([trips(&read), trips(&read)], [3, 1]);
    }

    #[test]
    fn statements_are_prepared_where_nobody_is_between_the_process_and_the_server() {
        for (target, listen, expected) in [
            (Target::Direct, "", true),
            (Target::Direct, "&listen=no", false),
            (Target::Pooled, "", false),
        ] {
            let tenant = Tenant::on(target).unwrap_or_else(|none| panic!("{none}"));
            let url = tenant.url().split("&listen=").next().unwrap().to_owned() + listen;
            let store = Arc::new(PostgresStore::open(url.parse().unwrap()).unwrap());
            let factory = || Handle::shared(Arc::<PostgresStore>::clone(&store));
            let scene = Scene::new(&factory);
            scene.root("root", turns(2));
            (0..9).for_each(|_| assert_eq!(scene.log("root").len(), 4));
            let sql = "SELECT count(*)::int8 FROM pg_prepared_statements";
            let count = |connection: &Connection| {
                let row = connection.row(sql, &[])?;
                row.map_or(Ok(0), |row| Ok(row.try_get(0)?))
            };
            let counted: i64 = store.shared.read("counting the statements of", count).unwrap();
            assert_eq!(counted > 0, expected, "{url}");
        }
    }
}
