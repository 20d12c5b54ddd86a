//! Tests of `redact` (docs/semantics.md, Redaction).

use forklore_core::{ErrorKind, Event};
use forklore_engine::{Engine, Redact, Transfer};
use forklore_store::port::{Append, Change};
use serde_json::Value;

use crate::world::{World, id, on_every_store};

on_every_store!(copies_in_other_sessions_go_too, what_is_running_is_busy, views_say_what_is_gone,);

const SECRET: &str = "the-launch-code-is-0451";

fn matching(session: &str, text: &str) -> Redact {
    Redact {
        sessions: vec![id(session)],
        matching: Some(text.into()),
        reason: "a code".into(),
        ..Redact::default()
    }
}

/// Returns each redacted event as `SESSION:SEQ why`.
fn redacted_at(world: &World, request: &Redact) -> Vec<String> {
    let done = world.engine.redact(request).unwrap();
    let why = |it: &forklore_api::RedactedEvent| serde_json::to_value(it.why).unwrap();
    let position = |it: forklore_api::RedactedEvent| {
        format!("{}:{} {}", it.session_id, it.seq, why(&it).as_str().unwrap())
    };
    done.events.into_iter().map(position).collect()
}

fn has_secret(engine: &Engine, session: &str) -> bool {
    let events = engine.load(&id(session)).unwrap().events;
    events.iter().any(|entry| entry.event.data.get().contains("0451"))
}

fn copies_in_other_sessions_go_too(world: &World) {
    world.session("a", &format!("u:{SECRET} a:ok u:more"));
    world.session("b", "u:other");
    // The same record in another session, as agents copy them.
    let event = world.log("a")[0].event.clone();
    let other = Event { id: "another".parse().unwrap(), ..event.clone() };
    let near = Event { ts: world.engine.now(), ..other.clone() };
    for event in [event, other, near] {
        let events = vec![event];
        let (expect, owner, usage, now) = (None, None, <_>::default(), world.engine.now());
        let append = Append { events, expect, owner, usage, now };
        world.engine.store().append(&id("b"), append).unwrap();
    }
    let redact =
        Redact { events: vec!["a:0".into()], reason: "a code".into(), ..Redact::default() };
    let plan = Redact { dry_run: true, ..redact.clone() };
    let first = redacted_at(world, &plan);
    assert!(has_secret(&world.engine, "a"));
    assert_eq!(redacted_at(world, &redact), first);
    assert_eq!(&first[..3], ["a:0 named", "b:1 copy", "b:2 copy"]);
    assert!(!has_secret(&world.engine, "a"));
}

fn what_is_running_is_busy(world: &World) {
    world.session("a", &format!("u:{SECRET} a:ok"));
    world.fork("a", "", "b");
    world.session("c", "u:other");
    for (session, refused) in [("c", false), ("b", true), ("a", true)] {
        let (owner, lasts) = ("run".to_owned(), jiff::SignedDuration::from_secs(60));
        let hold = Change::Hold { owner, lasts };
        world.engine.store().change(&id(session), &hold).unwrap();
        let done = world.engine.redact(&Redact { dry_run: true, ..matching("a", "0451") });
        assert_eq!(done.is_err(), refused, "{session}");
        if refused {
            let done = world.engine.redact(&matching("a", "0451"));
            assert_eq!(done.unwrap_err().kind(), ErrorKind::Busy);
            assert!(has_secret(&world.engine, "a"));
        }
        let release = Change::Release { owner: "run".into() };
        world.engine.store().change(&id(session), &release).unwrap();
    }
    assert_eq!(redacted_at(world, &matching("b", "0451")), ["a:0 matched"]);
}

fn views_say_what_is_gone(world: &World) {
    world.session("a", &format!("u:{SECRET} a:ok"));
    world.engine.redact(&matching("a", "0451")).unwrap();
    let event = &world.log("a")[0].event;
    let message = serde_json::to_value(world.engine.message(event)).unwrap();
    let bytes = format!("{{\"content\":\"u:{SECRET}\"}}").len();
    let text = format!("[redacted: {bytes} bytes, a code]");
    assert_eq!(message, serde_json::json!({"role": "user", "content": text}));
    let payload: Value = event.data.read().unwrap();
    assert_eq!(payload["redacted"]["reason"], "a code");
}

#[test]
fn it_crosses_into_every_kind_of_store() {
    let worlds = [World::sqlite as fn() -> World, World::files];
    for (here, there) in worlds.into_iter().flat_map(|here| worlds.map(|there| (here, there))) {
        let (here, there) = (here(), there());
        here.session("a", &format!("u:{SECRET} a:ok u:more a:yes"));
        here.fork("a", "turn:1", "b");
        here.write("b", "u:on");
        let all = Transfer::default();
        here.engine.transfer(&there.engine, &all, &mut |_| true).unwrap();
        here.engine.redact(&matching("a", "0451")).unwrap();
        // The store there, which has the older copy, changes nothing here.
        let back = there.engine.transfer(&here.engine, &all, &mut |_| true).unwrap();
        assert_eq!((back.events, back.redacted, back.skipped.len()), (0, 0, 0));
        assert!(!has_secret(&here.engine, "a"));
        for redacted in [1, 0] {
            let done = here.engine.transfer(&there.engine, &all, &mut |_| true).unwrap();
            assert_eq!((done.events, done.redacted), (0, redacted));
            for session in ["a", "b"] {
                assert_eq!(here.log(session), there.log(session));
            }
        }
        // What comes later crosses as before.
        there.write("a", "u:later");
        let back = there.engine.transfer(&here.engine, &all, &mut |_| true).unwrap();
        assert_eq!((back.events, back.redacted), (1, 0));
        assert_eq!(here.log("a"), there.log("a"));
    }
}
