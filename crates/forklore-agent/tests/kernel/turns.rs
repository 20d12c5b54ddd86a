//! A turn: what is asked, what is written, in which order.

use forklore_agent::Status;
use forklore_model::header::Usage;
use serde_json::json;

use crate::scripted::{Scripted, calls, says};
use crate::world::World;

#[tokio::test]
async fn a_turn_writes_what_is_said_as_it_is_said() {
    let world = World::new();
    let model = Scripted::new(vec![
        calls(&[("c1", "slow", "40"), ("c2", "echo", "{\"a\":1}"), ("c3", "fail", "{}")]),
        says("all done"),
    ]);
    let session = world.root(&model);
    session.equip(|equipment| equipment.system = Some("be brief".into()));
    let turn = session.execute("go").await.unwrap();

    assert_eq!(turn.status, Status::Success);
    assert_eq!((turn.text.as_str(), turn.model_calls, turn.tool_calls), ("all done", 2, 3));
    assert_eq!(turn.usage, Usage { input: 200, output: 20, cached: 80, cost: 0.0 });
    let types = world.types(&session.id());
    let expected = [
        "system_message",
        "user_message",
        "assistant_message",
        "tool_call",
        "tool_call",
        "tool_call",
        "provider_usage",
        "permission_decision",
        "permission_decision",
        "permission_decision",
        "tool_result",
        "tool_result",
        "tool_result",
        "assistant_message",
        "provider_usage",
    ];
    assert_eq!(types, expected);
    let events = world.events(&session.id());
    let results: Vec<_> = events.iter().filter(|(kind, _)| kind == "tool_result").collect();
    assert_eq!(results[0].1, json!({"call_id": "c1", "name": "slow", "content": "after 40"}));
    assert_eq!(results[1].1, json!({"call_id": "c2", "name": "echo", "content": "{\"a\":1}"}));
    let failed = json!({"call_id": "c3", "name": "fail", "content": "it failed", "is_error": true});
    assert_eq!(results[2].1, failed);
}

#[tokio::test]
async fn a_request_is_what_inspect_says() {
    let world = World::new();
    let model = Scripted::new(vec![calls(&[("c1", "echo", "{}")]), says("one"), says("two")]);
    let session = world.root(&model);
    session.execute("first").await.unwrap();
    session.execute("second").await.unwrap();
    let asked = model.asked();
    let all = world.kernel.engine().inspect(&session.id()).unwrap();
    assert!(all.balanced);
    assert_eq!(asked.len(), 3);
    for request in &asked {
        let len = request.messages.len();
        assert_eq!(request.messages, all.messages[..len]);
    }
    assert_eq!(asked[2].messages.len() + 1, all.messages.len());
}
