//! Checks to which session each record is appended: branches, sub-agents, parallel results,
//! compactions, and repeated ids.

use forklore_core::{SessionId, SessionKind};
use forklore_import::{ImportReport, ProblemKind};

use crate::scene::Scene;

/// Returns a Claude Code record with this id and parent; `more` contains further fields.
fn record(id: &str, parent: Option<&str>, kind: &str, more: &str) -> String {
    let parent = parent.map_or("null".into(), |parent| format!("\"{parent}\""));
    format!(
        "{{\"parentUuid\":{parent},\"uuid\":\"{id}\",\"type\":\"{kind}\",\
         \"timestamp\":\"2026-01-01T00:00:00Z\",\"cwd\":\"/w\"{more}}}\n"
    )
}

fn user(id: &str, parent: Option<&str>) -> String {
    record(id, parent, "user", ",\"message\":{\"role\":\"user\",\"content\":\"hi\"}")
}

fn calls(id: &str, parent: &str, call: &str) -> String {
    let more = format!(
        ",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\
         \"id\":\"{call}\",\"name\":\"Bash\",\"input\":{{}}}}]}}"
    );
    record(id, Some(parent), "assistant", &more)
}

fn result(id: &str, parent: &str, call: &str) -> String {
    let more = format!(
        ",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
         \"tool_use_id\":\"{call}\",\"content\":\"ok\"}}]}}"
    );
    record(id, Some(parent), "user", &more)
}

/// Returns a description of each session: the parent's position and the cut's event, if it has a
/// parent, and the ids of its own events.
fn shape(scene: &Scene, report: &ImportReport) -> Vec<String> {
    let name = |id: &SessionId| report.sessions.iter().position(|s| s.session_id == *id).unwrap();
    let shown = report.sessions.iter().map(|session| {
        let events = scene.events(&session.session_id);
        let own = events.iter().filter(|e| Scene::is_own(e, &session.session_id));
        let own = own.filter(|e| e.event.kind.as_str() != "session_fork");
        let own: Vec<_> = own.map(|e| e.event.id.as_str().to_owned()).collect();
        let header = scene.engine.show(&session.session_id).unwrap();
        let from = header.parent_id.as_ref().map_or(String::new(), |parent| {
            let cut = header.cut.as_ref().and_then(|cut| cut.event_id.clone());
            let cut = cut.map_or("start".to_owned(), |id| id.to_string());
            let arrow = if header.kind == SessionKind::Delegate { "~" } else { "/" };
            format!("{}{arrow}{cut}: ", name(parent))
        });
        from + &own.join(" ")
    });
    shown.collect()
}

fn imported(lines: &[String]) -> (Scene, ImportReport) {
    let scene = Scene::new();
    let path = scene.file("f.jsonl", lines.concat().as_bytes());
    let report = scene.import_as(&path, "claude");
    assert_eq!(scene.restore(&report.sessions[0].session_id), lines.concat().as_bytes());
    (scene, report)
}

fn shape_of(lines: &[String]) -> Vec<String> {
    let (scene, report) = imported(lines);
    shape(&scene, &report)
}

#[test]
fn a_path_goes_on_behind_its_tip_and_forks_elsewhere() {
    let lines = [
        user("a", None),
        user("b", Some("a")),
        user("c", Some("b")),
        user("d", Some("a")),
        user("e", Some("d")),
        user("f", Some("c")),
        user("g", Some("d")),
    ];
    assert_eq!(shape_of(&lines), ["a b c f", "0/a: d e", "1/d: g"]);
}

#[test]
fn further_roots_lost_parents_and_cycles_begin_at_the_start() {
    let lines = [
        user("a", None),
        user("b", None),
        user("c", Some("nowhere")),
        user("d", Some("d")),
        user("e", Some("f")),
        user("f", Some("e")),
    ];
    let (scene, report) = imported(&lines);
    let expected = ["a", "0/start: b", "0/start: c", "0/start: d", "0/start: e f"];
    assert_eq!(shape(&scene, &report), expected);
    let missing: Vec<_> = report.problems.iter().map(|p| (p.kind, p.line.unwrap())).collect();
    let kind = ProblemKind::MissingParent;
    assert_eq!(missing, [(kind, 3), (kind, 4), (kind, 5)]);
}

#[test]
fn parallel_results_join_the_session_that_waits_for_them() {
    let lines = [
        user("a", None),
        calls("b", "a", "c1"),
        calls("c", "b", "c2"),
        result("d", "b", "c1"),
        result("e", "c", "c2"),
        user("f", Some("e")),
        // The call `c1` has a result already, so `g` begins an ordinary branch.
        result("g", "b", "c1"),
        // The parent of `h` is missing, and `c1` has a result in both sessions, so `h` begins a
        // third session.
        result("h", "nowhere", "c1"),
    ];
    assert_eq!(shape_of(&lines)[..2], ["a b c d e f".to_owned(), "0/b: g".to_owned()]);
}

#[test]
fn sidechains_are_delegates_called_at_the_end_of_the_main_line() {
    let side = |id: &str, parent: Option<&str>| {
        record(id, parent, "user", ",\"isSidechain\":true,\"message\":{\"content\":\"go\"}")
    };
    let lines = [
        side("w", None),
        user("a", None),
        calls("b", "a", "c1"),
        side("s", None),
        side("t", Some("s")),
        result("c", "b", "c1"),
        side("u", Some("s")),
    ];
    let expected = ["a b c", "0~start: w", "0~b: s t", "2/s: u"];
    assert_eq!(shape_of(&lines), expected);
}

#[test]
fn a_compaction_goes_on_behind_its_logical_parent() {
    let boundary = ",\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"b\"";
    let summary = ",\"isCompactSummary\":true,\"message\":{\"content\":\"In short.\"}";
    let lines = [
        user("a", None),
        user("b", Some("a")),
        record("c", None, "system", boundary),
        record("d", Some("c"), "user", summary),
        user("e", Some("d")),
    ];
    let (scene, report) = imported(&lines);
    assert_eq!(shape(&scene, &report), ["a b c d e"]);
    let events = scene.events(&report.sessions[0].session_id);
    let kinds: Vec<_> = events.iter().map(|e| e.event.kind.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "user_message",
            "user_message",
            "x.claude.compact_boundary",
            "history_compaction",
            "user_message"
        ]
    );
    let inspected = scene.engine.inspect(&report.sessions[0].session_id).unwrap();
    let texts: Vec<_> = inspected.messages.iter().map(forklore_core::Message::plain_text).collect();
    assert_eq!(texts, ["In short.", "hi"]);
}

#[test]
fn a_repeated_id_is_a_new_event_and_later_parents_mean_the_last() {
    let lines = [
        user("a", None),
        user("b", Some("a")),
        user("a", Some("b")),
        user("c", Some("a")),
        user("d", Some("b")),
    ];
    assert_eq!(shape_of(&lines), ["a b a c", "0/b: d"]);
}

#[test]
fn ids_are_made_of_the_file_and_the_first_record() {
    let lines = [user("a", None), user("b", Some("a")), user("c", Some("a")), user("c", Some("a"))];
    let (_, report) = imported(&lines);
    let derived = |first: &str| SessionId::derived("claude", &["f", first]).unwrap();
    let offset = lines[..3].concat().len().to_string();
    let ids: Vec<_> = report.sessions.iter().map(|s| s.session_id.clone()).collect();
    assert_eq!(ids, ["f".parse().unwrap(), derived("c"), derived(&offset)]);
}

#[test]
fn injected_messages_begin_no_turn() {
    let meta = ",\"isMeta\":true,\"message\":{\"content\":\"caveat\"}";
    let lines = [
        user("a", None),
        record("b", Some("a"), "user", meta),
        record("c", Some("b"), "attachment", ",\"attachment\":{}"),
        user("d", Some("c")),
    ];
    let (scene, report) = imported(&lines);
    let header = scene.engine.show(&report.sessions[0].session_id).unwrap();
    assert_eq!((header.counts.index, header.counts.turns), (4, 2));
}

#[test]
fn branches_of_one_step_that_begin_with_the_same_id_are_distinguished() {
    let message = |id: &str, role: &str, second: usize, text: &str| {
        format!(
            "{{\"id\":\"{id}\",\"timestamp\":\"2026-07-25T17:20:{second:02}.000Z\",\"type\":\"{role}\",\
             \"content\":[{{\"text\":\"{text}\"}}]}}\n"
        )
    };
    let header = "{\"sessionId\":\"c8eb1611-0ba6-403d-a42f-08c816f7eddf\",\"projectHash\":\"00\",\
                  \"startTime\":\"2026-07-25T17:20:00.000Z\",\"lastUpdated\":\"2026-07-25T17:20:00.000Z\",\
                  \"kind\":\"main\"}\n";
    let text = [
        header.to_owned(),
        message("u1", "user", 1, "one"),
        message("g1", "gemini", 2, "first"),
        message("u2", "user", 3, "two"),
        message("g2", "gemini", 4, "second"),
        message("g1", "gemini", 5, "another first"),
        message("g1", "gemini", 6, "once more"),
        "{\"$rewindTo\":\"u2\"}\n".to_owned(),
        message("g1", "gemini", 7, "and again"),
    ];
    let text = text.concat();
    let scene = Scene::new();
    let report =
        scene.import(&scene.file("session-2026-07-25T17-20-c8eb1611.jsonl", text.as_bytes()));
    assert_eq!(report.problems, []);
    assert_eq!(report.files, 1);
    for session in &report.sessions {
        assert_eq!(scene.restore(&session.session_id), text.as_bytes());
    }
}
