//! A custom store, and a run of the conformance suite that checks it against the store contract.
//!
//! `Audited` wraps any store and adds a trail file. It writes one line to the trail for each change
//! to a session, before the change, so that no change goes unrecorded. It implements the seven
//! methods that every `Store` has, and those of three capabilities: attachments, maintenance and
//! operations.
//!
//! The example runs every numbered case of the conformance suite, except those that need sources.
//! Some cases need several processes: for these cases the program starts itself again.
//!
//! ```console
//! $ cargo run -p forklore --example custom_store
//! ```
//!
//! A store written from scratch is checked in the same way. To write one, start from
//! `crates/forklore-store/src/memory.rs`: with its submodules it implements the whole contract in
//! less than 1,000 lines.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{Write as _, stdout};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forklore::core::Header;
use forklore::prelude::*;
use forklore::store::attachments::Attachments;
use forklore::store::port::{
    Capabilities, Changes, Collected, Committed, Cursor, Filter, Headers, OperationId, Operations,
    Page, Query, Since, Store, Transaction, Verification, Write,
};
use forklore::store::{Error as StoreError, Result};
use forklore_conformance::{CASES, Directory, Factory, Handle, run};
use forklore_sqlite::{Options, SqliteStore};

/// A store that records its changes in a trail file.
struct Audited<S> {
    inner: S,
    trail: File,
}

impl<S> Audited<S> {
    /// Wraps `inner` and appends a line to `file` for each change.
    fn over(inner: S, file: &Path) -> Result<Self> {
        let opened = OpenOptions::new().create(true).append(true).open(file);
        let trail = opened.map_err(|source| StoreError::io("opening the trail", source))?;
        Ok(Self { inner, trail })
    }

    /// Writes one line to the trail with one system call, so that lines of several processes never
    /// mix.
    fn note(&self, write: &Write) -> Result<()> {
        let (what, sessions) = match write {
            Write::Create(new) => ("create", std::slice::from_ref(&new.id)),
            Write::Append { session, .. } => ("append", std::slice::from_ref(session)),
            Write::Change { session, .. } => ("change", std::slice::from_ref(session)),
            Write::Remove(removal) => ("remove", removal.sessions.as_slice()),
            Write::Redact(redactions) => ("redact", redactions.titles.as_slice()),
        };
        let line = serde_json::json!({"what": what, "sessions": sessions}).to_string() + "\n";
        let written = (&self.trail).write_all(line.as_bytes());
        written.map_err(|source| StoreError::io("writing the trail", source))
    }
}

impl<S: Store> Store for Audited<S> {
    fn capabilities(&self) -> Capabilities {
        // The capabilities that this example forwards: all of the inner store except sources.
        Capabilities { sources: false, ..self.inner.capabilities() }
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        transaction.writes.iter().try_for_each(|write| self.note(write))?;
        self.inner.commit(transaction)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.inner.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.inner.read(session, query)
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.inner.read_in_trash(session, query)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.inner.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.inner.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.inner.verify(session)
    }

    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        self.inner.operations(before, limit)
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        self.inner.attachments()
    }

    fn gc(&self) -> Result<Collected> {
        self.inner.gc()
    }

    fn store_bytes(&self) -> Result<u64> {
        self.inner.store_bytes()
    }
}

/// Opens the store in the directory `dir`.
fn open(dir: &Path) -> Result<Audited<SqliteStore>> {
    let inner = SqliteStore::open(&dir.join("store.db"), Options::default())?;
    Audited::over(inner, &dir.join("trail.jsonl"))
}

/// Creates stores for the suite, each in its own directory.
#[allow(clippy::expect_used, reason = "without a store there is nothing to test")]
fn stores() -> impl Factory {
    Directory::new(|dir| Handle::new(open(dir).expect("a store")))
}

/// Runs the suite and prints the report, then uses the store as a program would.
pub(crate) fn check(out: &mut impl std::io::Write) -> Result<(), Box<dyn Error>> {
    let report = run(&stores(), CASES);
    write!(out, "{report}")?;
    for (case, why) in report.failures() {
        writeln!(out, "{case}: {why}")?;
    }
    let failed = report.failures().count();
    if failed > 0 {
        return Err(format!("{failed} cases failed").into());
    }

    let dir = tempfile::tempdir()?;
    let engine = Engine::new(Arc::new(open(dir.path())?));
    let main = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?;
    engine.append(&main.id, &NewEvent::user("plan A or plan B?")?.into())?;
    engine.fork(&Fork::of(main.id))?;
    let trail = std::fs::read_to_string(dir.path().join("trail.jsonl"))?;
    writeln!(out, "the trail of a fork has {} lines", trail.lines().count())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    check(&mut stdout())
}
