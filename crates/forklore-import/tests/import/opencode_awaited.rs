//! Sessions that forklore begins before opencode has them in its database.

use forklore_core::workspace::Workspace;
use forklore_core::{Message, Selector, SessionId};
use forklore_import::{AwaitedSession, Importer, ProblemKind, WrittenFrom};

use crate::files::testdata;
use crate::opencode::{database, say, scene};
use crate::scene::Scene;

fn own_events(scene: &Scene, session: &SessionId) -> u64 {
    scene.engine.show(session).unwrap().own_events
}

#[test]
fn what_opencode_imports_from_forklore_is_the_history_of_a_branch() {
    let scene = scene();
    let exported = "opencode/genuine/ses_e0010d072ffeuJO2vjlBCXJv4W.json";
    let parent = scene.import(&testdata().join(exported)).sessions[0].session_id.clone();
    let path = scene.folder.path().canonicalize().unwrap().join("opencode.db");
    let db = database(&path);
    let workspace = Workspace::new("/work/worktree");
    let (session, at) = (parent.clone(), Selector::Turn(1));
    let from = WrittenFrom { session, at, workspace: workspace.clone() };
    let awaited = AwaitedSession {
        container: path.clone(),
        id: "ses_1".to_owned(),
        line: r#"{"info":{"id":"ses_1","directory":"/w"}}"#.to_owned(),
        records: Some("msg_1".to_owned()..="msg_2".to_owned()),
    };
    let branch = Importer::new(&scene.engine).begin_awaited("opencode", &awaited, from).unwrap();
    let header = scene.engine.show(&branch).unwrap();
    assert_eq!((branch.as_str(), header.parent_id.as_ref()), ("ses_1", Some(&parent)));
    assert_eq!((own_events(&scene, &branch), header.workspace), (1, workspace));
    let texts = || {
        let messages = scene.engine.inspect(&branch).unwrap().messages;
        messages.iter().map(Message::plain_text).collect::<Vec<_>>()
    };
    let history = texts();

    // Any import may come while opencode stores the history, whose last message may be unfinished.
    say(&db, "msg_1", "user", 1_001, true);
    assert_eq!(scene.import(&path).sessions.len(), 1);
    say(&db, "msg_2", "assistant", 1_002, false);
    scene.import(&path);
    assert_eq!((own_events(&scene, &branch), texts()), (1, history.clone()));
    say(&db, "msg_3", "user", 1_003, true);
    say(&db, "msg_4", "assistant", 1_004, true);
    let report = scene.import(&path);
    assert_eq!((report.problems.len(), own_events(&scene, &branch)), (0, 3));
    let gone_on = ["msg_3", "msg_4"].map(str::to_owned);
    assert_eq!(texts(), [history.as_slice(), &gone_on].concat());
}

#[test]
fn a_message_waits_for_its_parts() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let db = database(&path);
    say(&db, "msg_1", "user", 1_001, true);
    db.execute("UPDATE part SET message_id = 'msg_9', session_id = 'ses_9'", []).unwrap();
    let report = scene.import(&path);
    let waits = &report.problems[0].kind;
    assert_eq!((report.sessions.len(), waits), (0, &ProblemKind::Incomplete), "{report:?}");
    db.execute("UPDATE part SET message_id = 'msg_1', session_id = 'ses_1'", []).unwrap();
    let report = scene.import(&path);
    let [session] = report.sessions.as_slice() else { panic!("{report:?}") };
    assert_eq!(session.events, 1);
}

#[test]
fn one_session_is_imported_with_its_sub_agents_only() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let db = database(&path);
    db.execute_batch(
        "INSERT INTO session VALUES('ses_2', NULL, '/w', 'another', NULL, 1000, 1000);
         INSERT INTO session VALUES('ses_3', 'ses_1', '/w', 'helper', NULL, 1001, 1001);
         INSERT INTO session VALUES('ses_4', 'ses_3', '/w', 'its helper', NULL, 1002, 1002);",
    )
    .unwrap();
    say(&db, "msg_1", "user", 1_001, true);
    for helper in ["ses_2", "ses_3", "ses_4"] {
        say(&db, helper, "user", 1_002, true);
        for table in ["message", "part"] {
            let sql = format!("UPDATE {table} SET session_id = ?1 WHERE id LIKE '%' || ?1");
            db.execute(&sql, [helper]).unwrap();
        }
    }
    let only = |id: &str| {
        let report = Importer::new(&scene.engine).import_only("opencode", &path, id).unwrap();
        let ids = report.sessions.iter().map(|session| session.session_id.to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(only("ses_1"), ["ses_1", "ses_3", "ses_4"]);
    assert_eq!(only("ses_9"), [""; 0]);
    assert_eq!(scene.import(&path).sessions.len(), 4);
}
