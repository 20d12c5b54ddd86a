//! Tests of forks whose cut leaves tool calls open.

use forklore_core::{Content, ErrorKind, Part, Role, ToolCallPolicy};
use forklore_engine::{Error, Fork, Forked};

use crate::world::{World, cut, id, on_every_store, refusal};

on_every_store!(
    none_one_and_many_open_calls,
    a_synthetic_result_names_its_tool_and_stands_next_to_its_call,
    error_remove_and_verbatim,
    a_late_result_never_reaches_the_child,
    a_real_user_message_gives_open_calls_up,
);

fn fork(world: &World, at: &str, child: &str, tool_calls: ToolCallPolicy) -> Result<Forked, Error> {
    world.engine.fork(&Fork { tool_calls, id: Some(id(child)), ..Fork::of(id("p")).at(cut(at)) })
}

fn none_one_and_many_open_calls(world: &World) {
    world.session("p", "u1 c:x c:y c:z r:y a1");
    for (at, open) in [("seq:0", 0), ("seq:1", 1), ("seq:3", 3), ("seq:4", 2), ("seq:5", 2)] {
        let child = format!("c{}", &at[4..]);
        assert_eq!(
            fork(world, at, &child, ToolCallPolicy::Complete).unwrap().synthetic_results,
            open
        );
    }
    assert_eq!(world.shape("c3"), "F u1 c:x c:y c:z r:x r:y r:z");
    assert_eq!(world.shape("c4"), "F u1 c:x c:y c:z r:y r:x r:z");
}

fn a_synthetic_result_names_its_tool_and_stands_next_to_its_call(world: &World) {
    world.session("p", "u1 c:x");
    fork(world, "end", "c", ToolCallPolicy::Complete).unwrap();
    world.write("c", "u2");
    let result: serde_json::Value = world.log("c")[3].event.data.read().unwrap();
    assert_eq!(result["name"], "tool_x");
    assert_eq!(result["synthetic"], true);
    // The call has no result in the log. In the view it has a synthetic result, right after the
    // call and before the next user message.
    fork(world, "end", "v", ToolCallPolicy::Verbatim).unwrap();
    world.write("v", "u2 a2");
    for (name, balanced) in [("c", true), ("v", false)] {
        let seen = world.engine.inspect(&id(name)).unwrap();
        let roles: Vec<Role> = seen.messages.iter().map(|message| message.role).take(4).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::User], "{name}");
        assert_eq!((seen.balanced, seen.synthetic_results), (balanced, 1), "{name}");
        let Content::Parts(parts) = &seen.messages[2].content else { panic!("{name}") };
        assert!(
            matches!(&parts[..], [Part::ToolResult { name: Some(tool), synthetic: true, .. }] if tool == "tool_x")
        );
    }
}

fn error_remove_and_verbatim(world: &World) {
    world.session("p", "u1 a1 c:x w c:y r:x");
    let error = fork(world, "end", "e", ToolCallPolicy::Error).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.details()["calls"], serde_json::json!([{"id": "y", "name": "tool_y"}]));
    assert!(world.engine.show(&id("e")).is_err());

    let removed = fork(world, "end", "r", ToolCallPolicy::Remove).unwrap();
    assert_eq!(world.shape("r"), "F u1 a1");
    assert_eq!((removed.cut.seq, removed.adjusted_from.unwrap().seq), (Some(1), Some(5)));
    let record: serde_json::Value = world.log("r")[0].event.data.read().unwrap();
    assert_eq!(
        (record["tool_calls"].as_str(), record["cut_asked"]["seq"].as_u64()),
        (Some("remove"), Some(5))
    );

    fork(world, "end", "v", ToolCallPolicy::Verbatim).unwrap();
    assert_eq!(world.shape("v"), "F u1 a1 c:x w c:y r:x");
    assert_eq!(world.header("v").counts.open, 1);

    world.session("q", "c:z");
    let all = Fork { tool_calls: ToolCallPolicy::Remove, ..Fork::of(id("q")) };
    assert_eq!(
        refusal(world.engine.fork(&all)),
        (ErrorKind::InvalidArgs, "nothing_to_fork".into())
    );
}

fn a_late_result_never_reaches_the_child(world: &World) {
    world.session("p", "u1 c:x");
    fork(world, "end", "c", ToolCallPolicy::Complete).unwrap();
    world.write("p", "r:x a1");
    assert_eq!(world.shape("c"), "F u1 c:x r:x");
    assert_eq!(world.shape("p"), "u1 c:x r:x a1");
    let own: Vec<String> = world.log("c").iter().map(|s| s.origin.session_id.to_string()).collect();
    assert_eq!(own, ["c", "p", "p", "c"]);
}

fn a_real_user_message_gives_open_calls_up(world: &World) {
    world.session("p", "u1 c:x i1 c:y u2");
    assert_eq!(world.header("p").counts.open, 0);
    assert_eq!(
        fork(world, "message:3", "c", ToolCallPolicy::Complete).unwrap().synthetic_results,
        2
    );
    assert_eq!(fork(world, "end", "d", ToolCallPolicy::Complete).unwrap().synthetic_results, 0);
    // The view adds results for the older calls too, each right after its call.
    let seen = world.engine.inspect(&id("d")).unwrap();
    let roles: Vec<Role> = seen.messages.iter().map(|message| message.role).collect();
    use Role::{Assistant as A, Tool as T, User as U};
    assert_eq!(roles, [U, A, T, U, A, T, U]);
}
