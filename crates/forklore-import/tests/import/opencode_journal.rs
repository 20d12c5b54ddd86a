//! Imports sessions of opencode's second version, which has its messages in one table.

use forklore_api::ExportTo;
use forklore_core::session_container::SessionContainer;
use forklore_core::{Content, Data, Message, Part, Role};
use forklore_import::ProblemKind;
use forklore_opencode::Database;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::scene::Scene;

static CONTAINERS: &[&dyn SessionContainer] = &[&Database];

/// A store, and a database with one session in which the second version of opencode writes.
struct Opencode {
    scene: Scene,
    database: Connection,
    seq: i64,
}

impl Opencode {
    fn new() -> Self {
        let mut scene = Scene::new();
        scene.engine = scene.engine.with_containers(CONTAINERS);
        let database = Connection::open(scene.folder.path().join("opencode.db")).unwrap();
        database
            .execute_batch(
                "CREATE TABLE session(id TEXT PRIMARY KEY, directory TEXT, title TEXT,
                     time_created INTEGER);
                 CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
                     time_updated INTEGER, data TEXT);
                 CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
                     time_created INTEGER, time_updated INTEGER, data TEXT);
                 CREATE TABLE session_message(id TEXT PRIMARY KEY, session_id TEXT, type TEXT,
                     seq INTEGER, time_created INTEGER, time_updated INTEGER, data TEXT);
                 INSERT INTO session VALUES('ses_1', '/w', 'one', 1000);",
            )
            .unwrap();
        Self { scene, database, seq: 0 }
    }

    /// Writes a message. A message with a known id is written again.
    fn write(&mut self, id: &str, kind: &str, data: &Value) {
        self.seq += 1;
        let at = 1_000 + self.seq;
        self.database
            .execute(
                "INSERT INTO session_message VALUES(?1, 'ses_1', ?2, ?3, ?4, ?4, ?5)
                 ON CONFLICT(id) DO UPDATE SET data = ?5, time_updated = ?4",
                (id, kind, self.seq, at, data.to_string()),
            )
            .unwrap();
    }

    /// Imports the database. Returns the types and ids of the session's events, and the problems.
    fn import(&self) -> (Vec<String>, Vec<ProblemKind>) {
        let report = self.scene.import(&self.scene.folder.path().join("opencode.db"));
        let events = self.scene.events(&"ses_1".parse().unwrap()).into_iter();
        let events = events.map(|it| format!("{} {}", it.event.kind, it.event.id));
        (events.collect(), report.problems.iter().map(|problem| problem.kind).collect())
    }

    fn messages(&self) -> Vec<Message> {
        self.scene.engine.inspect(&"ses_1".parse().unwrap()).unwrap().messages
    }
}

fn answered(content: &Value) -> Value {
    json!({"agent": "build", "model": {"id": "m", "providerID": "p"}, "content": content,
        "time": {"created": 1, "completed": 2}, "cost": 0.5,
        "tokens": {"input": 10, "output": 3, "reasoning": 1, "cache": {"read": 4, "write": 0}}})
}

#[test]
fn the_messages_of_the_second_version_are_read() {
    let mut opencode = Opencode::new();
    opencode.write("msg_a", "user", &json!({"text": "plan A or plan B?", "time": {"created": 1}}));
    opencode.write("msg_b", "model-switched", &json!({"model": {"id": "m"}}));
    opencode.write("msg_c", "synthetic", &json!({"text": "Be brief."}));
    let call = json!({"type": "tool", "id": "t", "name": "read", "state": {"status": "completed",
        "input": {"path": "a"}, "content": [{"type": "text", "text": "done"}]}});
    let content = json!([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "B"}, call]);
    opencode.write("msg_d", "assistant", &answered(&content));
    opencode.write(
        "msg_e",
        "shell",
        &json!({"command": "ls", "output": {"output": "a.rs"},
        "status": "completed"}),
    );
    opencode.write("msg_f", "idle", &json!({"outcome": "succeeded"}));
    let expected = [
        "user_message msg_a",
        "x.opencode.model-switched msg_b",
        "user_message msg_c",
        "assistant_message msg_d",
        "user_message msg_e",
        "x.opencode.idle msg_f",
    ];
    assert_eq!(opencode.import(), (expected.map(str::to_owned).into(), vec![]));
    let header = opencode.scene.engine.show(&"ses_1".parse().unwrap()).unwrap();
    assert_eq!(
        (header.counts.turns, header.counts.index, header.title.as_deref()),
        (1, 4, Some("one"))
    );
    let messages = opencode.messages();
    let texts: Vec<_> = messages.iter().map(Message::plain_text).collect();
    assert_eq!(texts[0], "plan A or plan B?");
    let answer = Content::Parts(vec![
        Part::Text { text: "B".into() },
        Part::ToolCall {
            id: "t".into(),
            name: "read".into(),
            arguments: Data::parse(r#"{"path":"a"}"#).unwrap(),
        },
        Part::ToolResult {
            call_id: "t".into(),
            name: Some("read".into()),
            content: Data::parse(r#"[{"text":"done","type":"text"}]"#).unwrap(),
            is_error: false,
            synthetic: false,
        },
    ]);
    let spoken = messages.iter().find(|message| message.role == Role::Assistant).unwrap();
    let Content::Parts(parts) = &spoken.content else { panic!("{spoken:?}") };
    let seen: Vec<_> =
        parts.iter().filter(|part| !matches!(part, Part::Reasoning { .. })).cloned().collect();
    assert_eq!(Content::Parts(seen), answer);
    assert!(texts.contains(&"Shell command: ls\n\na.rs".to_owned()), "{texts:?}");
    // Nothing is new, and a message that was read before is not read again.
    assert_eq!(opencode.import().0.len(), 6);
}

#[test]
fn an_answer_waits_until_it_is_complete_and_a_compaction_covers_what_is_before() {
    let mut opencode = Opencode::new();
    opencode.write("msg_a", "user", &json!({"text": "plan A"}));
    let running = json!({"content": [], "time": {"created": 1}});
    opencode.write("msg_b", "assistant", &running);
    assert_eq!(
        opencode.import(),
        (vec!["user_message msg_a".into()], vec![ProblemKind::Incomplete])
    );
    opencode.write("msg_b", "assistant", &answered(&json!([{"type": "text", "text": "B"}])));
    let compaction =
        json!({"status": "completed", "reason": "auto", "summary": "We planned.", "recent": "B"});
    opencode.write("msg_c", "compaction", &compaction);
    opencode.write("msg_d", "user", &json!({"text": "go on"}));
    let expected = [
        "user_message msg_a",
        "assistant_message msg_b",
        "history_compaction msg_c",
        "user_message msg_d",
    ];
    assert_eq!(opencode.import(), (expected.map(str::to_owned).into(), vec![]));
    let texts: Vec<_> = opencode.messages().iter().map(Message::plain_text).collect();
    let summary = "[Summary of the conversation so far]\nWe planned.\n[Its last part]\nB";
    assert_eq!(texts, [summary, "go on"]);
}

#[test]
fn messages_of_both_versions_are_one_conversation() {
    let mut opencode = Opencode::new();
    opencode
        .database
        .execute_batch(
            r#"INSERT INTO message VALUES('msg_a', 'ses_1', 1, 1, '{"role":"user"}');
               INSERT INTO part VALUES('prt_a', 'msg_a', 'ses_1', 1, 1, '{"type":"text","text":"A"}');"#,
        )
        .unwrap();
    opencode.write("msg_a", "user", &json!({"text": "A"}));
    opencode.write("msg_b", "user", &json!({"text": "B"}));
    let expected = ["user_message msg_a", "user_message msg_b"];
    assert_eq!(opencode.import(), (expected.map(str::to_owned).into(), vec![]));
}

/// `opencode import` reads the form of the first version.
#[test]
fn an_export_has_the_form_of_the_first_version() {
    let mut opencode = Opencode::new();
    let image = json!({"mime": "image/png", "data": "AAAA", "name": "a.png"});
    opencode.write("msg_a", "user", &json!({"text": "look", "files": [image]}));
    let call = json!({"type": "tool", "id": "t", "name": "read", "state": {"status": "completed",
        "input": {}, "content": [{"type": "text", "text": "done"}]}});
    opencode.write("msg_b", "assistant", &answered(&json!([call])));
    opencode.import();
    let to = ExportTo { dialect: "opencode".into(), at: None, cwd: None };
    let outgoing = opencode.scene.engine.export_to(&"ses_1".parse().unwrap(), &to).unwrap();
    let mut written = Vec::new();
    let exported = outgoing.write(&mut written).unwrap();
    assert_eq!((exported.events, exported.lossy), (2, vec![]));
    let document: Value = serde_json::from_slice(&written).unwrap();
    let parts = |at: usize| document["messages"][at]["parts"].as_array().unwrap().clone();
    let [text, file] = &parts(0)[..] else { panic!("{document}") };
    assert_eq!(text["text"], "look");
    assert_eq!(file["url"], "data:image/png;base64,AAAA");
    let tool = parts(1).into_iter().find(|part| part["type"] == "tool").unwrap();
    let state = &tool["state"];
    assert_eq!((&state["status"], &state["output"]), (&json!("completed"), &json!("done")));
}
