//! Tests of the summary at a fork.

use forklore_core::Data;
use forklore_engine::{Fork, NewEvent, Summarize};

use crate::world::{World, cut, id, on_every_store};

on_every_store!(
    fields_locate_counts_strategy_and_limitations,
    the_same_history_gives_the_same_summary,
    all_positions_are_indexes,
    what_a_models_summary_cost_belongs_to_the_child,
);

fn summarized(world: &World, at: &str, child: &str, by: Summarize) -> serde_json::Value {
    let fork = Fork { summarize: Some(by), id: Some(id(child)), ..Fork::of(id("p")).at(cut(at)) };
    assert!(world.engine.fork(&fork).unwrap().would_record_branch_summary);
    let log = world.log(child);
    let last = log.last().unwrap();
    assert_eq!(last.event.kind.as_str(), "branch_summary");
    last.event.data.read().unwrap()
}

fn fields_locate_counts_strategy_and_limitations(world: &World) {
    world.session("p", "s0 u1 w $ c:x");
    let edit = r#"{"id":"e1","name":"edit","arguments":{"file_path":"src/main.rs","n":1}}"#;
    let plan = r#"{"id":"t1","name":"todo_write","arguments":{"todos":[{"content":"ship","status":"pending"},{"content":"test","status":"completed"}]}}"#;
    for data in [edit, plan] {
        let call = NewEvent::new("tool_call".parse().unwrap(), Data::parse(data).unwrap());
        world.engine.append(&id("p"), &vec![call].into()).unwrap();
    }
    world.write("p", "a1");
    let found = summarized(world, "end", "c", Summarize::Deterministic);
    assert_eq!(world.shape("c"), "F s0 u1 w c:x c:e1 c:t1 a1 r:x r:e1 r:t1 S");
    assert_eq!(found["strategy"], "deterministic_operational_summary_v2");
    assert_eq!(found["of"], serde_json::json!({"session_id": "p", "from_index": 0, "to_index": 6}));
    let summary = &found["summary"];
    assert_eq!(
        summary["counts"],
        serde_json::json!({"assistant_message": 1, "system_message": 1, "tool_call": 3,
            "user_message": 1, "workflow_event": 1})
    );
    assert_eq!(summary["tools"], serde_json::json!({"edit": 1, "todo_write": 1, "tool_x": 1}));
    assert_eq!(summary["files"], serde_json::json!(["src/main.rs"]));
    assert_eq!(summary["open_tasks"], serde_json::json!(["ship"]));
    assert_eq!(summary["open_calls"].as_array().unwrap().len(), 3);
    assert_eq!(
        summary["facts"][2],
        serde_json::json!({"index": 5, "role": "assistant", "text": "a1"})
    );
    assert!(!found["limitations"].as_array().unwrap().is_empty());
    // If a model summary is requested without a model, the deterministic summary replaces it and
    // states the reason.
    let by_model = summarized(world, "end", "d", Summarize::fallback("no model is configured"));
    assert_eq!(by_model["summary"], *summary);
    assert!(by_model["limitations"].to_string().contains("no model is configured"));
}

fn the_same_history_gives_the_same_summary(world: &World) {
    let text = format!("{}é👩‍👩‍👧 end", "x".repeat(475));
    world.session("p", "");
    world.engine.append(&id("p"), &vec![NewEvent::user(&text).unwrap()].into()).unwrap();
    let (one, two) = (
        summarized(world, "end", "c", Summarize::Deterministic),
        summarized(world, "end", "d", Summarize::Deterministic),
    );
    assert_eq!(one, two);
    assert_eq!(one["summary"]["facts"][0]["text"], format!("{}é", "x".repeat(475)));
}

fn all_positions_are_indexes(world: &World) {
    world.session("p", "u1 w $ c:x r:x a1 u2");
    world.fork("p", "turn:1", "c");
    // The indexes in the summary are those of the child, however deep its history is.
    let fork =
        Fork { summarize: Some(Summarize::Deterministic), id: Some(id("d")), ..Fork::of(id("c")) };
    world.engine.fork(&fork).unwrap();
    let log = world.log("d");
    let found: serde_json::Value = log.last().unwrap().event.data.read().unwrap();
    assert_eq!(found["summary"]["last_calls"], serde_json::json!([{"index": 1, "name": "tool_x"}]));
    let facts: Vec<_> = found["summary"]["facts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| (fact["index"].as_u64().unwrap(), fact["text"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(facts, [(0, "u1".to_owned()), (3, "a1".to_owned())]);
}

fn what_a_models_summary_cost_belongs_to_the_child(world: &World) {
    world.session("p", "u1 a1");
    let parent = (world.printed("p"), world.engine.show(&id("p")).unwrap());
    let usage = vec![Data::parse(r#"{"input":7,"output":2,"purpose":"summary"}"#).unwrap()];
    let by = Summarize::ByModel { text: "short".into(), model: "small".into(), usage };
    let fork = Fork { summarize: Some(by), id: Some(id("c")), ..Fork::of(id("p")) };
    let planned = world.engine.fork(&Fork { dry_run: true, ..fork.clone() }).unwrap();
    let forked = world.engine.fork(&fork).unwrap();
    assert_eq!(planned.head_seq, forked.head_seq);
    let own: Vec<_> = world.log("c").into_iter().rev().take(2).map(|it| it.event).collect();
    let kinds: Vec<_> = own.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["provider_usage", "branch_summary"]);
    let usage = world.engine.show(&id("c")).unwrap().usage;
    assert_eq!((usage.input, usage.output), (7, 2));
    assert_eq!((world.printed("p"), world.engine.show(&id("p")).unwrap()), parent);
    // A fork of the child inherits the summary, but not its usage.
    world.fork("c", "", "d");
    assert_eq!(world.engine.show(&id("d")).unwrap().usage.input, 0);
}
