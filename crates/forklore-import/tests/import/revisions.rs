//! Imports files that an agent rewrites. The session of each revision is a branch that shares the
//! repeated records.

use std::path::Path;

use forklore_core::workspace::Workspace;
use forklore_core::{ErrorKind, SessionId};
use forklore_engine::{Delete, DeleteMode};
use forklore_import::{ImportOptions, ImportReport, ProblemKind};
use serde_json::{Value, json};

use crate::scene::Scene;

fn scenes() -> [Scene; 3] {
    [Scene::new(), Scene::sqlite(), Scene::files()]
}

/// Imports the file at `path`. `folder` is the workspace of sessions without a directory.
fn import(scene: &Scene, path: &Path, format: &str, folder: &str) -> ImportReport {
    let options = ImportOptions {
        from: Some(format.into()),
        ..ImportOptions::in_workspace(Workspace::new(folder))
    };
    scene.import_with(path, &options)
}

/// Returns the first session of the imported revision.
fn first(report: &ImportReport) -> SessionId {
    report.first_named().unwrap().first.clone().unwrap()
}

/// Returns the number of a session's own events and of all its events, both without `session_fork`.
fn lengths(scene: &Scene, session: &SessionId) -> (usize, usize) {
    let events = scene.events(session);
    let records: Vec<_> =
        events.iter().filter(|stored| stored.event.kind.as_str() != "session_fork").collect();
    let own = records.iter().filter(|stored| Scene::is_own(stored, session)).count();
    (own, records.len())
}

/// A revision of a file, the number of its session's own events, and the earlier revision from
/// which that session branches.
type Revision = (String, usize, Option<usize>);

/// Imports the revisions of a file one after the other, and checks that each can be restored.
fn revisions(format: &str, name: &str, texts: &[Revision]) {
    for scene in scenes() {
        let mut sessions: Vec<SessionId> = Vec::new();
        for (number, (text, own, parent)) in texts.iter().enumerate() {
            let path = scene.file(name, text.as_bytes());
            let report = import(&scene, &path, format, &format!("/folder-{number}"));
            let session = first(&report);
            let header = scene.engine.show(&session).unwrap();
            assert_eq!(lengths(&scene, &session).0, *own, "{format} {number}");
            let parent = parent.map(|parent| sessions[parent].clone());
            assert_eq!(header.parent_id, parent, "{format} {number}");
            assert_eq!(header.workspace.as_str(), "/folder-0", "{format} {number}");
            if number > 0 {
                assert_eq!(header.label.as_str(), format!("revision-{number}"));
                let mut fork = scene.events(&session).into_iter();
                let fork = fork.rfind(|it| it.event.kind.as_str() == "session_fork").unwrap();
                let fork: Value = serde_json::from_str(fork.event.data.get()).unwrap();
                assert_eq!(fork["revision"], number);
            }
            sessions.push(session);
            let again = import(&scene, &path, format, "/again");
            assert_eq!((again.unchanged, scene.sessions().len()), (1, number + 1), "{format}");
        }
        for (session, (text, ..)) in sessions.iter().zip(texts) {
            assert_eq!(scene.restore(session), text.as_bytes(), "{format} {session}");
        }
        assert!(scene.engine.verify(None).unwrap().problems.is_empty());
    }
}

fn gemini(texts: &[&str], pretty: bool) -> String {
    let messages: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let kind = if at % 2 == 0 { "user" } else { "gemini" };
            json!({"id": format!("m{at}"), "timestamp": "2026-01-01T00:00:01Z", "type": kind, "content": text})
        })
        .collect();
    let updated = format!("2026-01-01T00:00:{:02}Z", texts.len());
    let whole = json!({
        "sessionId": "s", "projectHash": "p", "startTime": "2026-01-01T00:00:00Z",
        "lastUpdated": updated, "messages": messages,
    });
    if pretty { serde_json::to_string_pretty(&whole).unwrap() } else { whole.to_string() }
}

#[test]
fn a_document_of_gemini_that_grows_or_changes_shares_what_it_repeats() {
    for pretty in [true, false] {
        let of = |texts: &[&str], own, parent| (gemini(texts, pretty), own, parent);
        let all = [
            of(&["one", "two"], 2, None),
            of(&["one", "two", "three"], 1, Some(0)),
            of(&["one", "two", "three", "four", "five"], 2, Some(1)),
            // The model's answer was generated again, so the session branches after the question.
            of(&["one", "two", "three", "other"], 1, Some(1)),
            // All messages except the first were removed.
            of(&["one"], 0, Some(0)),
            // No message is the same.
            of(&["else", "two"], 2, Some(4)),
        ];
        revisions("gemini", "session-2026-01-01T00-00-s.json", &all);
    }
}

#[test]
fn a_plain_document_that_grows_shares_what_it_repeats() {
    let of = |count: usize| {
        let all: Vec<_> =
            (0..count).map(|n| json!({"role": "user", "content": format!("say {n}")})).collect();
        serde_json::to_string_pretty(&all).unwrap()
    };
    let all = [(of(3), 3, None), (of(4), 1, Some(0)), (of(9), 5, Some(1)), (of(2), 0, Some(0))];
    revisions("plain", "chat.json", &all);
}

#[test]
fn a_file_of_ak_coder_after_going_back_shares_what_it_repeats() {
    let line = |role: &str, text: &str| format!("{}\n", json!({"role": role, "content": text}));
    let of = |texts: &[&str]| -> String {
        let roles = ["user", "assistant"].iter().cycle();
        texts.iter().zip(roles).map(|(text, role)| line(role, text)).collect()
    };
    let all = [
        (of(&["one", "two", "three", "four"]), 4, None),
        (of(&["one", "two"]), 0, Some(0)),
        (of(&["one", "two?", "three"]), 2, Some(0)),
    ];
    revisions("ak-coder", "session-1772442000000.jsonl", &all);
}

fn record(id: &str, parent: Option<&str>, text: &str) -> String {
    let role = if id.ends_with('a') { "assistant" } else { "user" };
    format!(
        "{}\n",
        json!({
            "parentUuid": parent, "isSidechain": false, "type": role, "sessionId": "s",
            "message": {"role": role, "content": text}, "uuid": id,
            "timestamp": "2026-01-01T00:00:00Z",
        })
    )
}

/// Returns a conversation with a branch at its second record.
fn branched(answer: &str) -> String {
    [
        record("u1", None, "one"),
        record("u1a", Some("u1"), "two"),
        record("u2", Some("u1a"), "three"),
        record("u2a", Some("u2"), answer),
        record("u3", Some("u1a"), "instead"),
        record("u3a", Some("u3"), "branch"),
    ]
    .concat()
}

#[test]
fn a_rewritten_file_of_claude_makes_no_unchanged_branch_again() {
    for scene in scenes() {
        let path = scene.file("s.jsonl", branched("four").as_bytes());
        let before = import(&scene, &path, "claude", "/folder");
        let (main, branch) = (&before.sessions[0].session_id, &before.sessions[1].session_id);
        assert_eq!(before.sessions.len(), 2);
        let path = scene.file("s.jsonl", branched("FOUR").as_bytes());
        let report = import(&scene, &path, "claude", "/elsewhere");
        assert_eq!(report.sessions.len(), 1);
        let revision = first(&report);
        let header = scene.engine.show(&revision).unwrap();
        assert_eq!((header.parent_id.as_ref(), header.label.as_str()), (Some(main), "revision-1"));
        assert_eq!((lengths(&scene, &revision), header.workspace.as_str()), ((1, 4), "/folder"));
        for session in [main, branch] {
            assert_eq!(scene.restore(session), branched("four").as_bytes());
        }
        assert_eq!(scene.restore(&revision), branched("FOUR").as_bytes());

        // The file grows by records that continue a shared record or a record of the new revision.
        let more = [
            record("u4", Some("u3a"), "on"),
            record("u5", Some("u2a"), "here"),
            record("u6", Some("u4"), "and on"),
        ];
        let grown = branched("FOUR") + &more.concat();
        let report = import(&scene, &scene.file("s.jsonl", grown.as_bytes()), "claude", "/x");
        assert_eq!(report.sessions.len(), 2);
        assert_eq!(lengths(&scene, &revision), (2, 5));
        let on = &report.sessions[1];
        assert_eq!(on.parent_session_id.as_ref(), Some(branch));
        assert_eq!(lengths(&scene, &on.session_id), (2, 6));
        assert_eq!(scene.restore(&on.session_id), grown.as_bytes());
        assert_eq!(scene.restore(main), branched("four").as_bytes());
        // A later import continues the sessions of the previous import.
        let again = branched("FOUR") + &more.concat() + &record("u7", Some("u6"), "more");
        let report = import(&scene, &scene.file("s.jsonl", again.as_bytes()), "claude", "/x");
        assert_eq!((report.sessions.len(), report.sessions[1].appended), (2, 1));
        assert_eq!(scene.restore(&revision), again.as_bytes());
    }
}

#[test]
fn a_revision_of_a_revision_finds_the_branches_of_the_first() {
    for scene in scenes() {
        for (answer, sessions) in [("four", 2), ("FOUR", 3), ("4", 4), ("four", 5)] {
            let path = scene.file("s.jsonl", branched(answer).as_bytes());
            let report = import(&scene, &path, "claude", "/folder");
            assert_eq!(scene.sessions().len(), sessions, "{answer}");
            assert_eq!(scene.restore(&first(&report)), branched(answer).as_bytes());
        }
    }
}

#[test]
fn a_deleted_session_takes_the_bytes_of_later_revisions_along_and_no_revision_brings_it_back() {
    for scene in scenes() {
        let path = scene.file("chat.json", gemini(&["one", "two"], true).as_bytes());
        let root = first(&import(&scene, &path, "gemini", "/folder"));
        scene.file("chat.json", gemini(&["one", "two", "three"], true).as_bytes());
        let revision = first(&import(&scene, &path, "gemini", "/folder"));
        let delete = |mode| {
            scene.engine.delete(&Delete {
                session: root.clone(),
                mode,
                dry_run: false,
                erase: true,
            })
        };
        assert_eq!(delete(DeleteMode::Refuse).unwrap_err().kind(), ErrorKind::HasChildren);
        delete(DeleteMode::DetachChildren).unwrap();
        // The shared records remain in the history of the revision's session, but the revision's
        // file cannot be restored.
        assert_eq!(lengths(&scene, &revision), (1, 3));
        let restored = scene.engine.restore(&revision, &mut Vec::new());
        assert_eq!(restored.unwrap_err().kind(), ErrorKind::Conflict);

        let scene = Scene::new();
        let path = scene.file("chat.json", gemini(&["one", "two"], true).as_bytes());
        let session = first(&import(&scene, &path, "gemini", "/folder"));
        let delete = Delete { session, mode: DeleteMode::Refuse, dry_run: false, erase: true };
        scene.engine.delete(&delete).unwrap();
        scene.file("chat.json", gemini(&["one", "two", "three"], true).as_bytes());
        let report = import(&scene, &path, "gemini", "/folder");
        let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!((report.files, kinds), (0, vec![ProblemKind::Deleted]));
        let options = ImportOptions {
            again: true,
            from: Some("gemini".into()),
            ..ImportOptions::in_workspace(Workspace::new("/folder"))
        };
        let report = scene.import_with(&path, &options);
        assert_eq!(report.sessions[0].parent_session_id, None);
    }
}
