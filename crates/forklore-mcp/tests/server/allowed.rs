//! The tools that change a store, and that they are not there unless allowed.

use forklore_mcp::Allow;
use serde_json::{Value, json};

use crate::world::{client, id, reply, say, with_a_plan};

#[tokio::test]
async fn a_server_lists_what_it_allows() {
    let engine = with_a_plan();
    let reads = client(&engine, &[]).await;
    insta::assert_json_snapshot!("tools", reads.0.list_all_tools().await.unwrap());
    let all = client(&engine, &Allow::ALL).await.0.list_all_tools().await.unwrap();
    let names = |tools: &[rmcp::model::Tool]| -> Vec<String> {
        tools.iter().map(|tool| tool.name.to_string()).collect()
    };
    let writes: Vec<_> = all.iter().skip(9).cloned().collect();
    assert_eq!(names(&writes), ["fork", "bring", "label"]);
    insta::assert_json_snapshot!("tools_that_write", writes);
    let one = client(&engine, &[Allow::Label]).await.0.list_all_tools().await.unwrap();
    assert_eq!(names(&one).last().unwrap(), "label");
    assert_eq!(one.len(), 10);
}

#[tokio::test]
async fn the_instructions_say_when_to_use_it_and_what_is_allowed() {
    let engine = with_a_plan();
    let instructions = |allow: &'static [Allow]| {
        let engine = engine.clone();
        async move {
            let client = client(&engine, allow).await;
            client.0.peer_info().unwrap().instructions.clone().unwrap()
        }
    };
    insta::assert_snapshot!("instructions", instructions(&[]).await);
    let allowed = instructions(&[Allow::Fork, Allow::Bring]).await;
    assert!(allowed.contains("The user also allows fork, bring."), "{allowed}");
}

#[tokio::test]
async fn what_is_not_allowed_is_refused_and_changes_nothing() {
    let engine = with_a_plan();
    let client = client(&engine, &[Allow::Label]).await;
    let refused = client.refusal("fork", json!({ "session": "plan-1" })).await;
    assert_eq!(refused["kind"], "permission_denied");
    assert_eq!(
        refused["next"],
        json!(["ask the user to start it with: forklore mcp --allow fork"])
    );
    assert_eq!(engine.stats(None).unwrap().sessions, 1);
    let params = rmcp::model::CallToolRequestParams::new("delete");
    assert!(client.0.call_tool(params).await.unwrap_err().to_string().contains("no tool delete"));
}

#[tokio::test]
async fn a_session_is_forked_labelled_and_brought_back() {
    let engine = with_a_plan();
    let client = client(&engine, &Allow::ALL).await;
    let at = json!({ "session": "plan-1", "at": "turn:1", "label": "wait", "title": "Wait" });
    let forked = client.answer("fork", at).await;
    let fork = id(forked["session_id"].as_str().unwrap());
    assert_eq!((&forked["label"], &forked["forked_at"]), (&json!("wait"), &json!("seq:3")));
    assert_eq!(forked["resume_command"], format!("forklore resume {fork}"));
    say(&engine, &fork, "Wait for the audit");
    reply(&engine, &fork, "The audit found nothing");

    let labelled = json!({ "session": "@wait", "label": "audit" });
    let labelled = client.answer("label", labelled).await;
    let names = (&labelled["before"], &labelled["session"]["label"]);
    assert_eq!(names, (&json!("wait"), &json!("audit")));

    let both = json!({ "from": "@audit", "into": "plan-1" });
    let planned = json!({ "from": "@audit", "into": "plan-1", "dry_run": true });
    let recorded = |brought: &Value| (brought["recorded"].clone(), brought["existing"].clone());
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(recorded(&client.answer("bring", planned).await), (no.clone(), no.clone()));
    let brought = client.answer("bring", both.clone()).await;
    assert_eq!(brought["untrusted_answer"], "The audit found nothing");
    assert_eq!(recorded(&brought), (yes.clone(), no.clone()));
    assert_eq!(recorded(&client.answer("bring", both).await), (no, yes));

    let used_label = json!({ "session": "plan-1", "label": "audit" });
    let refused = client.refusal("label", used_label).await;
    assert_eq!(
        (&refused["kind"], &refused["next"]),
        (&json!("already_exists"), &json!(["choose another label"]))
    );
    for bad in ["a b", "\u{202e}", ""] {
        let refused = client.refusal("label", json!({ "session": "plan-1", "label": bad })).await;
        assert_eq!(refused["kind"], "invalid_args");
    }
    let nowhere = json!({ "session": "plan-1", "at": "turn:99" });
    assert_eq!(client.refusal("fork", nowhere).await["kind"], "invalid_args");
}
