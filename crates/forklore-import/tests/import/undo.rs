//! Undoes imports. An import is one operation, however many steps and files it has.

use forklore_core::SessionId;
use forklore_core::operation::{OperationId, OperationKind, Outcome};
use forklore_engine::{Error, OperationAnswer, Undo};
use forklore_import::ImportOptions;

use crate::scene::Scene;

fn scenes() -> [Scene; 3] {
    [Scene::new(), Scene::sqlite(), Scene::files()]
}

/// Returns a Pi session file with this many messages.
fn pi(id: &str, messages: usize) -> String {
    let mut text = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\
         \"cwd\":\"/demo\"}}\n"
    );
    let mut parent = String::from("null");
    for number in 0..messages {
        text += &format!(
            "{{\"type\":\"message\",\"id\":\"{id}-m{number}\",\"parentId\":{parent},\"timestamp\":\
             \"2026-01-01T00:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"q{number}\",\
             \"timestamp\":1767225601000}}}}\n"
        );
        parent = format!("\"{id}-m{number}\"");
    }
    text
}

fn operation(scene: &Scene, number: u64) -> OperationAnswer {
    scene.engine.operation(OperationId(number)).unwrap()
}

fn sessions(outcomes: &[Outcome]) -> Vec<&SessionId> {
    let mut sessions: Vec<_> = outcomes.iter().map(Outcome::session).collect();
    sessions.sort();
    sessions
}

#[test]
fn an_import_of_many_files_is_one_operation() {
    for scene in scenes() {
        let folder = scene.folder.path().join("files");
        std::fs::create_dir(&folder).unwrap();
        for number in 0..40 {
            let name = format!("s{number}");
            std::fs::write(folder.join(format!("{name}.jsonl")), pi(&name, 3)).unwrap();
        }
        let report = scene.import(&folder);
        assert_eq!(report.files, 40);
        let recorded = operation(&scene, 1);
        assert_eq!((recorded.summary.kind, recorded.summary.sessions), (OperationKind::Import, 40));
        let head = |session: &SessionId| scene.engine.show(session).unwrap().head_seq();
        for outcome in &recorded.outcomes {
            let Outcome::Created { session_id, head_seq } = outcome else { panic!("{outcome:?}") };
            assert_eq!(*head_seq, head(session_id));
        }
        assert!(scene.engine.operation(OperationId(2)).is_err());
        let undone = scene.engine.undo(&Undo::default()).unwrap();
        assert_eq!(sessions(&undone.outcomes), sessions(&recorded.outcomes));
        assert_eq!(scene.import(&folder).sessions.len(), 0, "the trash is skipped");
        let again = ImportOptions { again: true, ..Scene::options() };
        assert_eq!(scene.import_with(&folder, &again).sessions.len(), 40);
        scene.engine.undo(&Undo::of(OperationId(3))).unwrap();
        scene.engine.undo(&Undo::of(OperationId(2))).unwrap();
        assert_eq!(head(recorded.outcomes[0].session()), 2);
    }
}

#[test]
fn a_file_of_many_steps_is_one_operation() {
    for scene in scenes() {
        // More than a step has.
        let mut text = pi("long", 20_000);
        let path = scene.file("long.jsonl", text.as_bytes());
        scene.import(&path);
        let recorded = operation(&scene, 1);
        let head_seq = scene.engine.show(&"long".parse().unwrap()).unwrap().head_seq();
        let created = Outcome::Created { session_id: "long".parse().unwrap(), head_seq };
        assert_eq!(recorded.outcomes, [created]);
        text = pi("long", 20_001);
        let path = scene.file("long.jsonl", text.as_bytes());
        scene.import(&path);
        assert!(scene.engine.operation(OperationId(2)).is_err(), "it only added events");
        let refused = scene.engine.undo(&Undo::default()).unwrap_err();
        assert!(matches!(refused, Error::NothingToUndo), "{refused}");
        let refused = scene.engine.undo(&Undo::of(OperationId(1))).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "operation 1 cannot be undone any more: session long has gained 1 event since"
        );
    }
}

#[test]
fn branches_of_a_file_come_back_with_their_labels() {
    for scene in scenes() {
        let demo =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pi/demo.jsonl");
        scene.import(&demo);
        let all = || {
            let filter = forklore_store::port::Filter::default();
            let mut all = scene.store.sessions(&filter, None, 0).unwrap().all().unwrap();
            all.sort_by(|a, b| a.id.cmp(&b.id));
            all
        };
        let before = all();
        scene.engine.undo(&Undo::default()).unwrap();
        assert_eq!(all(), []);
        scene.engine.undo(&Undo::of(OperationId(2))).unwrap();
        assert_eq!(all(), before);
    }
}
