//! Tests of a turn: what it requests and writes, and in which order.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forklore_agent::model::StreamEvent;
use forklore_agent::notify::Name;
use forklore_agent::{Status, TurnUsage};
use forklore_core::workspace::Workspace;
use forklore_core::{Content, Data, Part, Role};
use forklore_engine::{Engine, ListRequest};
use forklore_import::{ImportOptions, Importer};
use forklore_store::memory::MemoryStore;
use serde_json::json;

use crate::scripted::{Act, Scripted, calls, says};
use crate::world::{World, equipment};

#[tokio::test]
async fn a_turn_writes_each_message_as_it_comes() {
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
    assert_eq!(turn.usage, TurnUsage { input: 200, output: 20, cached: 80, cost: None });
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
    let requests = model.requests();
    let all = world.kernel.engine().inspect(&session.id()).unwrap();
    assert!(all.balanced);
    assert_eq!(requests.len(), 3);
    for request in &requests {
        let len = request.messages.len();
        assert_eq!(request.messages, all.messages[..len]);
    }
    assert_eq!(requests[2].messages.len() + 1, all.messages.len());
}

#[tokio::test]
async fn what_a_dropped_turn_left_open_is_answered_in_the_next_request() {
    let world = World::new();
    let model = Scripted::new(vec![calls(&[("1", "echo", "1"), ("2", "deaf", "2")]), says("next")]);
    let session = world.root(&model);
    let running = session.clone();
    let turn = tokio::spawn(async move { running.execute("go").await });
    while world.ears.of(Name::ToolPost).is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    turn.abort();
    assert!(turn.await.unwrap_err().is_cancelled());
    while world.kernel.engine().show(&session.id()).unwrap().lease.is_some() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    session.execute("something else").await.unwrap();
    let requests = model.requests();
    let roles: Vec<_> = requests[1].messages.iter().map(|message| message.role).collect();
    let expected = [
        Role::User,
        Role::Assistant,
        Role::Assistant,
        Role::Assistant,
        Role::Tool,
        Role::Tool,
        Role::User,
    ];
    assert_eq!(roles, expected);
}

#[tokio::test]
async fn an_imported_session_is_gone_on_with() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pi/demo.jsonl");
    let store = Arc::new(MemoryStore::default());
    let engine = Engine::new(store).with_agent_formats(forklore_formats::AGENT_FORMATS);
    let world = World::over(engine.clone());
    let options = ImportOptions::in_workspace(Workspace::new("/tmp/demo"));
    Importer::new(&engine).import(&[file], &options, &mut |_| ()).unwrap();
    let listed = engine.list(&ListRequest::default()).unwrap().sessions;
    assert!(listed.len() > 1);
    for header in listed {
        let before = engine.inspect(&header.id).unwrap().messages;
        let model = Scripted::new(vec![calls(&[("1", "echo", "1")]), says("on it goes")]);
        let session = world.kernel.open(&header.id, equipment(&model)).await.unwrap();
        assert_eq!(session.execute("go on").await.unwrap().text, "on it goes");
        let requests = model.requests();
        assert_eq!(requests[0].messages[..before.len()], before);
        let after = engine.inspect(&header.id).unwrap().messages;
        assert_eq!(requests[1].messages, after[..after.len() - 1]);
    }
    let notification = world.ears.of(Name::SessionResume);
    assert!(notification.len() > 1 && world.ears.of(Name::SessionStart).is_empty());
}

#[tokio::test]
async fn what_a_model_says_in_json_is_sent_back_as_it_came() {
    let world = World::new();
    let arguments = "{\"z\": 12345678901234567890123, \"a\":[1.50, 2e3]}";
    let block = "{\"type\":\"thinking\", \"signature\":\"s\"}";
    let opaque = Some(Data::parse(block).unwrap());
    let mut first = vec![Act::Say(StreamEvent::Thought { text: "hm".into(), opaque })];
    first.extend(calls(&[("c1", "echo", arguments)]));
    let model = Scripted::new(vec![first, says("done")]);
    let session = world.root(&model);
    session.execute("go").await.unwrap();

    let Some(request) = model.requests().pop() else { panic!("nothing was asked") };
    let parts = request.messages.iter().filter_map(|message| match &message.content {
        Content::Parts(parts) => Some(parts),
        Content::Text(_) => None,
    });
    let mut sent = Vec::new();
    for part in parts.flatten() {
        match part {
            Part::ToolCall { arguments, .. } => sent.push(arguments.get().to_owned()),
            Part::Reasoning { opaque: Some(opaque), .. } => sent.push(opaque.get().to_owned()),
            _ => {}
        }
    }
    let thought = format!(
        "{{\"content\":\"hm\",\"provider\":\"test\",\"model\":\"small\",\"opaque\":{block}}}"
    );
    assert_eq!(sent, [thought.as_str(), arguments]);
}
