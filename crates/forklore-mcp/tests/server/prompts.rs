//! The prompts.

use rmcp::model::{GetPromptRequestParams, JsonObject};
use serde_json::json;

use crate::world::{client, with_a_plan};

#[tokio::test]
async fn prompts_name_the_session_and_the_tools() {
    let engine = with_a_plan();
    let client = client(&engine, &[]).await;
    insta::assert_json_snapshot!("prompts", client.0.list_all_prompts().await.unwrap());
    let arguments = |value: serde_json::Value| -> JsonObject { value.as_object().unwrap().clone() };
    let about = arguments(json!({ "session": "plan-1", "focus": "the parser" }));
    let handover = GetPromptRequestParams::new("handover").with_arguments(about);
    insta::assert_json_snapshot!("handover", client.0.get_prompt(handover).await.unwrap());
    let last = client.0.get_prompt(GetPromptRequestParams::new("postmortem")).await.unwrap();
    assert!(serde_json::to_string(&last).unwrap().contains("the earlier session plan-1"));
    let absent = arguments(json!({ "session": "nowhere" }));
    for bad in [
        GetPromptRequestParams::new("handover").with_arguments(absent),
        GetPromptRequestParams::new("poem"),
    ] {
        assert!(client.0.get_prompt(bad).await.is_err());
    }
}
