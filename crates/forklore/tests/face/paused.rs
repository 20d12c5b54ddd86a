//! A store whose appends wait until they are let go.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forklore::core::{Header, SessionId};
use forklore::engine::Engine;
use forklore::store::Result;
use forklore::store::memory::MemoryStore;
use forklore::store::port::{
    Capabilities, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since, Store,
    Transaction, Verification, Write,
};

/// Keeps sessions in memory, and each append back until it is let go.
pub(crate) struct Paused {
    inner: MemoryStore,
    inside: AtomicUsize,
    most: AtomicUsize,
    began: Sender<()>,
    may_go: Mutex<Receiver<()>>,
}

/// The other end: what the appends are doing, and their leave to go on.
pub(crate) struct Appends {
    store: Arc<Paused>,
    began: Receiver<()>,
    go: Sender<()>,
}

/// An engine over a paused store, and the other end.
pub(crate) fn paused() -> (Engine, Appends) {
    let ((began, has_begun), (go, may_go)) = (channel(), channel());
    let store = Arc::new(Paused {
        inner: MemoryStore::default(),
        inside: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
        began,
        may_go: Mutex::new(may_go),
    });
    (Engine::new(store.clone()), Appends { store, began: has_begun, go })
}

impl Appends {
    /// Waits until one more append is in the store.
    pub(crate) fn wait_for_one(&self) {
        self.began.recv().unwrap();
    }

    /// Whether an append that nobody has waited for yet is in the store.
    pub(crate) fn has_one_more(&self) -> bool {
        self.began.try_recv().is_ok()
    }

    /// Lets as many appends go on.
    pub(crate) fn let_go(&self, number: usize) {
        (0..number).for_each(|_| self.go.send(()).unwrap());
    }

    /// How many were in the store at once, at most.
    pub(crate) fn most_at_once(&self) -> usize {
        self.store.most.load(Ordering::SeqCst)
    }
}

impl Store for Paused {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        if !matches!(transaction.writes.as_slice(), [Write::Append { .. }]) {
            return self.inner.commit(transaction);
        }
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        self.began.send(()).unwrap();
        self.may_go.lock().unwrap().recv().unwrap();
        let appended = self.inner.commit(transaction);
        self.inside.fetch_sub(1, Ordering::SeqCst);
        appended
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.inner.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.inner.read(session, query)
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
}
