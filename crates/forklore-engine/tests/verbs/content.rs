//! Tests that a child inherits the right events, and that a fork does not change its parent.

use forklore_core::{Strategy, ToolCallPolicy};
use forklore_engine::Fork;

use crate::world::{World, cut, id, on_every_store};

on_every_store!(
    seq_0_is_session_fork,
    audit_is_not_inherited_context_is,
    evidence_is_inherited,
    the_models_view_sees_prefix_and_tail,
    the_parents_bytes_are_unchanged,
    share_and_copy_read_the_same,
    ten_forks_of_a_long_parent_add_ten_turns,
    every_event_names_parent_and_root,
    a_class_is_stored_with_the_event,
    a_compactions_range_survives_three_forks,
    the_same_fork_in_two_stores_is_the_same_to_the_byte,
);

fn seq_0_is_session_fork(world: &World) {
    world.session("p", "u1 a1 $ u2");
    world.fork("p", "turn:1", "c");
    world.write("c", "u3");
    let log = world.log("c");
    let seqs: Vec<u64> = log.iter().map(|stored| stored.seq).collect();
    assert_eq!(seqs, vec![0, 1, 2, 3]);
    let parents = world.log("p");
    // An inherited event has the same id, time, type and data as the original. Its origin is the
    // session that wrote it.
    for (inherited, original) in log[1..3].iter().zip(&parents[..2]) {
        assert_eq!(inherited.event, original.event);
        assert_eq!(inherited.origin, original.origin);
    }
    let writers: Vec<String> =
        log.iter().map(|s| format!("{}:{}", s.origin.session_id, s.origin.seq)).collect();
    assert_eq!(writers, ["c:0", "p:0", "p:1", "c:3"]);
    let record: serde_json::Value = log[0].event.data.read().unwrap();
    assert_eq!(
        record,
        serde_json::json!({
            "kind": "branch", "parent_session_id": "p", "root_session_id": "p",
            "cut": {"seq": 1, "index": 2, "message": 1, "turn": 1,
                    "event_id": parents[1].event.id.as_str()},
            "event_count": 2, "strategy": "share_v1", "tool_calls": "complete",
            "workspace": "/demo", "parent_workspace": "/demo",
            "principal": null, "parent_principal": null,
            "limitations": ["usage, failures and other audit events are not inherited"],
        })
    );
}

fn audit_is_not_inherited_context_is(world: &World) {
    world.session("p", "u1 a1 $ ! k:0-2 x:context x:audit u2 a2 u3");
    world.fork("p", "turn:2", "c");
    assert_eq!(world.shape("c"), "F u1 a1 k x.note u2 a2");
    world.fork("c", "", "d");
    assert_eq!(world.shape("d"), "F u1 a1 k x.note u2 a2");
}

fn evidence_is_inherited(world: &World) {
    world.session("p", "u1 w x:evidence a1");
    world.fork("p", "", "c");
    assert_eq!(world.shape("c"), "F u1 w x.note a1");
}

fn the_models_view_sees_prefix_and_tail(world: &World) {
    world.session("p", "s0 u1 a1 u2");
    world.fork("p", "turn:1", "c");
    world.write("c", "u9");
    let seen = world.engine.inspect(&id("c")).unwrap();
    let texts: Vec<String> = seen.messages.iter().map(forklore_core::Message::plain_text).collect();
    assert_eq!(texts, ["s0", "u1", "a1", "u9"]);
}

fn the_parents_bytes_are_unchanged(world: &World) {
    world.session("p", "u1 c:x a1 $ u2 a2");
    let before = world.printed("p");
    for (at, child) in [("", "c1"), ("turn:1", "c2"), ("start", "c3"), ("message:1", "c4")] {
        world.fork("p", at, child);
        world.write(child, "u8 a8");
    }
    world.engine.detach(&id("c1")).unwrap();
    assert_eq!(world.printed("p"), before);
}

fn share_and_copy_read_the_same(world: &World) {
    world.session("p", "s0 u1 w c:x $ r:x a1 k:0-3 u2 a2 u3");
    world.session("q", "s0 u1 w c:x $ r:x a1 k:0-3 u2 a2 u3");
    for at in ["start", "index:1", "seq:3", "turn:1", "end"] {
        let child = |parent: &str, strategy| {
            let name = format!("{parent}-{}", at.replace(':', "-"));
            let fork = Fork { strategy, id: Some(id(&name)), ..Fork::of(id(parent)).at(cut(at)) };
            world.engine.fork(&fork).unwrap();
            world.write(&name, "u9 a9");
            world.fork(&name, "", &format!("{name}-2"));
            name
        };
        let (share, copy) = (child("p", Strategy::ShareV1), child("q", Strategy::ReplayV1));
        for (share, copy) in
            [(share.clone(), copy.clone()), (format!("{share}-2"), format!("{copy}-2"))]
        {
            assert_eq!(world.shape(&share), world.shape(&copy), "{at}");
            let view = |name: &str| {
                let header = world.header(name);
                let records: Vec<_> = world
                    .engine
                    .replay(&id(name), None)
                    .unwrap()
                    .map(|record| {
                        let r = record.unwrap();
                        (r.index, r.seq, r.role, r.content)
                    })
                    .collect();
                (
                    header.head_seq(),
                    header.counts,
                    header.inherited,
                    header.own_events,
                    records,
                    world.engine.inspect(&id(name)).unwrap(),
                )
            };
            assert_eq!(view(&share), view(&copy), "{at}");
        }
    }
}

fn ten_forks_of_a_long_parent_add_ten_turns(world: &World) {
    world.session("p", "");
    for batch in 0..10 {
        let script: Vec<String> =
            (0..500).map(|turn| format!("u{0} a{0}", batch * 500 + turn)).collect();
        world.write("p", &script.join(" "));
    }
    let before = world.engine.stats(None).unwrap();
    for fork in 0..10 {
        let child = format!("c{fork}");
        world.fork("p", "", &child);
        world.write(&child, "u1 a1");
    }
    let after = world.engine.stats(None).unwrap();
    // Each child wrote three events: its `session_fork` and one turn.
    assert_eq!(after.own_events - before.own_events, 10 * 3);
    assert_eq!(after.inherited_events, 10 * 10_000);
    assert_eq!(after.saved_bytes, 10 * before.bytes);
    assert!(after.bytes - before.bytes < 10 * 1024);
}

fn every_event_names_parent_and_root(world: &World) {
    world.session("p", "u1 a1");
    world.fork("p", "", "c");
    world.fork("c", "", "d");
    world.write("d", "u2");
    for (name, parent) in [("p", None), ("c", Some("p")), ("d", Some("c"))] {
        for line in world.printed(name).lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(event["session_id"], name);
            assert_eq!(event["parent_id"].as_str(), parent);
            assert_eq!(event["root_id"], "p");
        }
    }
    let lines = world.printed("d");
    let keys = |line: &str| -> Vec<String> {
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        fields.keys().cloned().collect()
    };
    let first = lines.lines().nth(1).unwrap();
    assert!(first.find("\"session_id\"") < first.find("\"root_id\""));
    assert!(keys(first).contains(&"origin".to_owned()));
    assert!(!keys(lines.lines().last().unwrap()).contains(&"origin".to_owned()));
}

fn a_class_is_stored_with_the_event(world: &World) {
    world.session("p", "u1 x:evidence x:audit x:conversation");
    let classes: Vec<_> = world.log("p").iter().map(|s| s.event.class.code()).collect();
    assert_eq!(classes, [0, 1, 4, 0]);
    assert_eq!(world.header("p").counts.index, 2);
    let shown = world.printed("p");
    assert!(shown.lines().nth(1).unwrap().contains("\"class\":\"evidence\""));
    assert!(!shown.lines().nth(2).unwrap().contains("\"class\""));
}

fn a_compactions_range_survives_three_forks(world: &World) {
    world.session("p", "u1 a1 $ u2 a2 k:0-3 u3 a3");
    let before = world.engine.inspect(&id("p")).unwrap();
    let texts: Vec<String> =
        before.messages.iter().map(forklore_core::Message::plain_text).collect();
    assert_eq!(texts, ["short", "a2", "u3", "a3"]);
    for (parent, child) in [("p", "c1"), ("c1", "c2"), ("c2", "c3")] {
        world.fork(parent, "", child);
        assert_eq!(world.engine.inspect(&id(child)).unwrap().messages, before.messages);
    }
}

fn the_same_fork_in_two_stores_is_the_same_to_the_byte(world: &World) {
    let other = World::memory();
    let shown = |world: &World| {
        world.session("p", "u1 c:x");
        let fork = Fork {
            tool_calls: ToolCallPolicy::Complete,
            id: Some(id("c")),
            summarize: Some(forklore_engine::Summarize::Deterministic),
            ..Fork::of(id("p"))
        };
        let forked = world.engine.fork(&fork).unwrap();
        (serde_json::to_string(&forked).unwrap(), world.printed("c"))
    };
    assert_eq!(shown(world), shown(&other));
}
