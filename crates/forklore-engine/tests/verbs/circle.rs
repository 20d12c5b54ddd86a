//! Tests of sessions whose parent links run in a circle, as only damage makes them.

use std::sync::Arc;
use std::time::Duration;

use forklore_core::{ErrorKind, Header, SessionId, SessionKind, Strategy};
use forklore_engine::{Engine, Fork, TreeRequest};
use forklore_store::memory::MemoryStore;
use forklore_store::port::{
    Capabilities, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since, Store,
    Transaction, Verification,
};
use forklore_store::{Error, Result};

use crate::world::{World, id, refusal};

/// A store in which the root `a` claims to be a child of its descendant `c`.
struct Circle(MemoryStore);

fn bent(mut header: Header) -> Header {
    if header.id == id("a") {
        header.parent_id = Some(id("c"));
        (header.kind, header.strategy) = (SessionKind::Branch, Some(Strategy::ShareV1));
    }
    header
}

impl Store for Circle {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        self.0.commit(transaction)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.0.header(session).map(bent)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.0.read(session, query)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        let Headers { sound, damaged } = self.0.sessions(filter, after, limit)?;
        Ok(Headers { sound: sound.into_iter().map(bent).collect(), damaged })
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes, Error> {
        self.0.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.0.verify(session)
    }
}

/// Creates a root `a` with a child `b` and a grandchild `c`, and bends their links into a circle.
fn circle() -> Engine {
    let world = World::memory();
    world.session("a", "u1");
    world.fork("a", "", "b");
    world.fork("b", "", "c");
    Engine::new(Arc::new(Circle(world.into_memory())))
}

#[test]
fn walks_of_parent_links_end_and_name_the_circle() {
    let engine = circle();
    let lineage = engine.lineage(&id("b")).map(|_| ());
    assert_eq!(refusal(lineage).0, ErrorKind::LineageCycle);
    let request = TreeRequest { session: Some(id("b")), ..TreeRequest::default() };
    let nodes = engine.tree(&request).unwrap().nodes;
    let drawn: Vec<_> = nodes.iter().map(|node| (node.depth, node.cycle)).collect();
    assert_eq!(drawn, [(0, true), (1, false), (2, false)]);
    let problems = engine.verify(None).unwrap().problems;
    assert!(problems.iter().any(|one| one.kind == ErrorKind::LineageCycle), "{problems:?}");
}

#[test]
fn a_circle_is_no_depth() {
    let engine = circle().with_max_fork_depth(Some(32));
    assert_eq!(refusal(engine.fork(&Fork::of(id("c")))).0, ErrorKind::LineageCycle);
    // Without a limit, a fork walks no links.
    assert_eq!(circle().fork(&Fork::of(id("c"))).unwrap().event_count, 1);
}
