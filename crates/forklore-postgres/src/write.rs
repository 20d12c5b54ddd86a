//! A transaction: the sessions that it has read and locked, and what it is about to write.

mod append;
mod change;
mod copy;
mod create;
mod flush;
mod needs;
mod optimistic;
mod redact;
mod remove;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use forklore_core::{Header, SessionId};
use forklore_store::Error;
use forklore_store::feed::What;
use forklore_store::port::{Committed, Transaction, Write, Written};
use forklore_store::rules::{Recording, note_source_write};
use jiff::Timestamp;

use crate::connection::{BEGIN, Failed, Statement, text};
use crate::database::Database;
use crate::event::Rows;
use crate::fault::{Fault, Result};
use crate::recent::Recent;
use crate::session::Session;
use crate::{maintenance, operation, source};

use self::flush::Names;
use self::needs::Needs;

/// Makes the commit durable where the database's default does not: an expression of a query.
const DURABLE: &str = "set_config('synchronous_commit', CASE current_setting('synchronous_commit')
     WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)";
/// How many bytes of payloads wait before they are sent.
const WAITING: usize = 8 << 20;

/// One attempt at a transaction, on a connection that is inside of it.
pub(crate) struct Attempt<'c> {
    database: Database<'c>,
    now: Timestamp,
    /// The sessions that the transaction has locked, with its changes.
    sessions: HashMap<String, Session>,
    /// What was written to which sessions and is not yet sent, in the order of the writes.
    dirty: Vec<(SessionId, BTreeSet<Mark>)>,
    /// The ids of new sessions that are not yet sent.
    names: Names,
    /// The events that are not yet sent, by family.
    events: BTreeMap<String, Rows>,
    /// How many sessions were sent so far.
    sent: i64,
}

/// [`What`], in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Created,
    Appended,
    Changed,
}

impl From<What> for Mark {
    fn from(what: What) -> Self {
        match what {
            What::Created => Self::Created,
            What::Appended => Self::Appended,
            What::Changed => Self::Changed,
        }
    }
}

/// Executes the writes of a transaction and commits it.
///
/// What it needs is locked and read in one round trip, and what it writes is sent with the commit in
/// another. An append to a session that this process has seen last takes one, without a lock.
pub(crate) fn execute(
    database: Database<'_>,
    recent: &Recent,
    transaction: &Transaction,
) -> Result<Committed, Failed> {
    if let Some(committed) = optimistic::append(database, recent, transaction)? {
        return Ok(committed);
    }
    let mut attempt = Attempt::begin(database, transaction)?;
    let Transaction { writes, source, operation, .. } = transaction;
    let mut recording = match operation.as_deref() {
        Some(operation) => Some(Recording::begin(operation, |id| attempt.header(id))?),
        None => None,
    };
    let step = source.as_deref().map(|step| source::begin(attempt.database, step)).transpose()?;
    let (id, mut sessions) = step.map_or((None, Vec::new()), |(id, found)| (Some(id), found));
    let mut written = Vec::with_capacity(writes.len());
    for write in writes {
        note_source_write(&mut sessions, write);
        written.push(attempt.recorded(write, recording.as_mut())?);
    }
    let operation = match recording.and_then(Recording::end) {
        Some(recorded) => operation::record(attempt.database, recorded, attempt.now)?,
        None => None,
    };
    if let (Some(id), Some(step)) = (id, source.as_deref()) {
        source::record(attempt.database, id, step, sessions)?;
    }
    let waiting = attempt.take()?;
    database.connection.commit(waiting.statements(&database.tenant))?;
    // Another transaction may have begun later and ended sooner.
    recent.clock.advance(attempt.now);
    attempt.sessions.values().for_each(|session| recent.put(session));
    Ok(Committed { written, source: id, operation })
}

impl<'c> Attempt<'c> {
    /// Begins the transaction, locks what the writes need, always in the same order (the store, the
    /// families, the sessions, the parents), and then reads the server's clock. A time from before
    /// the locks could be earlier than what the transaction waited for.
    fn begin(database: Database<'c>, planned: &Transaction) -> Result<Self> {
        let Database { connection, tenant } = database;
        let lock = match (&planned.source, &planned.operation) {
            (None, None) => "",
            _ => "FOR NO KEY UPDATE",
        };
        let store = format!("SELECT {DURABLE} FROM forklore.store WHERE tenant = $1 {lock}");
        let needs = Needs::of(&planned.writes);
        let mut statements =
            vec![Statement::new(BEGIN, Vec::new()), Statement::new(store, vec![text(&tenant)])];
        statements.extend(needs.lock_families(&tenant));
        let before = statements.len();
        statements.extend(needs.lookups().map(|lookup| lookup.statement(&tenant)));
        statements.push(Statement::new(maintenance::CLOCK, Vec::new()));
        let mut results = connection.all(&statements)?;
        let now = maintenance::time_of(results.pop().unwrap_or_default().first())?;
        if results.get(1).is_none_or(Vec::is_empty) {
            let location = format!("of the tenant {tenant}");
            return Err(Error::StoreGone { location }.into());
        }
        let mut attempt = Self::at(database, now);
        for row in results.iter().skip(before).flatten() {
            // A session that is missing or damaged is an error of the write that needs it, in its
            // turn.
            match Session::of(row) {
                Ok(session) => drop(attempt.sessions.insert(session.id().to_owned(), session)),
                Err(Fault::Store(_)) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(attempt)
    }

    /// An attempt at this time of the server, which has read nothing yet.
    fn at(database: Database<'c>, now: Timestamp) -> Self {
        let (sessions, dirty, names, events, sent) = Default::default();
        Self { database, now, sessions, dirty, names, events, sent }
    }

    /// Returns a session as the transaction sees it, living or deleted.
    fn any(&self, id: &SessionId) -> Result<Session> {
        match self.sessions.get(id.as_str()) {
            Some(session) => Ok(session.clone()),
            None => self.database.session(id),
        }
    }

    fn header(&self, id: &SessionId) -> Result<Header> {
        Ok(self.any(id)?.header)
    }

    fn living(&self, id: &SessionId) -> Result<Session> {
        let session = self.any(id)?;
        if session.header.deleted.is_some() {
            return Err(Error::Deleted(id.clone()).into());
        }
        Ok(session)
    }

    fn recorded(
        &mut self,
        write: &Write,
        recording: Option<&mut Recording<'_>>,
    ) -> Result<Written> {
        let Some(recording) = recording else { return self.write(write) };
        recording.before(write, |id| self.header(id))?;
        let written = self.write(write)?;
        recording.after(write, &written);
        Ok(written)
    }

    fn write(&mut self, write: &Write) -> Result<Written> {
        match write {
            Write::Create(new) => Ok(Written::Created(Box::new(self.create(new)?))),
            Write::Append { session, append } => {
                Ok(Written::Appended(self.append(session, append)?))
            }
            Write::Change { session, change } => {
                Ok(Written::Changed(Box::new(self.change(session, change)?)))
            }
            Write::Remove(removal) => Ok(Written::Removed(self.remove(removal)?)),
            Write::Redact(redactions) => Ok(Written::Redacted(self.redact(redactions)?)),
        }
    }

    /// Notes a new state of a session, to be sent before the next query that needs it.
    fn put(&mut self, session: Session, what: What) {
        let id = session.header.id.clone();
        self.sessions.insert(id.as_str().to_owned(), session);
        let mut marks = BTreeSet::from([Mark::from(what)]);
        if let Some(at) = self.dirty.iter().position(|(dirty, _)| *dirty == id) {
            marks.extend(self.dirty.remove(at).1);
        }
        self.dirty.push((id, marks));
    }
}
