//! Imports damaged files. No data is lost, the import ends, and the report names the line and the
//! byte of each problem.

use forklore_import::ProblemKind;

use crate::files::testdata;
use crate::scene::Scene;

/// Returns the problems of a file: kind, line number and byte offset.
fn problems(name: &str, bytes: &[u8], dialect: &str) -> Vec<(ProblemKind, u64, u64)> {
    let scene = Scene::new();
    let path = scene.file(name, bytes);
    let report = scene.import_as(&path, dialect);
    let position = |p: &forklore_import::Problem| (p.kind, p.line.unwrap(), p.offset.unwrap());
    report.problems.iter().map(position).collect()
}

const USER: &str = r#"{"role":"user","content":"hi"}"#;

#[test]
fn each_sort_of_damage_is_named_where_it_stands() {
    use ProblemKind::{Damage, Incomplete, NotUtf8, Splice};
    let at = |text: &[u8]| problems("a.jsonl", text, "plain");
    let user = USER.as_bytes();
    let n = user.len() as u64;
    assert_eq!(at(user), []);
    assert_eq!(at(&[user, b"\r\n\r\n \n\xef\xbb\xbf\n"].concat()), []);
    assert_eq!(at(&[user, b"\nnot json\n", user].concat()), [(Damage, 2, n + 1)]);
    assert_eq!(at(&[user, b"\n[1]\n\"x\"\n"].concat()), [(Damage, 2, n + 1), (Damage, 3, n + 5)]);
    assert_eq!(at(&[user, b"\n{\"role\":\"us"].concat()), [(Incomplete, 2, n + 1)]);
    assert_eq!(at(&[user, user, b"\n"].concat()), [(Splice, 1, n)]);
    assert_eq!(at(&[b"\0\0\0", user, b"\n"].concat()), [(Damage, 1, 0)]);
    assert_eq!(
        at(&[user, b"\n", b"{\"role\":\"user\",\"content\":\"\xff\"}\n"].concat()),
        [(NotUtf8, 2, n + 1)]
    );
    assert_eq!(at(&[user, b" garbage\n"].concat()), [(Damage, 1, n + 1)]);
}

#[test]
fn a_circle_of_parents_is_reported_once() {
    let record = |uuid: &str, parent: &str, content: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\
             \"message\":{{\"role\":\"user\",\"content\":{content}}}}}\n"
        )
    };
    let text = |uuid: &str, parent: &str| record(uuid, parent, "\"hi\"");
    let call = r#"[{"type":"tool_use","id":"t","name":"Bash","input":{}}]"#;
    let result = r#"[{"type":"tool_result","tool_use_id":"t","content":"done"}]"#;
    for (what, lines, line) in [
        ("of one", [text("a", "\"a\""), text("b", "\"a\"")], 1),
        ("of two", [text("a", "\"b\""), text("b", "\"a\"")], 1),
        ("after a root", [text("r", "null"), text("a", "\"a\"")], 2),
        ("of a call", [record("a", "\"b\"", call), record("b", "\"a\"", result)], 1),
    ] {
        let found = problems("s.jsonl", lines.concat().as_bytes(), "claude");
        let found: Vec<_> = found.into_iter().map(|(kind, line, _)| (kind, line)).collect();
        assert_eq!(found, [(ProblemKind::MissingParent, line)], "{what}");
    }
}

#[test]
fn half_an_emoji_is_stored_and_read_as_a_replacement() {
    let claude = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"cut \ud83d"}}"#;
    let pi = r#"{"type":"message","id":"m1","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"cut \ud83d"}]}}"#;
    let plain = r#"{"role":"user","content":"cut \ud83d"}"#;
    for (dialect, line) in [("claude", claude), ("pi", pi), ("plain", plain)] {
        let scene = Scene::new();
        let path = scene.file("a.jsonl", line.as_bytes());
        let report = scene.import_as(&path, dialect);
        assert_eq!(report.problems, [], "{dialect}");
        let id = &report.sessions[0].session_id;
        let records: Vec<_> = scene.engine.replay(id, None).unwrap().map(Result::unwrap).collect();
        let text = forklore_core::Content::Text("cut \u{fffd}".into());
        assert_eq!(
            records.iter().map(|record| &record.content).collect::<Vec<_>>(),
            [&text],
            "{dialect}"
        );
        assert_eq!(scene.restore(id), line.as_bytes(), "{dialect}");
    }
}

#[test]
fn a_splice_gives_both_records_and_a_stub_is_stored() {
    let scene = Scene::new();
    let text = format!("{USER}{USER}\n{{\"role\":\"us{USER}\n{USER}\n");
    let path = scene.file("a.jsonl", text.as_bytes());
    let report = scene.import(&path);
    assert_eq!(report.sessions[0].events, 3);
    assert_eq!(scene.restore(&report.sessions[0].session_id), text.as_bytes());
}

#[test]
fn bytes_that_are_no_utf8_come_back_and_read_as_replacements() {
    let scene = Scene::new();
    let text = b"{\"role\":\"user\",\"content\":\"a\xff\xfeb\"}\r\n";
    let report = scene.import(&scene.file("a.jsonl", text));
    let id = &report.sessions[0].session_id;
    let data = scene.events(id)[0].event.data.clone();
    assert_eq!(data.get(), "{\"role\":\"user\",\"content\":\"a\u{fffd}\u{fffd}b\"}");
    assert_eq!(scene.restore(id), text);
}

#[test]
fn any_depth_and_repeated_keys_are_read() {
    let scene = Scene::new();
    let deep = format!(
        "{{\"role\":\"user\",\"content\":\"x\",\"more\":{}{}}}\n{}\n",
        "[".repeat(10_000),
        "]".repeat(10_000),
        r#"{"role":"user","role":"assistant","content":"y"}"#,
    );
    let report = scene.import(&scene.file("a.jsonl", deep.as_bytes()));
    assert_eq!(report.problems, []);
    let events = scene.events(&report.sessions[0].session_id);
    let kinds: Vec<_> = events.iter().map(|stored| stored.event.kind.as_str()).collect();
    assert_eq!(kinds, ["user_message", "assistant_message"]);
}

#[test]
fn every_truncation_of_a_damaged_file_is_read_without_loss() {
    for name in ["interior-garbage", "nul-record", "invalid-utf8", "number-fidelity"] {
        let path = testdata().join(format!("claude/malformed/{name}.jsonl"));
        let bytes = std::fs::read(path).unwrap();
        for cut in (0..bytes.len()).step_by(97) {
            let scene = Scene::new();
            let report = scene.import_as(&scene.file("s.jsonl", &bytes[..cut]), "claude");
            if let Some(session) = report.sessions.first() {
                let restored = scene.restore(&session.session_id);
                assert_eq!(restored, bytes[..cut], "{name} at {cut}");
            }
        }
    }
}

#[test]
fn what_is_no_session_file_is_skipped_and_named() {
    let scene = Scene::new();
    let path = scene.file("notes.txt", b"just notes\n");
    let report = scene.import(&path);
    assert_eq!((report.files, report.skipped), (0, 1));
    assert_eq!(report.problems[0].kind, ProblemKind::UnknownFormat);
    let empty = scene.import_as(&scene.file("empty.jsonl", b""), "claude");
    assert_eq!((empty.files, empty.skipped), (0, 1));
    let missing = scene.import(&scene.folder.path().join("missing.jsonl"));
    assert_eq!(missing.problems[0].kind, ProblemKind::Unreadable);
}
