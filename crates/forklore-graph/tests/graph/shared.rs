//! The graph contains the prefix of a fork only once, whether the fork shares or copies the prefix.

use forklore_core::SessionId;
use forklore_core::workspace::Workspace;
use forklore_engine::{Create, Fork, NewEvent};
use forklore_graph::{Scope, session_iri};
use forklore_store::memory::MemoryStore;

use crate::family::{assistant, grown, id, over, quads};

/// Returns the number of quads in the named graph of one session.
fn own(quads: &[forklore_graph::terms::Quad], session: &SessionId) -> usize {
    let graph = session_iri(session).to_string();
    quads.iter().filter(|quad| quad.graph_name.to_string() == graph).count()
}

#[test]
fn a_fork_tells_its_own_tail_only() {
    let mut counts = Vec::new();
    for turns in [5, 5_000] {
        let engine = over(MemoryStore::default());
        let mut create = Create::in_workspace(Workspace::new("/home/ann/demo"));
        create.id = Some(id("long"));
        engine.create(&create).unwrap();
        let mut events = Vec::new();
        for turn in 0..turns {
            events.push(NewEvent::user(&format!("question {turn}")).unwrap());
            events.push(NewEvent::assistant("answer").unwrap());
        }
        engine.append(&id("long"), &events.into()).unwrap();
        let before = quads(&engine, &Scope::Everything);
        let mut fork = Fork::of(id("long"));
        fork.id = Some(id("child"));
        engine.fork(&fork).unwrap();
        assistant(&engine, "child", "another answer");
        let after = quads(&engine, &Scope::Everything);
        assert_eq!(own(&before, &id("long")), before.len());
        assert_eq!(own(&after, &id("long")), before.len());
        counts.push(own(&after, &id("child")));
        assert_eq!(after.len(), before.len() + counts[counts.len() - 1]);
    }
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn every_event_is_projected_once_also_those_of_a_deleted_session() {
    let engine = grown();
    let all = quads(&engine, &Scope::Everything);
    let types = all.iter().filter(|quad| quad.predicate.as_str().ends_with("#seq"));
    let mut events: Vec<_> = types.map(|quad| quad.subject.to_string()).collect();
    events.sort();
    let reported = events.len();
    events.dedup();
    assert_eq!(events.len(), reported);
    assert!(events.contains(&"<urn:forklore:event:demo-c:8>".to_owned()), "{events:?}");
    let headers = ["demo", "demo-a", "demo-a-2", "demo-b", "demo-d", "helper", "other"];
    let own: u64 = headers.iter().map(|of| engine.show(&id(of)).unwrap().own_events).sum();
    assert_eq!(reported as u64, own + 1, "one of the deleted session is still needed");
}

#[test]
fn telling_and_replaying_change_nothing() {
    let engine = grown();
    let before = quads(&engine, &Scope::Everything);
    engine.replay(&id("demo-a-2"), None).unwrap().for_each(|record| drop(record.unwrap()));
    assert_eq!(quads(&engine, &Scope::Everything), before);
}
