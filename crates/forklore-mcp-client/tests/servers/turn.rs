//! Tests of complete turns: a real model calls a tool of a real server, under the user's rules.

use std::sync::Arc;

use forklore_agent::{Budget, Kernel, NewSession, SessionConfig, Status};
use forklore_core::workspace::Workspace;
use forklore_engine::Engine;
use forklore_llm::{HttpModel, ModelConfig, Provider};
use forklore_mcp_client::{Rules, UserPolicy};
use forklore_store::memory::MemoryStore;
use serde_json::{Value, json};

use crate::given::{on_node, started};

/// Runs a turn in which the model must call a tool. Returns the stored events about the call: their
/// types and payloads.
async fn turn(rules: &str) -> Vec<(String, Value)> {
    let server = forklore_smollm::Server::start().unwrap();
    let config = ModelConfig {
        base_url: Some(server.openai()),
        ..ModelConfig::new(Provider::OpenAi, forklore_smollm::MODEL)
    };
    let files = tempfile::tempdir().unwrap();
    let root = files.path().canonicalize().unwrap();
    let args = [root.to_str().unwrap()];
    let tools = Arc::new(started([("files", on_node("server-filesystem", &args))]).await);
    let rules: Rules = toml::from_str(rules).unwrap();
    let mut equipment = SessionConfig::new(Arc::new(HttpModel::new(config).unwrap()));
    let only = forklore_agent::permissions::Ceiling::from(Some(
        ["files.list_allowed_directories".to_owned()].into(),
    ));
    equipment.policy = Arc::new(UserPolicy::new(rules, tools.clone()));
    equipment.tools = Arc::new(forklore_agent::permissions::Below::new(
        tools.clone(),
        equipment.policy.clone(),
        only,
    ));
    equipment.settings.options.must_call = true;
    equipment.settings.options.max_output_tokens = Some(100);
    equipment.settings.budget = Budget { model_calls: Some(1), ..Budget::default() };
    let kernel = Kernel::builder(Engine::new(Arc::new(MemoryStore::default()))).build();
    let new = NewSession::in_workspace(Workspace::new("/tmp/demo"));
    let session = kernel.create(new, equipment);
    let turn = session.execute("Which folders may you read?").await.unwrap();
    assert_eq!(turn.status, Status::Incomplete("1 call of the model".into()));
    tools.end().await;

    let events = kernel.engine().load(&session.id()).unwrap().events.into_iter();
    let about_calls = ["permission_decision", "tool_call", "tool_result"];
    let events = events.filter_map(|stored| {
        let kind = stored.event.kind.to_string();
        let mut data: Value = stored.event.data.read().unwrap();
        let fields = data.as_object_mut().unwrap();
        fields.retain(|key, _| !matches!(key.as_str(), "id" | "call_id" | "arguments"));
        let text = data.to_string().replace(args[0], "ROOT");
        about_calls.contains(&kind.as_str()).then(|| (kind, serde_json::from_str(&text).unwrap()))
    });
    events.collect()
}

#[tokio::test]
async fn an_allowed_call_is_carried_out_and_all_of_it_is_in_the_log() {
    let name = "files__list_allowed_directories";
    let expected = [
        ("tool_call", json!({"name": name})),
        ("permission_decision", json!({"name": name, "decision": "allow", "by": "policy"})),
        ("tool_result", json!({"name": name, "content": "Allowed directories:\nROOT"})),
    ];
    let expected = expected.map(|(kind, data)| (kind.to_owned(), data));
    assert_eq!(turn("allow = ['files.list_*']").await, expected);
}

#[tokio::test]
async fn a_denied_call_is_not() {
    let events = turn("allow = ['files.*']\ndeny = ['*.list_allowed_*']").await;
    insta::assert_json_snapshot!(events);
}
