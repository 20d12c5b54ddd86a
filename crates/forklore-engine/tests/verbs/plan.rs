//! Tests of dry runs, idempotent forks, and forks while a turn runs.

use forklore_core::workspace::Workspace;
use forklore_core::{Data, ErrorKind, SessionKind, ToolCallPolicy};
use forklore_engine::{Batch, Bring, Fork, Summarize};

use crate::world::{World, cut, events, id, on_every_store, refusal};

on_every_store!(
    a_dry_run_writes_nothing_and_is_complete,
    plan_and_result_agree,
    a_duplicate_id_is_refused_the_same_fork_is_answered,
    an_existing_child_is_the_answer_only_if_the_whole_request_holds,
    a_requested_summary_must_exist,
    a_fork_while_a_turn_runs,
    others_wait_while_a_runtime_holds_the_session,
);

fn a_dry_run_writes_nothing_and_is_complete(world: &World) {
    world.session("p", "u1 c:x");
    let before = world.engine.stats(None).unwrap();
    let fork = Fork {
        id: Some(id("c")),
        summarize: Some(Summarize::Deterministic),
        dry_run: true,
        ..Fork::of(id("p"))
    };
    let plan = serde_json::to_value(world.engine.fork(&fork).unwrap()).unwrap();
    let event_id = world.log("p")[1].event.id.to_string();
    let cut =
        serde_json::json!({"seq": 1, "index": 2, "message": 1, "turn": 1, "event_id": event_id});
    assert_eq!(
        plan,
        serde_json::json!({
            "recorded": false, "dry_run": true,
            "parent_session_id": "p", "child_session_id": "c", "root_session_id": "p",
            "kind": "branch", "label": "deep-hazel", "strategy": "share_v1", "cut": cut,
            "event_count": 2, "synthetic_results": 1, "would_record_branch_summary": true,
            "head_seq": 4,
        })
    );
    assert_eq!(world.engine.stats(None).unwrap(), before);
    assert_eq!(refusal(world.engine.show(&id("c"))).0, ErrorKind::NotFound);
}

fn plan_and_result_agree(world: &World) {
    world.session("p", "u1 a1 c:x u2 c:y");
    for (at, policy) in [
        ("end", ToolCallPolicy::Complete),
        ("end", ToolCallPolicy::Remove),
        ("message:2", ToolCallPolicy::Verbatim),
        ("start", ToolCallPolicy::Complete),
    ] {
        let fork = Fork { tool_calls: policy, dry_run: true, ..Fork::of(id("p")).at(cut(at)) };
        let mut plan = world.engine.fork(&fork).unwrap();
        let apply = Fork { id: Some(plan.child_session_id.clone()), dry_run: false, ..fork };
        let made = world.engine.fork(&apply).unwrap();
        (plan.recorded, plan.dry_run) = (true, false);
        assert_eq!(plan, made, "{at} {policy}");
    }
}

fn a_duplicate_id_is_refused_the_same_fork_is_answered(world: &World) {
    world.session("p", "u1 a1 u2");
    let first = world.fork("p", "turn:1", "c");
    world.write("c", "u9");
    let again = world.fork("p", "turn:1", "c");
    assert_eq!((again.recorded, again.existing), (false, true));
    assert_eq!((again.cut, again.head_seq), (first.cut, first.head_seq + 1));
    for (other, what) in [("turn:2", "the cut"), ("start", "the cut")] {
        let error = world.try_fork("p", other, "c").unwrap_err();
        assert_eq!(
            (error.kind(), error.details()["differs"].as_str()),
            (ErrorKind::AlreadyExists, Some(what))
        );
    }
    let delegate = Fork {
        kind: SessionKind::Delegate,
        id: Some(id("c")),
        ..Fork::of(id("p")).at(cut("turn:1"))
    };
    assert_eq!(refusal(world.engine.fork(&delegate)).0, ErrorKind::AlreadyExists);
    // Ids that differ only in case are the same id.
    assert_eq!(refusal(world.try_fork("p", "turn:1", "C")).0, ErrorKind::AlreadyExists);
    assert_eq!(world.engine.branches(&id("p")).unwrap().branches.len(), 2);
}

fn an_existing_child_is_the_answer_only_if_the_whole_request_holds(world: &World) {
    world.session("p", "u1 a1");
    let plain = Fork { id: Some(id("c")), ..Fork::of(id("p")) };
    let full = Fork {
        label: Some("plan-b".parse().unwrap()),
        title: Some("Plan B".into()),
        workspace: Some(Workspace::new("/other")),
        principal: Some("ann".into()),
        permissions: Some(["read".to_owned()].into()),
        metadata: Some(Data::parse(r#"{"n":1}"#).unwrap()),
        config: Some(Data::parse("[2]").unwrap()),
        ..plain.clone()
    };
    world.engine.fork(&plain).unwrap();
    // The request `full` names several properties. A child that has all of them is the answer to a
    // fork that asks for all, some or none of them.
    let other = Fork { id: Some(id("d")), ..full.clone() };
    for part in [other.clone(), other.clone(), Fork { title: None, config: None, ..other.clone() }]
    {
        assert_eq!(world.engine.fork(&part).unwrap().label.as_str(), "plan-b");
    }
    assert!(world.engine.fork(&Fork { id: Some(id("d")), ..plain.clone() }).unwrap().existing);
    // A child that has none of them is no answer to these forks, and the refusal names what
    // differs.
    let one = |of: fn(Fork, &Fork) -> Fork| of(plain.clone(), &full);
    for (request, differs) in [
        (one(|to, of| Fork { label: of.label.clone(), ..to }), "the label"),
        (one(|to, of| Fork { title: of.title.clone(), ..to }), "the title"),
        (one(|to, of| Fork { workspace: of.workspace.clone(), ..to }), "the workspace"),
        (one(|to, of| Fork { principal: of.principal.clone(), ..to }), "the principal"),
        (one(|to, of| Fork { permissions: of.permissions.clone(), ..to }), "the permissions"),
        (one(|to, of| Fork { metadata: of.metadata.clone(), ..to }), "the metadata"),
        (one(|to, of| Fork { config: of.config.clone(), ..to }), "the config"),
        (
            Fork { title: None, metadata: None, config: None, ..full.clone() },
            "the label, the workspace, the principal and the permissions",
        ),
    ] {
        for dry_run in [true, false] {
            let error = world.engine.fork(&Fork { dry_run, ..request.clone() }).unwrap_err();
            let found = (error.kind(), error.details()["differs"].as_str().unwrap().to_owned());
            assert_eq!(found, (ErrorKind::AlreadyExists, differs.to_owned()));
        }
    }
}

fn a_requested_summary_must_exist(world: &World) {
    world.session("p", "u1 c:x");
    let fork = |child: &str, by: Option<Summarize>| {
        world.engine.fork(&Fork { id: Some(id(child)), summarize: by, ..Fork::of(id("p")) })
    };
    let model = Summarize::ByModel { text: "short".into(), model: "m".into(), usage: Vec::new() };
    for (child, by) in
        [("none", None), ("plain", Some(Summarize::Deterministic)), ("model", Some(model.clone()))]
    {
        assert!(fork(child, by).unwrap().recorded);
        world.write(child, "u2 a2");
    }
    // A summary that `bring` records directly after the prefix does not count as the fork's
    // summary.
    assert!(fork("told", None).unwrap().recorded);
    let bring = Bring::new(id("plain"), id("told"));
    assert!(world.engine.bring(&bring).unwrap().recorded);
    let answers = |child: &str, by: Option<Summarize>| match fork(child, by) {
        Ok(forked) => format!("{} {}", forked.existing, forked.would_record_branch_summary),
        Err(error) => error.details()["differs"].as_str().unwrap().to_owned(),
    };
    let unwritten = || Some(Summarize::fallback("no model is configured"));
    for (child, by_nothing, by_rules, by_model) in [
        ("none", "true false", "the summary", "the summary"),
        ("told", "true false", "the summary", "the summary"),
        ("plain", "true true", "true true", "true true"),
        ("model", "true true", "the summary", "true true"),
    ] {
        assert_eq!(answers(child, None), by_nothing, "{child}");
        assert_eq!(answers(child, Some(Summarize::Deterministic)), by_rules, "{child}");
        assert_eq!(answers(child, Some(model.clone())), by_model, "{child}");
        assert_eq!(answers(child, unwritten()), by_model, "{child}");
    }
}

fn a_fork_while_a_turn_runs(world: &World) {
    world.session("p", "u1 a1");
    world.engine.take_lease(&id("p"), "runtime").unwrap();
    let turn = Batch { owner: Some("runtime".into()), ..events("u2 c:x").into() };
    world.engine.append(&id("p"), &turn).unwrap();
    let forked = world.fork("p", "", "c");
    assert_eq!(world.shape("c"), "F u1 a1");
    assert_eq!((forked.cut.seq, forked.adjusted_from.unwrap().seq), (Some(1), Some(3)));
    // An explicit selector is not moved to the last closed turn.
    assert_eq!(world.fork("p", "end", "d").event_count, 4);
    world.pass(11);
    assert_eq!(world.fork("p", "", "e").event_count, 4);
}

fn others_wait_while_a_runtime_holds_the_session(world: &World) {
    world.session("p", "u1");
    world.engine.take_lease(&id("p"), "one").unwrap();
    let error = world.engine.append(&id("p"), &events("u2").into()).unwrap_err();
    assert_eq!((error.kind(), error.details()["owner"].as_str()), (ErrorKind::Busy, Some("one")));
    assert_eq!(refusal(world.engine.take_lease(&id("p"), "two")).0, ErrorKind::Busy);
    let delete = forklore_engine::Delete {
        session: id("p"),
        mode: Default::default(),
        dry_run: false,
        erase: true,
    };
    assert_eq!(refusal(world.engine.delete(&delete)).0, ErrorKind::Busy);
    world.engine.release(&id("p"), "one").unwrap();
    world.write("p", "u2");
    assert_eq!(refusal(world.engine.release(&id("p"), "one")).0, ErrorKind::Conflict);
}
