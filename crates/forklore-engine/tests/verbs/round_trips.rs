//! Tests how often an operation calls the store. Each call may be a round trip to another machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_engine::{Batch, Create, Engine, Fork, NewEvent, TreeRequest};
use forklore_store::memory::MemoryStore;
use forklore_store::port::{
    Capabilities, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since, Transaction,
    Verification,
};
use forklore_store::{Result, Store};

use crate::world::{cut, id};

/// A store that counts the calls of its methods.
#[derive(Default)]
struct Counting {
    inner: MemoryStore,
    calls: AtomicUsize,
}

impl Counting {
    fn call(&self) -> &MemoryStore {
        self.calls.fetch_add(1, Ordering::Relaxed);
        &self.inner
    }

    /// Returns the number of store calls that `verb` makes.
    fn count<T>(&self, verb: impl FnOnce() -> T) -> usize {
        self.calls.store(0, Ordering::Relaxed);
        verb();
        self.calls.load(Ordering::Relaxed)
    }
}

impl Store for Counting {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        self.call().commit(transaction)
    }

    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        self.call().headers(sessions)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.call().header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.call().read(session, query)
    }

    fn pages(&self, reads: &[(SessionId, Query)]) -> Result<Vec<Result<Page>>> {
        self.call().pages(reads)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.call().sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.call().changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.call().verify(session)
    }
}

/// Creates an engine on a counting store, with a session of 40 messages.
fn counted() -> (Engine, Arc<Counting>) {
    let store = Arc::new(Counting::default());
    let engine = Engine::new(store.clone());
    let workspace = forklore_core::workspace::Workspace::new("/demo");
    engine.create(&Create { id: Some(id("main")), ..Create::in_workspace(workspace) }).unwrap();
    for turn in 0..20 {
        let ask = NewEvent::user(&format!("question {turn}")).unwrap();
        let answer = NewEvent::assistant(&format!("answer {turn}")).unwrap();
        engine.append(&id("main"), &Batch::from(vec![ask, answer])).unwrap();
    }
    (engine, store)
}

#[test]
fn an_append_is_one_call() {
    let (engine, store) = counted();
    let more = NewEvent::user("more").unwrap();
    let calls = store.count(|| engine.append(&id("main"), &more.into()).unwrap());
    assert_eq!(calls, 1);
}

#[test]
fn a_fork_is_at_most_four_calls() {
    let (engine, store) = counted();
    for (number, at) in
        ["", "end", "start", "turn:3", "message:7", "index:7", "seq:11"].into_iter().enumerate()
    {
        let at_cut = (!at.is_empty()).then(|| cut(at));
        let unnamed = Fork { at: at_cut, ..Fork::of(id("main")) };
        let named = Fork { id: Some(id(&format!("child-{number}"))), ..unnamed.clone() };
        for fork in [unnamed, named] {
            let calls = store.count(|| engine.fork(&fork).unwrap());
            assert!(calls <= 4, "{calls} calls for a fork at {at:?}");
        }
    }
}

#[test]
fn a_tree_of_a_thousand_branches_is_at_most_three_calls() {
    let (engine, store) = counted();
    for number in 0..1_000 {
        engine.fork(&Fork { id: Some(id(&format!("b{number}"))), ..Fork::of(id("main")) }).unwrap();
    }
    for session in [None, Some(id("main")), Some(id("b17"))] {
        let request = TreeRequest { session, ..TreeRequest::default() };
        let mut nodes = 0;
        let calls = store.count(|| nodes = engine.tree(&request).unwrap().nodes.len());
        assert_eq!(nodes, 1_001);
        assert!(calls <= 3, "{calls} calls");
    }
}

#[test]
fn many_sessions_are_read_in_few_calls() {
    let (engine, store) = counted();
    for number in 0..12_000 {
        let at = Some(cut("turn:1"));
        let fork = Fork { id: Some(id(&format!("b{number}"))), at, ..Fork::of(id("main")) };
        engine.fork(&fork).unwrap();
    }
    let mut sessions = 0;
    let calls = store.count(|| sessions = engine.stats(None).unwrap().sessions);
    assert_eq!((sessions, calls), (12_001, 3));
    let mut nodes = 0;
    let calls = store.count(|| nodes = engine.tree(&TreeRequest::default()).unwrap().nodes.len());
    assert_eq!((nodes, calls), (12_001, 3));
}
