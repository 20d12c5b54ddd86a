//! Writes the import steps of many small files together.
//!
//! The import of a small file is one transaction. Thousands of such transactions would each write
//! the same pages of the store, and wait for the disk. [`WriteBehind`] is a store that holds such
//! transactions back and passes them on together to the store behind it. A read that may concern
//! one of them passes all of them on first, so that every read returns what it would return without
//! [`WriteBehind`].

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forklore_core::{Data, Event, Header, SessionId};
use forklore_store::attachments::Attachments;
use forklore_store::port::{
    Capabilities, Changes, Collected, Committed, Cursor, Filter, Headers, NewOperation,
    OperationId, Operations, Packed, Page, Query, Since, Transaction, Verification, Write,
};
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan, SourceStep, Target,
    sidecar_key,
};
use forklore_store::{Result, Store};
use jiff::Timestamp;

/// The number of held transactions at which all of them are passed on. They are also passed on when
/// they contain `BYTES` bytes.
const MOST: usize = 10_000;
const BYTES: usize = 8 << 20;
/// The id that the caller gets for a new source until the source is stored. The caller does not use
/// it, because the step is the last one of its file.
const NOT_YET: SourceId = SourceId(u64::MAX);

/// A store that holds back the last import step of a file if the step is small. All other calls go
/// to the store behind it.
pub(crate) struct WriteBehind {
    store: Arc<dyn Store>,
    pending: Mutex<Pending>,
    /// The operation as which the store records the whole import. It has the number of that
    /// operation once a step was recorded.
    operation: Mutex<NewOperation>,
}

/// The transactions that are held back, and the data that shows whether a read concerns one of
/// them.
#[derive(Default)]
struct Pending {
    transactions: Vec<Transaction>,
    bytes: usize,
    /// The ids of the sessions that the transactions create or change, in a form that does not
    /// depend on case.
    sessions: HashSet<String>,
    paths: HashSet<String>,
    /// The keys (of first lines and of names) by which the store would find the sources of the
    /// transactions.
    keys: HashSet<RecordKey>,
    sources: HashSet<SourceId>,
    /// The paths of the files whose steps were refused when they were passed on.
    refused: Vec<String>,
    /// Whether no transaction is held back any more.
    ended: bool,
}

impl WriteBehind {
    pub(crate) fn over(store: Arc<dyn Store>, operation: NewOperation) -> Self {
        Self { store, pending: Mutex::default(), operation: Mutex::new(operation) }
    }

    /// Passes on one transaction as a part of the import's operation.
    fn commit_now(&self, mut transaction: Transaction) -> Result<Committed> {
        if !is_recorded(&transaction) {
            return self.store.commit(transaction);
        }
        let mut operation = self.operation();
        transaction.operation = Some(Box::new(operation.clone()));
        if operation.continues.is_some() {
            drop(operation);
            return self.store.commit(transaction);
        }
        // Until the operation has a number, no other transaction begins it.
        let committed = self.store.commit(transaction)?;
        operation.continues = committed.operation;
        Ok(committed)
    }

    /// Passes on several transactions as parts of the import's operation. The transaction that
    /// gives the operation its number is passed on alone.
    fn commit_all_now(&self, mut transactions: Vec<Transaction>) -> Result<Vec<Result<Committed>>> {
        let mut done = Vec::with_capacity(transactions.len());
        while self.operation().continues.is_none()
            && let Some(at) = transactions.iter().position(begins)
        {
            let rest = transactions.split_off(at + 1);
            let first = transactions.pop();
            done.extend(self.store.commit_all(transactions)?);
            match first.map(|first| self.commit_now(first)) {
                Some(Err(error)) if error.is_of_store() => return Err(error),
                first => done.extend(first),
            }
            transactions = rest;
        }
        let operation = self.operation().clone();
        for transaction in transactions.iter_mut().filter(|one| is_recorded(one)) {
            transaction.operation = Some(Box::new(operation.clone()));
        }
        done.extend(self.store.commit_all(transactions)?);
        Ok(done)
    }

    fn operation(&self) -> MutexGuard<'_, NewOperation> {
        self.operation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on all transactions, and holds back none from now on. Returns the paths of the files
    /// whose steps the store refused, for example because another writer was faster. None of these
    /// steps was written.
    pub(crate) fn end(&self) -> Result<Vec<String>> {
        let mut pending = self.pending();
        pending.ended = true;
        self.pass_on(&mut pending)?;
        Ok(std::mem::take(&mut pending.refused))
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass_on(&self, pending: &mut Pending) -> Result<()> {
        let refused = std::mem::take(&mut pending.refused);
        let next = Pending { refused, ended: pending.ended, ..Pending::default() };
        let Pending { transactions, .. } = std::mem::replace(pending, next);
        if transactions.is_empty() {
            return Ok(());
        }
        let path = |one: &Transaction| one.source.as_ref().map(|step| step.seen.path.clone());
        let paths: Vec<_> = transactions.iter().map(path).collect();
        let done = self.commit_all_now(transactions)?;
        let refused = paths.into_iter().zip(done).filter(|(_, done)| done.is_err());
        pending.refused.extend(refused.filter_map(|(path, _)| path));
        Ok(())
    }

    /// Passes on all transactions if a read may concern one of them. `concerns` decides this.
    fn before(&self, concerns: impl FnOnce(&Pending) -> bool) -> Result<()> {
        let mut pending = self.pending();
        if !pending.transactions.is_empty() && concerns(&pending) {
            self.pass_on(&mut pending)?;
        }
        Ok(())
    }

    fn before_session(&self, session: &SessionId) -> Result<()> {
        self.before(|pending| pending.sessions.contains(&session.fold()))
    }

    fn before_all(&self) -> Result<()> {
        self.before(|_| true)
    }
}

impl Pending {
    fn add(&mut self, mut transaction: Transaction, bytes: usize) {
        for write in &mut transaction.writes {
            match write {
                // A fork does not change its parent, so reads of the parent find nothing new.
                Write::Create(new) => self.sessions.insert(new.id.fold()),
                Write::Append { session, append } => {
                    append.events.iter_mut().for_each(detach);
                    self.sessions.insert(session.fold())
                }
                Write::Change { session, .. } => self.sessions.insert(session.fold()),
                Write::Remove(_) | Write::Redact(_) => false,
            };
        }
        if let Some(step) = &transaction.source {
            self.paths.insert(step.seen.path.clone());
            self.keys.extend(&step.names);
            match &step.target {
                Target::New { first_line, .. } => self.keys.insert(*first_line),
                Target::State { id, .. } => self.sources.insert(*id),
            };
        }
        self.bytes += bytes;
        self.transactions.push(transaction);
    }

    fn may_have(&self, by: &FindSource) -> bool {
        match by {
            FindSource::Path(path) | FindSource::Latest(path) => self.paths.contains(path),
            FindSource::FirstLine(key) | FindSource::Name(key) => self.keys.contains(key),
            FindSource::SidecarsOf(path) => self.keys.contains(&sidecar_key(path)),
            FindSource::Session(id) => self.sessions.contains(&id.fold()),
        }
    }
}

/// Checks whether the transaction may begin the import's operation. Appends alone do not.
fn begins(transaction: &Transaction) -> bool {
    transaction.writes.iter().any(|write| !matches!(write, Write::Append { .. }))
}

/// Checks whether the transaction may have an outcome for the import's operation.
fn is_recorded(transaction: &Transaction) -> bool {
    !transaction.writes.is_empty()
}

/// Copies the payload of an event. The payload is a part of the memory block into which its file
/// was read. That block can be much larger and would remain in memory.
fn detach(event: &mut Event) {
    event.data = Data::from_checked(event.data.get().to_owned());
}

/// Returns the number of bytes in a transaction. Returns `None` if the transaction must not be held
/// back. That is the case if it is not the last step of a file, is too large, belongs to a sidecar
/// file, or mentions attachments. The caller protects these attachments from cleanup only until
/// `commit` returns.
fn bytes_to_hold(transaction: &Transaction) -> Option<usize> {
    let step: &SourceStep = transaction.source.as_deref()?;
    if !step.last || step.sidecar_of.is_some() || !transaction.attachments.is_empty() {
        return None;
    }
    let events = transaction.writes.iter().map(|write| match write {
        Write::Append { append, .. } => {
            append.events.iter().map(|event| event.data.get().len()).sum()
        }
        Write::Create(_) | Write::Change { .. } | Write::Remove(_) | Write::Redact(_) => 0,
    });
    let spans = step.ranges.iter().map(|span| match span {
        SourceSpan::Other(bytes)
        | SourceSpan::Raw { bytes, .. }
        | SourceSpan::Waiting { bytes, .. } => bytes.len(),
        _ => 0,
    });
    Some(events.chain(spans).sum()).filter(|bytes| *bytes <= BYTES)
}

impl Store for WriteBehind {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn now(&self) -> Timestamp {
        self.store.now()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        let mut pending = self.pending();
        let bytes = bytes_to_hold(&transaction).filter(|_| !pending.ended);
        let Some(bytes) = bytes else {
            self.pass_on(&mut pending)?;
            // Other threads may read during this commit.
            drop(pending);
            return self.commit_now(transaction);
        };
        let id = match transaction.source.as_ref().map(|step| &step.target) {
            Some(Target::State { id, .. }) => *id,
            _ => NOT_YET,
        };
        pending.add(transaction, bytes);
        if pending.transactions.len() >= MOST || pending.bytes >= BYTES {
            self.pass_on(&mut pending)?;
        }
        Ok(Committed { source: Some(id), ..Committed::default() })
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.before_session(session)?;
        self.store.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.before_session(session)?;
        self.store.read(session, query)
    }

    fn redacted(&self, session: &SessionId) -> Result<Vec<u64>> {
        self.before_session(session)?;
        self.store.redacted(session)
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.before_session(session)?;
        self.store.read_in_trash(session, query)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.before_all()?;
        self.store.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.before_all()?;
        self.store.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.before_all()?;
        self.store.verify(session)
    }

    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        self.before_all()?;
        self.store.operations(before, limit)
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        self.store.attachments()
    }

    fn cache_folder(&self) -> Option<PathBuf> {
        self.store.cache_folder()
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.before(|pending| pending.may_have(by))?;
        self.store.sources(by)
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        self.before(|pending| pending.sources.contains(&source))?;
        self.store.locate_record(source, record)
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        self.before(|pending| pending.sources.contains(&source))?;
        self.store.source_spans(source, step)
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        self.before(|pending| pending.sources.contains(&source))?;
        self.store.record_locations(source)
    }

    fn gc(&self) -> Result<Collected> {
        self.before_all()?;
        self.store.gc()
    }

    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        self.before_all()?;
        self.store.pack(cold)
    }

    fn store_bytes(&self) -> Result<u64> {
        self.before_all()?;
        self.store.store_bytes()
    }
}
