//! Imports session files of Codex again after `codex migrate-rollouts` wrote them in another form.

use std::path::{Path, PathBuf};

use forklore_core::{Content, Header, SessionId, SessionKind};
use forklore_import::{ImportReport, ProblemKind};
use serde_json::{Value, json};

use crate::files::testdata;
use crate::scene::Scene;

const ID: &str = "01a1ffec-705a-7580-a2e1-49e6a681cc47";
const CHILD: &str = "01a1ffec-7228-71d0-af89-8e63a26010db";

fn scenes() -> [Scene; 3] {
    [Scene::new(), Scene::sqlite(), Scene::files()]
}

/// A record and the second at which it was written.
type Written = (&'static str, Value, u8);

fn message(role: &str, text: &str) -> Value {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn event(kind: &str, fields: &Value) -> Value {
    let mut event = json!({"type": kind});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn used(total: u64, last: u64) -> Value {
    let tokens = |input: u64| json!({"input_tokens": input, "output_tokens": 1});
    let info = json!({"total_token_usage": tokens(total), "last_token_usage": tokens(last)});
    event("token_count", &json!({"info": info}))
}

/// Returns the records of a turn, the first of them at `second`. In the older form, an event
/// repeats each message; in the newer one, the event contains the message as an item.
fn turn(name: &'static str, second: u8, total: u64, is_migrated: bool) -> Vec<Written> {
    let answer = format!("answer to {name}");
    let shown = |role: &str, kind: &str, text: &str| match is_migrated {
        false => event(kind, &json!({"message": text})),
        true => event(
            "item_completed",
            &json!({"turn_id": name, "item": {"type": role,
            "content": text}}),
        ),
    };
    vec![
        ("event_msg", event("task_started", &json!({"turn_id": name})), second),
        ("response_item", message("user", name), second),
        ("event_msg", shown("UserMessage", "user_message", name), second),
        ("response_item", message("assistant", &answer), second + 1),
        ("event_msg", shown("AgentMessage", "agent_message", &answer), second + 1),
        ("event_msg", used(total, 10), second + 1),
        ("event_msg", event("task_complete", &json!({"turn_id": name})), second + 1),
    ]
}

/// Returns the text of a file with these records. Records of the newer form are numbered.
fn file(records: &[Written], is_migrated: bool) -> String {
    let mode = if is_migrated { json!("paginated") } else { Value::Null };
    let meta = json!({"id": ID, "cwd": "/w", "history_mode": mode});
    let all = std::iter::once(("session_meta", meta, 0)).chain(records.iter().cloned());
    let lines = all.enumerate().map(|(number, (kind, payload, second))| {
        let ts = format!("2026-01-01T00:00:{second:02}.000Z");
        let line = match is_migrated {
            false => json!({"timestamp": ts, "type": kind, "payload": payload}),
            true => json!({"timestamp": ts, "ordinal": number, "type": kind, "payload": payload}),
        };
        format!("{line}\n")
    });
    lines.collect()
}

fn import(scene: &Scene, text: &str) -> (PathBuf, ImportReport) {
    let path = scene.file(&format!("rollout-2026-01-01T00-00-00-{ID}.jsonl"), text.as_bytes());
    let report = scene.import(&path);
    (path, report)
}

fn first(report: &ImportReport) -> SessionId {
    report.first_named().unwrap().first.clone().unwrap()
}

fn texts(scene: &Scene, session: &SessionId) -> Vec<String> {
    let records = scene.engine.replay(session, None).unwrap().map(Result::unwrap);
    let texts = records.map(|record| match record.content {
        Content::Text(text) => text,
        Content::Parts(_) => panic!("{record:?}"),
    });
    texts.collect()
}

fn input(scene: &Scene) -> u64 {
    scene.sessions().iter().map(|header: &Header| header.usage.input).sum()
}

#[test]
fn a_migrated_file_is_the_same_conversation() {
    for scene in scenes() {
        let legacy = [turn("one", 1, 10, false), turn("two", 3, 20, false)].concat();
        let (_, report) = import(&scene, &file(&legacy, false));
        assert_eq!((report.problems.as_slice(), input(&scene)), (&[][..], 20));
        let before = first(&report);

        let mut records = [turn("one", 1, 10, true), turn("two", 3, 20, true)].concat();
        let text = file(&records, true);
        let (_, report) = import(&scene, &text);
        let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::Rewritten]);
        let after = first(&report);
        let header = scene.engine.show(&after).unwrap();
        assert_eq!((header.kind, header.parent_id), (SessionKind::Branch, Some(before.clone())));
        // It has no event of its own but its beginning, and nothing was paid for again.
        assert_eq!((header.own_events, input(&scene)), (1, 20));
        assert_eq!(texts(&scene, &after), texts(&scene, &before));
        assert_eq!(scene.restore(&after), text.as_bytes());
        assert_eq!(scene.restore(&before), file(&legacy, false).as_bytes());

        // What Codex adds later goes on in it.
        records.extend(turn("three", 30, 30, true));
        let text = file(&records, true);
        let (path, report) = import(&scene, &text);
        assert_eq!((first(&report), input(&scene)), (after.clone(), 30));
        assert_eq!(texts(&scene, &after)[4..], ["three", "answer to three"]);
        assert_eq!(scene.engine.show(&after).unwrap().own_events, 8);
        assert_eq!(scene.restore(&after), text.as_bytes());
        assert_eq!(scene.import(&path).unchanged, 1);
        assert_eq!(scene.sessions().len(), 2);
    }
}

#[test]
fn a_migrated_file_goes_on_where_codex_would_resume_after_a_rollback() {
    let scene = Scene::new();
    let rollback = ("event_msg", event("thread_rolled_back", &json!({"num_turns": 1})), 5);
    let legacy = [
        turn("one", 1, 10, false),
        turn("two", 3, 20, false),
        vec![rollback],
        turn("three", 6, 30, false),
    ];
    import(&scene, &file(&legacy.concat(), false));
    // Turns that were rolled back are left out.
    let migrated = [turn("one", 1, 10, true), turn("three", 6, 30, true)].concat();
    let (_, report) = import(&scene, &file(&migrated, true));
    let after = first(&report);
    let expected = ["one", "answer to one", "three", "answer to three"];
    assert_eq!(texts(&scene, &after), expected);
    assert_eq!((scene.engine.show(&after).unwrap().own_events, input(&scene)), (1, 30));
}

#[test]
fn a_fork_of_a_migrated_file_is_found_by_its_numbers() {
    let scene = Scene::new();
    let legacy = [turn("one", 1, 10, false), turn("two", 3, 20, false)].concat();
    import(&scene, &file(&legacy, false));
    let migrated = [turn("one", 1, 10, true), turn("two", 3, 20, true)].concat();
    let text = file(&migrated, true);
    import(&scene, &text);
    // The first turn has the numbers 1 to 7.
    let base = json!({"thread_id": ID, "end_ordinal_exclusive": 8});
    let meta = json!({"id": CHILD, "cwd": "/w", "history_mode": "paginated", "history_base": base});
    let child = [
        json!({"timestamp": "2026-01-01T00:01:00.000Z", "ordinal": 8, "type": "session_meta",
            "payload": meta}),
        json!({"timestamp": "2026-01-01T00:01:00.000Z", "ordinal": 9, "type": "response_item",
            "payload": message("user", "mine")}),
    ];
    let child: String = child.iter().map(|line| format!("{line}\n")).collect();
    let path = scene.file(&format!("rollout-2026-01-01T00-01-00-{CHILD}.jsonl"), child.as_bytes());
    assert_eq!(scene.import(&path).problems, []);
    assert_eq!(texts(&scene, &CHILD.parse().unwrap()), ["one", "answer to one", "mine"]);
}

#[test]
fn a_file_with_another_conversation_is_a_branch_from_the_start() {
    let scene = Scene::new();
    import(&scene, &file(&turn("one", 1, 10, false), false));
    let text = file(&turn("other", 1, 10, true), true);
    let (_, report) = import(&scene, &text);
    let after = first(&report);
    assert_eq!(texts(&scene, &after), ["other", "answer to other"]);
    let cut = scene.engine.show(&after).unwrap().cut.unwrap();
    assert_eq!((cut.index, scene.restore(&after)), (0, text.into_bytes()));
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_all(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Codex 0.169.0 itself made the files in `codex/migrated` of those in `codex/home`.
#[test]
fn what_codex_itself_migrated_is_shared() {
    let scene = Scene::sqlite();
    let home = scene.folder.path().join("home");
    copy_all(&testdata().join("codex/home"), &home);
    scene.import(&home);
    let (sessions, paid) = (scene.sessions().len(), input(&scene));
    // A turn was rolled back in the first file, and the second begins with a copy of it.
    let names = ["019f9a4a-9064-76f6-9a14-49f44c2dc40f", "019f9a50-a149-76ae-afdd-b5faa9af4340"];
    let before = names.map(|name| {
        let header = scene.engine.show(&name.parse().unwrap()).unwrap();
        header.leaf.unwrap_or(header.id)
    });
    copy_all(&testdata().join("codex/migrated"), &home);
    let report = scene.import(&home);
    let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::Rewritten, ProblemKind::Rewritten]);
    assert_eq!((scene.sessions().len(), input(&scene)), (sessions + 2, paid));
    for (name, before) in names.iter().zip(&before) {
        let file = report.sources.iter().find(|file| file.path.contains(name)).unwrap();
        let after = file.first.as_ref().unwrap();
        let header = scene.engine.show(after).unwrap();
        assert_eq!((header.own_events, header.parent_id.as_ref()), (1, Some(before)));
        let messages = |id: &SessionId| scene.engine.inspect(id).unwrap().messages;
        assert_eq!(messages(after), messages(before));
        assert_eq!(scene.restore(after), std::fs::read(&file.path).unwrap());
    }
}
