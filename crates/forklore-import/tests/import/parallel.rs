//! Exports sessions with parallel tool calls to every agent for which forklore has an export.

use forklore_api::LeftOut;
use forklore_core::{Data, Message, Part, Role, SessionId};
use forklore_engine::ExportTo;
use serde_json::Value;

use crate::files::{outside, testdata};
use crate::scene::Scene;

const AGENTS: [&str; 5] = ["claude", "codex", "gemini", "opencode", "pi"];

/// The conversation in `testdata/parallel`. Each agent's file there contains this conversation.
const CONVERSATION: [&str; 16] = [
    "user: Compare the three files.",
    "model: I read all of them.",
    "call: Read {\"file_path\":\"a.txt\"}",
    "call: Read {\"file_path\":\"b.txt\"}",
    "call: Bash {\"command\":\"cat c.txt\"}",
    "result of Read {\"file_path\":\"a.txt\"}: alpha",
    "result of Read {\"file_path\":\"b.txt\"}: beta",
    "result of Bash {\"command\":\"cat c.txt\"}: cat: c.txt: No such file",
    "model: Two differ.",
    "user: And which is the longest?",
    "model: I count the lines.",
    "call: Bash {\"command\":\"wc -l a.txt\"}",
    "call: Bash {\"command\":\"wc -l b.txt\"}",
    "result of Bash {\"command\":\"wc -l a.txt\"}: 1 a.txt",
    "result of Bash {\"command\":\"wc -l b.txt\"}: 2 b.txt",
    "model: The second one.",
];

/// Returns a conversation with one line per part. The line of a result contains the call that the
/// result answers.
fn conversation(messages: &[Message]) -> Vec<String> {
    let mut calls: Vec<(String, String)> = Vec::new();
    let mut lines = Vec::new();
    for message in messages.iter().filter(|message| message.role != Role::System) {
        let mut parts = message.to_parts();
        // Some agents store each result directly after its call, so results are moved to the end of
        // the message.
        parts.sort_by_key(|part| matches!(part, Part::ToolResult { .. }));
        for part in parts {
            lines.extend(match part {
                Part::Text { text } if message.role == Role::Assistant => {
                    Some(format!("model: {text}"))
                }
                Part::Text { text } => Some(format!("user: {text}")),
                Part::ToolCall { id, name, arguments } => {
                    let arguments: Value = serde_json::from_str(arguments.get()).unwrap();
                    let call = format!("{name} {arguments}");
                    calls.push((id, call.clone()));
                    Some(format!("call: {call}"))
                }
                Part::ToolResult { call_id, content, .. } => {
                    let at = calls.iter().position(|(id, _)| *id == call_id).unwrap();
                    Some(format!("result of {}: {}", calls.remove(at).1, text_of(&content)))
                }
                _ => None,
            });
        }
    }
    assert_eq!(calls, [], "calls without a result");
    lines
}

fn text_of(content: &Data) -> String {
    fn text(value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().map(text).collect(),
            Value::Object(fields) => {
                let names = ["text", "functionResponse", "response", "output", "error"];
                names.iter().find_map(|name| fields.get(*name)).map(text).unwrap_or_default()
            }
            _ => String::new(),
        }
    }
    text(&serde_json::from_str(content.get()).unwrap())
}

fn session_of(scene: &Scene, agent: &str) -> SessionId {
    let report = scene.import(&testdata().join("parallel").join(agent));
    assert_eq!(report.problems, []);
    assert_eq!(report.sessions.len(), 1, "{agent}");
    report.sessions[0].session_id.clone()
}

/// Exports the session of the agent `from`, and returns the content of the file for the agent `to`.
fn exported(from: &str, to: &str) -> String {
    let scene = Scene::new();
    let session = session_of(&scene, from);
    let request = ExportTo { dialect: to.into(), at: None, cwd: None };
    let mut bytes = Vec::new();
    let outgoing = scene.engine.export_to(&session, &request).unwrap();
    let exported = outgoing.write(&mut bytes).unwrap();
    let lost: Vec<_> = exported.lossy.iter().filter(|lost| !lost.kind.starts_with("x.")).collect();
    // Codex has no field that says that a call failed, and its own session does not say so either.
    let failed = u64::from(to == "codex" && from != "codex");
    let failed = (failed > 0).then(|| LeftOut { kind: "is_error".into(), count: failed });
    assert_eq!(lost, failed.iter().collect::<Vec<_>>(), "from {from} to {to}");
    String::from_utf8(bytes).unwrap()
}

#[test]
fn every_result_of_parallel_calls_goes_along_to_every_agent() {
    for from in AGENTS {
        for to in AGENTS {
            let file = exported(from, to);
            let again = Scene::new();
            let name = if to == "opencode" { "again.json" } else { "again.jsonl" };
            let report = again.import(&again.file(name, file.as_bytes()));
            assert_eq!(report.problems, [], "from {from} to {to}");
            let view = again.engine.inspect(&report.sessions[0].session_id).unwrap();
            assert_eq!(view.open_results, 0, "from {from} to {to}");
            let (mut lines, mut want) = (conversation(&view.messages), CONVERSATION.to_vec());
            if from == to {
                // An export to the same agent copies the records in their order, so only the lines
                // are compared, not their order.
                lines.sort_unstable();
                want.sort_unstable();
            }
            assert_eq!(lines, want, "from {from} to {to}");
        }
    }
}

#[test]
fn pi_gets_the_calls_of_one_message_in_one_and_a_tool_name_with_each_result() {
    for from in AGENTS {
        let file = exported(from, "pi");
        let lines = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let messages: Vec<Value> = lines
            .filter(|line| line["type"] == "message")
            .map(|line| line["message"].clone())
            .collect();
        let roles: Vec<_> =
            messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        let want = "user assistant toolResult toolResult toolResult assistant \
                    user assistant toolResult toolResult assistant";
        assert_eq!(roles.join(" "), want, "from {from}");
        for result in messages.iter().filter(|message| message["role"] == "toolResult") {
            assert!(["Read", "Bash"].contains(&result["toolName"].as_str().unwrap()), "{result}");
        }
    }
}

#[test]
fn plain_messages_have_a_tool_name_with_each_result() {
    for agent in AGENTS {
        let scene = Scene::new();
        let session = session_of(&scene, agent);
        let mut bytes = Vec::new();
        scene.engine.export_plain(&session, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut names = Vec::new();
        for line in lines {
            let parts = line["content"].as_array().into_iter().flatten();
            let results = parts.filter(|part| part["type"] == "tool_result");
            names.extend(results.map(|result| result["name"].as_str().unwrap().to_owned()));
        }
        names.sort_unstable();
        assert_eq!(names, ["Bash", "Bash", "Bash", "Read", "Read"], "{agent}");
    }
}

/// Tests sessions of real users. The sessions are in a folder outside the repository.
#[test]
fn no_agent_loses_a_result_of_a_real_session() {
    let Some(outside) = outside() else { return };
    for from in ["claude", "codex"] {
        let scene = Scene::new();
        for session in scene.import(&outside.join(from)).sessions {
            for to in AGENTS {
                let request = ExportTo { dialect: to.into(), at: None, cwd: None };
                let outgoing = scene.engine.export_to(&session.session_id, &request).unwrap();
                let exported = outgoing.write(&mut std::io::sink()).unwrap();
                let lost = exported.lossy.iter().find(|lost| lost.kind == "tool_result");
                let excluded = scene.engine.inspect(&session.session_id).unwrap().excluded;
                let unpaired = excluded.get("tool_result").copied().unwrap_or(0);
                assert_eq!(
                    lost.map_or(0, |lost| lost.count),
                    if from == to { 0 } else { unpaired }
                );
            }
        }
    }
}
