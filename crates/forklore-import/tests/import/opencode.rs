//! Imports opencode's sessions: exported documents, the database, and the folders of versions
//! without a database.

use std::path::Path;

use forklore_core::SessionKind;
use forklore_core::session_container::SessionContainer;
use forklore_engine::{Delete, DeleteMode};
use forklore_import::{ImportReport, Importer, ProblemKind};
use forklore_opencode::{Database, Storage};
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::Value;

use crate::files::testdata;
use crate::scene::Scene;

static CONTAINERS: &[&dyn SessionContainer] = &[&Database, &Storage];

pub(crate) fn scene() -> Scene {
    let mut scene = Scene::new();
    scene.engine = scene.engine.with_containers(CONTAINERS);
    scene
}

/// Creates an opencode database with the columns that the import needs and some others.
pub(crate) fn database(path: &Path) -> Connection {
    let database = Connection::open(path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE session(id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
                 revert TEXT, time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
                 time_updated INTEGER, data TEXT);
             CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
                 time_created INTEGER, time_updated INTEGER, data TEXT);
             INSERT INTO session VALUES('ses_1', NULL, '/w', 'one', NULL, 1000, 1000);",
        )
        .unwrap();
    database
}

pub(crate) fn say(database: &Connection, id: &str, role: &str, at: i64, done: bool) {
    let end = if done { format!(",\"completed\":{at}") } else { String::new() };
    let info = format!(r#"{{"role":"{role}","time":{{"created":{at}{end}}}}}"#);
    let message = "INSERT INTO message VALUES(?, 'ses_1', ?, ?, ?)";
    database.execute(message, (id, at, at, info)).unwrap();
    let part = "INSERT INTO part VALUES('prt_' || ?1, ?1, 'ses_1', ?2, ?2, ?3)";
    database.execute(part, (id, at, format!(r#"{{"type":"text","text":"{id}"}}"#))).unwrap();
}

/// Returns a description of each session: the ids or types of its own events.
fn shape(scene: &Scene, report: &ImportReport) -> Vec<String> {
    let all = report.sessions.iter().map(|session| {
        let own = scene.events(&session.session_id).into_iter();
        let own = own.filter(|e| Scene::is_own(e, &session.session_id));
        let own =
            own.filter(|e| e.event.kind.as_str() != "session_fork").map(|stored| {
                match stored.event.kind.as_str() {
                    "user_message" | "assistant_message" => stored.event.id.to_string(),
                    kind => kind.trim_start_matches("x.opencode.").to_owned(),
                }
            });
        own.collect::<Vec<_>>().join(" ")
    });
    all.collect()
}

#[test]
fn exports_have_the_messages_that_opencode_says() {
    let folder = testdata().join("opencode/genuine");
    let expected: Value =
        serde_json::from_slice(&std::fs::read(folder.join("EXPECT.json")).unwrap()).unwrap();
    for (name, messages) in [("A", 12), ("fork_before_user2", 7), ("fork_of_fork_head", 14)] {
        let scene = scene();
        let id = expected[name]["id"].as_str().unwrap();
        let report = scene.import(&folder.join(format!("{id}.json")));
        let first = &report.sessions[0];
        assert_eq!(first.session_id.as_str(), id);
        assert_eq!(first.events, messages, "{name}");
        let title = expected[name].get("title").map_or("parser work", |t| t.as_str().unwrap());
        let header = scene.engine.show(&first.session_id).unwrap();
        assert_eq!(header.title.as_deref(), Some(title));
    }
    let scene = scene();
    let report = scene.import(&folder.join("ses_e0010d072ffeuJO2vjlBCXJv4W.json"));
    let (leaf, _) = report.sources[0].meant().unwrap();
    let hidden = expected["revert"]["revert"]["messageID"].as_str().unwrap();
    let log = scene.events(leaf);
    assert!(log.iter().all(|stored| stored.event.id.as_str() != hidden));
    assert_eq!(log.last().unwrap().event.kind.as_str(), "x.opencode.revert");
    let users = expected["A"]["users"].as_array().unwrap();
    let all = scene.events(&report.sessions[0].session_id);
    let turns = all.iter().filter(|stored| stored.event.effect.starts_turn);
    let turns: Vec<_> = turns.map(|stored| stored.event.id.as_str()).collect();
    assert_eq!(turns, users.iter().map(|id| id.as_str().unwrap()).collect::<Vec<_>>());
}

#[test]
fn the_database_and_the_exports_tell_the_same_conversations() {
    let folder = testdata().join("opencode/genuine");
    let (database, exports) = (scene(), scene());
    let report = database.import(&folder.join("opencode.db"));
    assert_eq!((report.files, report.problems.len()), (3, 0));
    for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.to_string_lossy().contains("ses_") {
            let id = exports.import(&path).sessions[0].session_id.clone();
            let messages = |scene: &Scene| scene.engine.inspect(&id).unwrap().messages;
            assert_eq!(messages(&database), messages(&exports), "{}", path.display());
        }
    }
    let again = database.import(&folder.join("opencode.db"));
    assert!(again.sessions.iter().all(|session| session.appended == 0));
    assert_eq!(again.sessions.len(), report.sessions.len());
}

#[test]
fn a_database_that_grows_adds_what_is_new() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let db = database(&path);
    say(&db, "msg_a", "user", 1_001, true);
    say(&db, "msg_b", "assistant", 1_002, false);
    let report = scene.import(&path);
    assert_eq!(shape(&scene, &report), ["msg_a"]);
    assert_eq!(report.problems[0].kind, ProblemKind::Incomplete);
    db.execute_batch(
        "UPDATE message SET time_updated = 1010,
             data = '{\"role\":\"assistant\",\"time\":{\"created\":1002,\"completed\":1010}}'
             WHERE id = 'msg_b';
         UPDATE session SET title = 'two', time_updated = 1010;",
    )
    .unwrap();
    // A later message may have a smaller id.
    say(&db, "msg_0", "user", 1_020, true);
    let report = scene.import(&path);
    assert_eq!(shape(&scene, &report), ["msg_a msg_b msg_0"]);
    assert_eq!((report.sessions[0].appended, report.problems.len()), (2, 0));
    let header = scene.engine.show(&report.sessions[0].session_id).unwrap();
    assert_eq!(header.title.as_deref(), Some("two"));
    assert_eq!(scene.import(&path).sessions[0].appended, 0);
    // A change that is not part of the conversation is stored with the source and becomes no event.
    db.execute_batch("UPDATE message SET time_updated = 2000, data = '{\"role\":\"user\",\"time\":{\"created\":1001},\"summary\":{}}' WHERE id = 'msg_a'").unwrap();
    let report = scene.import(&path);
    assert_eq!(shape(&scene, &report), ["msg_a msg_b msg_0"]);
    let restored = String::from_utf8(scene.restore(&report.sessions[0].session_id)).unwrap();
    assert_eq!(restored.matches("\"id\":\"msg_a\"").count(), 2, "{restored}");
}

#[test]
fn a_survey_knows_how_each_session_of_a_database_stands() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let db = database(&path);
    say(&db, "msg_a", "user", 1_001, true);
    let counts = || {
        let survey =
            Importer::new(&scene.engine).survey("opencode", std::slice::from_ref(&path)).unwrap();
        (survey.files, survey.imported, survey.to_read)
    };
    assert_eq!(counts(), (1, 0, 1));
    let session = scene.import(&path).sessions[0].session_id.clone();
    assert_eq!(counts(), (1, 1, 0));
    say(&db, "msg_b", "assistant", 1_002, true);
    assert_eq!(counts(), (1, 1, 1));
    scene.import(&path);
    db.execute_batch("INSERT INTO session VALUES('ses_2', NULL, '/w', 'two', NULL, 2000, 2000)")
        .unwrap();
    assert_eq!(counts(), (1, 1, 1));
    scene.import(&path);
    assert_eq!(counts(), (1, 1, 0));
    // A session that was deleted in forklore is not imported again, even if it grows in opencode.
    let delete = Delete { session, mode: DeleteMode::Refuse, dry_run: false, erase: true };
    scene.engine.delete(&delete).unwrap();
    say(&db, "msg_c", "user", 1_003, true);
    assert_eq!(counts(), (1, 1, 0));
    drop(db);
    std::fs::write(&path, "no database").unwrap();
    assert_eq!(counts(), (1, 0, 1));
}

#[test]
fn messages_hidden_and_then_deleted_stay_as_a_branch() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let db = database(&path);
    for (id, role, at) in [("msg_a", "user", 1), ("msg_b", "assistant", 2), ("msg_c", "user", 3)] {
        say(&db, id, role, at, true);
    }
    let hide = "UPDATE session SET time_updated = 2000, revert = ";
    db.execute_batch(&format!("{hide} '{{\"messageID\":\"msg_b\"}}'")).unwrap();
    let report = scene.import(&path);
    assert_eq!(shape(&scene, &report), ["msg_a msg_b msg_c", "revert"]);
    let leaf = report.sources[0].meant().unwrap().0.clone();
    assert_eq!(leaf, report.sessions[1].session_id);
    db.execute_batch(&format!("{hide} NULL; DELETE FROM message WHERE id > 'msg_a'")).unwrap();
    say(&db, "msg_d", "user", 9, true);
    let report = scene.import(&path);
    assert_eq!(shape(&scene, &report), ["msg_a msg_b msg_c", "revert msg_d"]);
}

#[test]
fn what_is_shown_again_is_gone_on_with() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let db = database(&path);
    say(&db, "msg_a", "user", 1, true);
    say(&db, "msg_b", "assistant", 2, true);
    db.execute_batch("UPDATE session SET revert = '{\"messageID\":\"msg_b\"}'").unwrap();
    scene.import(&path);
    db.execute_batch("UPDATE session SET revert = NULL").unwrap();
    say(&db, "msg_c", "user", 3, true);
    let report = scene.import(&path);
    assert_eq!(shape(&scene, &report), ["msg_a msg_b msg_c unrevert", "revert"]);
    assert_eq!(report.sources[0].meant().unwrap().0, &report.sessions[0].session_id);
}

#[test]
fn a_database_in_use_is_read_with_its_log_and_left_alone() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let db = database(&path);
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    say(&db, "msg_a", "user", 1, true);
    let files = || {
        let all =
            std::fs::read_dir(scene.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut all: Vec<_> = all
            .filter(|path| path.is_file())
            .map(|path| (std::fs::read(&path).unwrap(), path))
            .collect();
        all.sort();
        all
    };
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let before = files();
    assert!(before.len() > 1, "there is a log");
    let report = scene.import(&path);
    assert_eq!(shape(&scene, &report), ["msg_a"]);
    assert!(files() == before, "a source was written to");
}

#[test]
fn a_message_that_will_not_be_finished_waits_no_longer() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let db = database(&path);
    say(&db, "msg_a", "user", 1_001, true);
    say(&db, "msg_b", "assistant", 1_002, false);
    assert_eq!(shape(&scene, &scene.import(&path)), ["msg_a"]);
    db.execute_batch(
        "INSERT INTO session VALUES('ses_2', NULL, '/w', 'two', NULL, 9000000, 9000000);
         INSERT INTO message VALUES('msg_x', 'ses_2', 9000000, 9000000, '{\"role\":\"user\"}');",
    )
    .unwrap();
    assert_eq!(shape(&scene, &scene.import(&path)), ["msg_a msg_b", "msg_x"]);
}

#[test]
fn a_sub_agent_is_a_delegate_of_the_session_that_called_it() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let db = database(&path);
    say(&db, "msg_a", "user", 1_001, true);
    say(&db, "msg_b", "assistant", 1_002, true);
    say(&db, "msg_c", "user", 5_000, true);
    db.execute_batch(
        "INSERT INTO session VALUES('ses_0', 'ses_1', '/w', 'sub', NULL, 1500, 1500);
         INSERT INTO session VALUES('ses_3', 'ses_9', '/w', 'lost', NULL, 1600, 1600);
         INSERT INTO message VALUES('msg_x', 'ses_0', 1500, 1500, '{\"role\":\"user\"}');
         INSERT INTO message VALUES('msg_y', 'ses_3', 1600, 1600, '{\"role\":\"user\"}');",
    )
    .unwrap();
    let report = scene.import(&path);
    let kinds: Vec<_> = report.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::MissingBase]);
    let delegate = scene.engine.show(&"ses_0".parse().unwrap()).unwrap();
    let cut = delegate.cut.unwrap().event_id.unwrap();
    let parent = delegate.parent_id.unwrap();
    assert_eq!((delegate.kind, parent.as_str()), (SessionKind::Delegate, "ses_1"));
    assert_eq!(cut.as_str(), "msg_b");
    assert_eq!(scene.engine.show(&"ses_3".parse().unwrap()).unwrap().kind, SessionKind::Root);
}

#[test]
fn databases_that_are_something_else_are_named() {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE x(y)").unwrap();
    let report = scene.import(&path);
    assert_eq!((report.files, report.problems[0].kind), (0, ProblemKind::UnknownFormat));
    let what = "the database is that of another program (its tables are \"x\"); of databases, only \
                opencode's is supported";
    assert_eq!(report.problems[0].message, what);
    assert_eq!(report.failed, report.problems);

    let bytes = std::fs::read(testdata().join("opencode/genuine/opencode.db")).unwrap();
    for len in [16, 100, 5_000, bytes.len() / 2] {
        let report = scene.import(&scene.file("opencode.db", &bytes[..len]));
        assert!(!report.problems.is_empty(), "{len}");
    }
    for at in (0..bytes.len()).step_by(40_961) {
        let mut bytes = bytes.clone();
        bytes.iter_mut().skip(at).take(64).for_each(|byte| *byte = 0xa5);
        scene.import(&scene.file("opencode.db", &bytes));
    }
}

#[test]
fn sessions_in_folders_are_read_as_those_of_the_database() {
    let scene = scene();
    let root = scene.folder.path().join("storage");
    for (path, text) in [
        (
            "session/p/ses_1.json",
            r#"{"id":"ses_1","directory":"/w","title":"t","time":{"created":1}}"#,
        ),
        (
            "message/ses_1/msg_b.json",
            r#"{"id":"msg_b","role":"assistant","sessionID":"ses_1","time":{"created":3,"completed":4}}"#,
        ),
        (
            "message/ses_1/msg_z.json",
            r#"{"id":"msg_z","role":"user","sessionID":"ses_1","time":{"created":2}}"#,
        ),
        (
            "part/msg_z/prt_1.json",
            r#"{"id":"prt_1","messageID":"msg_z","type":"text","text":"hi"}"#,
        ),
        (
            "part/msg_b/prt_2.json",
            "{\"id\":\"prt_2\",\n\"messageID\":\"msg_b\",\"type\":\"text\",\"text\":\"yes\"}",
        ),
    ] {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let report = scene.import(&root);
    assert_eq!(shape(&scene, &report), ["msg_z msg_b"]);
    assert_eq!((report.files, report.problems.len()), (1, 0), "{report:?}");
    let messages = scene.engine.inspect(&report.sessions[0].session_id).unwrap().messages;
    let texts: Vec<_> = messages.iter().map(forklore_core::Message::plain_text).collect();
    assert_eq!(texts, ["hi", "yes"]);
    assert_eq!(scene.import(&root).sessions[0].appended, 0);
}

/// An operation of opencode on its database.
#[derive(Clone, Copy, Debug)]
enum Does {
    Says,
    Hides(usize),
    ShowsAgain,
    /// Writes a message while messages are hidden, so that the hidden messages are deleted.
    GoesOn,
    DeletesLast,
    ChangesLast,
    Summarises(usize),
    IsImported,
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        4 => Just(Does::Says),
        1 => (0..20_usize).prop_map(Does::Hides),
        1 => Just(Does::ShowsAgain),
        2 => Just(Does::GoesOn),
        1 => Just(Does::DeletesLast),
        1 => Just(Does::ChangesLast),
        1 => (0..20_usize).prop_map(Does::Summarises),
        4 => Just(Does::IsImported),
    ]
}

/// The state of a session in opencode.
#[derive(Default)]
struct Played {
    messages: i64,
    list: Vec<String>,
    hidden: Option<usize>,
}

impl Played {
    fn visible(&self) -> &[String] {
        &self.list[..self.hidden.unwrap_or(self.list.len())]
    }

    fn delete(&mut self, db: &Connection, from: usize) {
        for id in self.list.drain(from..) {
            db.execute("DELETE FROM message WHERE id = ?", [&id]).unwrap();
            db.execute("DELETE FROM part WHERE message_id = ?", [&id]).unwrap();
        }
    }

    fn hide(&mut self, db: &Connection, from: Option<usize>) {
        self.hidden = from;
        let revert = from.map(|at| format!(r#"{{"messageID":"{}"}}"#, self.list[at]));
        db.execute("UPDATE session SET revert = ?, time_updated = ?", (revert, self.messages))
            .unwrap();
    }

    fn say(&mut self, db: &Connection) {
        if let Some(from) = self.hidden {
            self.hide(db, None);
            self.delete(db, from);
        }
        self.messages += 1;
        // Each id is smaller than the one before, because ids do not determine the order.
        let id = format!("msg_{:03}", 900 - self.messages);
        say(
            db,
            &id,
            if self.messages % 2 == 1 { "user" } else { "assistant" },
            self.messages,
            true,
        );
        self.list.push(id);
    }

    fn change(&mut self, db: &Connection, does: Does) {
        match does {
            Does::Hides(at) if !self.list.is_empty() => {
                self.hide(db, Some(at % self.list.len()));
            }
            Does::ShowsAgain => self.hide(db, None),
            Does::Says | Does::GoesOn => self.say(db),
            Does::DeletesLast if self.hidden.is_none() && self.list.len() > 1 => {
                self.delete(db, self.list.len() - 1);
            }
            Does::ChangesLast if self.hidden.is_none() => {
                let sql = "UPDATE part SET time_updated = 5000 + ?2, data = \
                           '{\"type\":\"text\",\"text\":\"' || ?2 || '\"}' WHERE message_id = ?1";
                self.list.last().map(|id| db.execute(sql, (id, self.messages)).unwrap());
            }
            Does::Summarises(at) if !self.list.is_empty() => {
                let id = &self.list[at % self.list.len()];
                let sql = "UPDATE message SET time_updated = time_updated + 1, \
                           data = json_insert(data, '$.summary', ?2) WHERE id = ?1";
                db.execute(sql, (id, self.messages)).unwrap();
            }
            _ => {}
        }
    }
}

/// Plays the operations and imports the database. Asserts that the leaf contains the messages that
/// opencode shows.
fn the_leaf_is_shown(done: Vec<Does>) {
    let scene = scene();
    let path = scene.folder.path().join("opencode.db");
    let (db, mut played) = (database(&path), Played::default());
    played.say(&db);
    for does in done {
        match does {
            Does::IsImported => drop(scene.import(&path)),
            does => played.change(&db, does),
        }
    }
    let report = scene.import(&path);
    let (leaf, _) = report.sources[0].meant().unwrap();
    let log = scene.events(leaf).into_iter().filter(|stored| {
        matches!(stored.event.kind.as_str(), "user_message" | "assistant_message")
    });
    let ids: Vec<_> = log.map(|stored| stored.event.id.to_string()).collect();
    assert_eq!(ids, played.visible());
    assert!(scene.import(&path).sessions.iter().all(|session| session.appended == 0));
    assert!(!scene.restore(leaf).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// After any operations, with any number of imports between them, the leaf contains the
    /// messages that opencode shows, and the lines are restored.
    #[test]
    fn the_leaf_is_what_the_program_shows(done in proptest::collection::vec(does(), 0..24)) {
        the_leaf_is_shown(done);
    }
}

#[test]
fn the_same_messages_are_hidden_again_with_a_new_one() {
    use Does::{GoesOn, Hides, IsImported, Says, ShowsAgain};
    the_leaf_is_shown(vec![Says, Hides(5), IsImported, ShowsAgain, GoesOn, Hides(10)]);
}

#[test]
fn more_messages_go_than_those_that_were_hidden() {
    use Does::{DeletesLast, Hides, IsImported, Says};
    the_leaf_is_shown(vec![Says, Says, Says, Hides(3), IsImported, Hides(1), Says, DeletesLast]);
}
