//! Files that forklore wrote for an agent, and in which the agent goes on.

use forklore_core::workspace::Workspace;
use forklore_core::{Message, Selector, SessionId};
use forklore_engine::ExportTo;
use forklore_import::{ImportOptions, WrittenFrom};
use serde_json::{Value, json};

use crate::files::testdata;
use crate::scene::Scene;

/// Returns what each agent appends when it goes on: a question and an answer.
fn appended(agent: &str, file: &str) -> String {
    let lines = file.lines().rev().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let last = |name: &str| lines.clone().find_map(|it| it.get(name).cloned()).unwrap();
    match agent {
        "codex" => r#"{"timestamp":"2026-11-29T06:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a new question"}]}}
{"timestamp":"2026-11-29T06:00:01Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a new answer"}]}}
"#.to_owned(),
        "pi" => format!(
            r#"{{"type":"message","id":"aaaa0001","parentId":{},"timestamp":"2026-11-29T06:00:00Z","message":{{"role":"user","content":"a new question"}}}}
{{"type":"message","id":"aaaa0002","parentId":"aaaa0001","timestamp":"2026-11-29T06:00:01Z","message":{{"role":"assistant","content":[{{"type":"text","text":"a new answer"}}]}}}}
"#,
            last("id")
        ),
        // Gemini CLI first writes its context, and then all messages again.
        "gemini" => {
            let lines = file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            // A message that got calls is there again with them.
            let mut messages: Vec<Value> = Vec::new();
            for line in lines.filter(|line| line.get("type").is_some()) {
                match messages.iter_mut().find(|earlier| earlier["id"] == line["id"]) {
                    Some(earlier) => *earlier = line,
                    None => messages.push(line),
                }
            }
            let is_context = |message: &Value| message.to_string().contains("<session_context>");
            let context = messages.first().filter(|first| is_context(first)).cloned();
            let context = context.unwrap_or_else(|| {
                let text = json!([{"text": "<session_context>\nThis"}]);
                json!({"id": "c", "type": "user", "content": text})
            });
            let others = messages.into_iter().filter(|message| !is_context(message));
            let all: Vec<_> = std::iter::once(context.clone()).chain(others).collect();
            let question = json!({"id": "n1", "timestamp": "2026-11-29T06:00:00Z", "type": "user",
                "content": [{"text": "a new question"}]});
            let answer = json!({"id": "n2", "timestamp": "2026-11-29T06:00:01Z", "type": "gemini",
                "content": "a new answer"});
            let set = |messages: Value| json!({"$set": {"messages": messages}});
            let lines = [set(json!([context])), set(json!(all)), question, answer];
            lines.iter().map(|line| format!("{line}\n")).collect()
        }
        _ => format!(
            r#"{{"type":"user","uuid":"aaaa0001","parentUuid":{},"sessionId":"s","timestamp":"2026-11-29T06:00:00Z","message":{{"role":"user","content":"a new question"}}}}
{{"type":"assistant","uuid":"aaaa0002","parentUuid":"aaaa0001","sessionId":"s","timestamp":"2026-11-29T06:00:01Z","message":{{"role":"assistant","content":[{{"type":"text","text":"a new answer"}}]}}}}
"#,
            last("uuid")
        ),
    }
}

fn texts(scene: &Scene, session: &SessionId) -> Vec<String> {
    let messages = scene.engine.inspect(session).unwrap().messages;
    messages.iter().map(Message::plain_text).collect()
}

/// The agent goes on in a file that was written from a session at a cut. Its records are the events
/// of a branch that begins at the cut, whichever agent wrote the session.
fn goes_on_as_a_branch(scene: &Scene, parent: &SessionId, at: &Selector, agent: &str) {
    let request = ExportTo { dialect: agent.into(), at: Some(at.clone()), cwd: None };
    let mut bytes = Vec::new();
    let outgoing = scene.engine.export_to(parent, &request).unwrap();
    outgoing.write(&mut bytes).unwrap();
    let name = format!("{}-{agent}-{}.jsonl", parent, outgoing.file().id);
    let path = scene.file(&name, &bytes);
    let workspace = Workspace::new("/work/worktree");
    let from =
        WrittenFrom { session: parent.clone(), at: at.clone(), workspace: workspace.clone() };
    let options = ImportOptions { written_from: Some(from), ..Scene::options() };
    let report = scene.import_with(&path, &options);
    assert_eq!(report.problems, []);
    let [branch] = report.sessions.as_slice() else { panic!("{:?}", report.sessions) };
    let (branch, what) = (branch.session_id.clone(), format!("{parent} in {agent}"));

    let header = scene.engine.show(&branch).unwrap();
    let cut = scene.engine.cut(&scene.engine.show(parent).unwrap(), at).unwrap();
    assert_eq!(header.parent_id.as_ref(), Some(parent), "{what}");
    assert_eq!((header.cut.as_ref(), header.own_events), (Some(&cut), 1), "{what}");
    assert_eq!(header.workspace, workspace, "{what}");
    let before = texts(scene, &branch);
    assert_eq!(scene.restore(&branch), bytes, "{what}");

    let more = appended(agent, std::str::from_utf8(&bytes).unwrap());
    let whole = [bytes.as_slice(), more.as_bytes()].concat();
    std::fs::write(&path, &whole).unwrap();
    let report = scene.import(&path);
    assert_eq!(report.problems, [], "{what}");
    let header = scene.engine.show(&branch).unwrap();
    assert_eq!(header.own_events, 3, "{what}: {:?}", report.sessions);
    let expected = [before, vec!["a new question".into(), "a new answer".into()]].concat();
    assert_eq!(texts(scene, &branch), expected, "{what}");
    assert_eq!(scene.restore(&branch), whole, "{what}");
}

#[test]
fn an_agent_goes_on_in_a_branch_of_the_session_from_which_its_file_was_written() {
    let sessions = ["pi/sessions", "claude/projects", "codex/home", "gemini/genuine"];
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let mut found = 0;
        for folder in sessions.map(|folder| testdata().join(folder)) {
            if !folder.is_dir() {
                continue;
            }
            for session in scene.import(&folder).sessions.iter().take(3) {
                let header = scene.engine.show(&session.session_id).unwrap();
                if header.counts.turns < 2 {
                    continue;
                }
                for agent in ["codex", "pi", "claude", "gemini"] {
                    for at in [Selector::Turn(1), Selector::End] {
                        goes_on_as_a_branch(&scene, &header.id, &at, agent);
                    }
                }
                found += 1;
            }
        }
        assert!(found > 2, "{found}");
    }
}
