//! Tests of `append`: batches, expected heads, repeated appends and limits.

use forklore_core::limits::{BATCH_EVENTS, EVENT_BYTES};
use forklore_core::{Class, Data, ErrorKind};
use forklore_engine::{Batch, NewEvent};

use crate::world::{World, events, id, on_every_store, refusal};

on_every_store!(
    a_second_writer_gets_a_conflict,
    an_unknown_session_never_becomes_a_new_one,
    a_repeated_append_is_harmless,
    a_batch_is_written_whole_or_not_at_all,
    limits_name_the_event,
    what_only_the_engine_writes_is_refused,
    a_compaction_covers_what_is_before_it,
);

fn expecting(head: i64, script: &str) -> Batch {
    Batch { expect: Some(head), ..events(script).into() }
}

fn a_second_writer_gets_a_conflict(world: &World) {
    world.session("p", "u1");
    world.engine.append(&id("p"), &expecting(0, "a1")).unwrap();
    let error = world.engine.append(&id("p"), &expecting(0, "a2")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(
        error.details(),
        serde_json::json!({"session_id": "p", "expected": 0, "head_seq": 1})
    );
    assert_eq!(world.shape("p"), "u1 a1");
}

fn an_unknown_session_never_becomes_a_new_one(world: &World) {
    assert_eq!(
        refusal(world.engine.append(&id("ghost"), &events("u1").into())).0,
        ErrorKind::NotFound
    );
    assert_eq!(refusal(world.engine.load(&id("ghost"))).0, ErrorKind::NotFound);
    assert_eq!(refusal(world.engine.show(&id("ghost"))).0, ErrorKind::NotFound);
}

fn a_repeated_append_is_harmless(world: &World) {
    world.session("p", "u1");
    let mut batch = events("a1 u2");
    for (at, event) in batch.iter_mut().enumerate() {
        event.id = Some(format!("mine-{at}").parse().unwrap());
    }
    let request = Batch { events: batch, expect: Some(0), owner: None };
    let first = world.engine.append(&id("p"), &request).unwrap();
    world.write("p", "a2");
    let again = world.engine.append(&id("p"), &request).unwrap();
    assert_eq!((first.from_seq, first.to_seq, first.head_seq, first.repeated), (1, 2, 2, false));
    assert_eq!((again.from_seq, again.to_seq, again.head_seq, again.repeated), (1, 2, 3, true));
    assert_eq!(world.shape("p"), "u1 a1 u2 a2");
}

fn a_batch_is_written_whole_or_not_at_all(world: &World) {
    world.session("p", "u1");
    let mut batch = events("a1 u2");
    batch.push(NewEvent::new("tool_result".parse().unwrap(), Data::parse("{}").unwrap()));
    let error = world.engine.append(&id("p"), &batch.into()).unwrap_err();
    assert_eq!((error.kind(), error.details()["line"].as_u64()), (ErrorKind::InvalidArgs, Some(3)));
    assert_eq!(error.to_string(), "event 3: a tool_result needs `call_id` and `content`");
    assert_eq!(world.shape("p"), "u1");
    assert_eq!(refusal(world.engine.append(&id("p"), &Batch::default())).1, "empty");
}

fn limits_name_the_event(world: &World) {
    world.session("p", "");
    let many = vec![events("u1").remove(0); BATCH_EVENTS + 1];
    let error = world.engine.append(&id("p"), &many.into()).unwrap_err();
    assert_eq!(error.to_string(), "event 10001: an append holds at most 10000 events");
    let long = Data::of(&serde_json::json!({"content": "x".repeat(EVENT_BYTES)})).unwrap();
    let long = vec![events("u1").remove(0), NewEvent::new("user_message".parse().unwrap(), long)];
    let error = world.engine.append(&id("p"), &long.into()).unwrap_err();
    assert!(error.to_string().starts_with("event 2 has 16777230 bytes"), "{error}");
    assert_eq!(world.header("p").head_seq(), -1);
}

fn what_only_the_engine_writes_is_refused(world: &World) {
    world.session("p", "u1");
    for kind in ["session_fork", "branch_summary"] {
        let event = NewEvent::new(kind.parse().unwrap(), Data::parse("{}").unwrap());
        assert_eq!(refusal(world.engine.append(&id("p"), &vec![event].into())).1, "reserved_type");
    }
    for (kind, class) in
        [("user_message", Class::Audit), ("other", Class::Evidence), ("x.a", Class::Lineage)]
    {
        let data = Data::parse(r#"{"content":"hi"}"#).unwrap();
        let event = NewEvent { class: Some(class), ..NewEvent::new(kind.parse().unwrap(), data) };
        assert_eq!(
            refusal(world.engine.append(&id("p"), &vec![event].into())).0,
            ErrorKind::InvalidArgs
        );
    }
}

fn a_compaction_covers_what_is_before_it(world: &World) {
    world.session("p", "u1 a1");
    let refused = world.engine.append(&id("p"), &events("u2 k:0-4").into());
    assert_eq!(refusal(refused).1, "compaction_range");
    world.write("p", "u2 k:0-3");
    assert_eq!(world.shape("p"), "u1 a1 u2 k");
}
