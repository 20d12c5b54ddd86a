//! A store whose appends wait until the test releases them.

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

/// A memory store in which each append waits for its release.
pub(crate) struct Paused {
    inner: MemoryStore,
    inside: AtomicUsize,
    most: AtomicUsize,
    began: Sender<()>,
    may_go: Mutex<Receiver<()>>,
}

/// The test's control over a [`Paused`] store: observes its appends and releases them.
pub(crate) struct Appends {
    store: Arc<Paused>,
    began: Receiver<()>,
    go: Sender<()>,
}

/// Creates an engine on a paused store. Also returns the test's control over that store.
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
    /// Waits until one more append has started.
    pub(crate) fn wait_for_one(&self) {
        self.began.recv().unwrap();
    }

    /// Checks whether another append has started, in addition to those that the test waited for.
    pub(crate) fn has_one_more(&self) -> bool {
        self.began.try_recv().is_ok()
    }

    /// Releases `number` appends.
    pub(crate) fn let_go(&self, number: usize) {
        (0..number).for_each(|_| self.go.send(()).unwrap());
    }

    /// Returns the maximum number of appends that ran concurrently so far.
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
