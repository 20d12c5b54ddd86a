//! The family that a server remembers is the family that another process has just changed.

use std::path::Path;
use std::sync::Arc;

use forklore_engine::{Delete, DeleteMode, Engine, Gc, Redact, Undelete};
use forklore_sqlite::{Options, SqliteStore};

use crate::world::{World, family_in};

fn open(file: &Path) -> Engine {
    Engine::new(Arc::new(SqliteStore::open(file, Options::default()).unwrap()))
}

fn delete(session: &str, mode: DeleteMode, erase: bool) -> Delete {
    Delete { session: session.parse().unwrap(), mode, dry_run: false, erase }
}

/// A change, with a text that the page shows only afterwards, and one that it shows only before. Each
/// may be empty.
struct Step {
    name: &'static str,
    change: Box<dyn Fn(&World)>,
    appears: &'static str,
    vanishes: &'static str,
}

fn step(
    name: &'static str,
    appears: &'static str,
    vanishes: &'static str,
    change: impl Fn(&World) + 'static,
) -> Step {
    Step { name, change: Box::new(change), appears, vanishes }
}

/// All that another process may do to a family whose root is `main`.
fn steps() -> Vec<Step> {
    let id = |text: &str| text.parse().unwrap();
    vec![
        step("fork", "plan-d", "", |other| other.fork("main", "plan-d", "turn:1")),
        step("append", "Shall it be D?", "", |other| other.user("plan-d", "Shall it be D?")),
        step("label", "plan-x", "", move |other| {
            other.engine.label(&id("plan-d"), &"plan-x".parse().unwrap()).unwrap();
        }),
        step("rename", "A third plan", "Shall it be D?", move |other| {
            other.engine.rename(&id("plan-d"), Some("A third plan")).unwrap();
        }),
        step("delete", "", "plan-x", |other| {
            other.engine.delete(&delete("plan-d", DeleteMode::Refuse, false)).unwrap();
        }),
        step("undelete", "plan-x", "", move |other| {
            let request = Undelete { session: id("plan-d"), cascade: false };
            other.engine.undelete(&request).unwrap();
        }),
        step("delete of a parent", "deleted", "", |other| {
            let request = delete("plan-b", DeleteMode::DetachChildren, false);
            other.engine.delete(&request).unwrap();
        }),
        step("redact", "", "A third plan", |other| {
            let matching = Some("D?".to_owned());
            let sessions = vec!["plan-d".parse().unwrap()];
            let reason = "test".to_owned();
            other.engine.rename(&"plan-d".parse().unwrap(), None).unwrap();
            let request = Redact { matching, sessions, reason, ..Redact::default() };
            assert_eq!(other.engine.redact(&request).unwrap().events.len(), 1);
        }),
        step("erasure of a parent", "", "", |other| {
            let request = delete("plan-b", DeleteMode::DetachChildren, true);
            other.engine.delete(&request).unwrap();
        }),
        step("erasure", "", "plan-x", |other| {
            other.engine.delete(&delete("plan-d", DeleteMode::Refuse, true)).unwrap();
        }),
        step("delete of many", "", "plan-c", |other| {
            other.fork("plan-c", "plan-e", "end");
            other.fork("main", "plan-f", "end");
            other.engine.delete(&delete("plan-c", DeleteMode::Cascade, false)).unwrap();
        }),
        step("gc", "", "", |other| {
            other.engine.delete(&delete("plan-f", DeleteMode::Refuse, false)).unwrap();
            assert_eq!(other.engine.collect(&Gc::all()).unwrap().sessions, 3);
        }),
    ]
}

#[test]
fn a_remembered_family_shows_what_another_process_did() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.db");
    let (world, other) = (World::of(open(&file)), family_in(World::of(open(&file))));
    let mut before = world.page("/f/main");
    for Step { name, change, appears, vanishes } in steps() {
        change(&other);
        let remembered = world.page("/f/main");
        // What reads the family for the first time remembers nothing.
        assert_eq!(remembered, World::of(open(&file)).page("/f/main"), "{name}");
        for (text, is_there, was_there) in [(appears, true, false), (vanishes, false, true)] {
            let found = (remembered.contains(text), before.contains(text));
            assert!(text.is_empty() || found == (is_there, was_there), "{name}: {text}");
        }
        before = remembered;
    }
}
