//! Tests of the way back to earlier files: what would change is shown first, and it can be undone.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use forklore_core::workspace::Workspace;
use forklore_engine::Create;
use forklore_sqlite::{Options, SqliteStore};
use forklore_ui::Purpose;
use forklore_workspace::WorkspaceFiles;
use ratatui::crossterm::event::KeyCode;
use tempfile::TempDir;

use crate::stage::{Stage, append, engine_on, id};

/// A session with files, and an interface that reads it.
struct Scene {
    stage: Stage,
    folder: TempDir,
}

/// Two turns: the first one changes a file, the second one removes one.
fn scene() -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap().join("project");
    fs::create_dir(&project).unwrap();
    let store = SqliteStore::open(&folder.path().join("store.db"), Options::default()).unwrap();
    let engine = engine_on(Arc::new(store));
    let workspace = Workspace::new(project.to_str().unwrap());
    let create = Create {
        id: Some(id("work")),
        title: Some("Work".to_owned()),
        ..Create::in_workspace(workspace)
    };
    engine.create(&create).unwrap();
    let files = WorkspaceFiles::open(&folder.path().join("snapshots"), Vec::new());
    let record = || {
        let header = engine.show(&id("work")).unwrap();
        files.snapshot(&engine, &header, &project).unwrap();
    };
    fs::write(project.join("a.txt"), "one\n").unwrap();
    record();
    append(&engine, "work", &[("user_message", r#"{"content":"first"}"#)]);
    fs::write(project.join("a.txt"), "two\n").unwrap();
    append(&engine, "work", &[("assistant_message", r#"{"content":"Done once."}"#)]);
    record();
    append(&engine, "work", &[("user_message", r#"{"content":"second"}"#)]);
    fs::remove_file(project.join("a.txt")).unwrap();
    append(&engine, "work", &[("assistant_message", r#"{"content":"Done twice."}"#)]);
    record();
    let purpose = Purpose::Read(id("work"));
    let stage = Stage::with_files(engine, (90, 24), purpose, Some(Arc::new(files)));
    Scene { stage, folder }
}

impl Scene {
    fn file(&self) -> PathBuf {
        self.folder.path().join("project/a.txt")
    }

    fn text(&self) -> Option<String> {
        fs::read_to_string(self.file()).ok()
    }

    fn shows(&mut self, text: &str) {
        let screen = self.stage.screen();
        assert!(screen.contains(text), "{text}: {screen}");
    }
}

#[test]
fn conversation_and_files_go_back_and_forth() {
    let mut scene = scene();
    // The last prompt: before it is what is offered first.
    scene.stage.press("Gkkw");
    insta::assert_snapshot!("rewind_where", scene.stage.screen());
    scene.stage.key(KeyCode::Enter);
    insta::assert_snapshot!("rewind_what", scene.stage.screen());
    scene.stage.press("b");
    scene.shows("would write or remove: 1 file written, 0 files removed");
    scene.shows("added a.txt");
    scene.shows("The conversation goes on after message:1, in a fork.");
    // Nothing happens unless it is confirmed.
    scene.stage.key(KeyCode::Enter);
    assert_eq!(scene.text(), None);
    scene.stage.press("wbby");
    scene.shows("Rewound");
    scene.shows("1 file written, 0 files removed");
    assert_eq!(scene.text().as_deref(), Some("two\n"));
    scene.stage.press("o");
    let screen = scene.stage.screen();
    assert!(screen.contains("Done once.") && !screen.contains("second"), "{screen}");
    // The undo is found again later, also from the fork, which it closes.
    scene.stage.press("wu").follow();
    scene.shows("Undone");
    assert_eq!(scene.text(), None);
    scene.stage.press("r");
    scene.shows("Undone");
    assert_eq!(scene.text().as_deref(), Some("two\n"));
}

#[test]
fn files_or_conversation_go_back_alone() {
    let mut scene = scene();
    scene.stage.press("Gkkwbf");
    scene.shows("would write or remove: 1 file written");
    scene.stage.press("y");
    assert_eq!(scene.text().as_deref(), Some("two\n"));
    scene.stage.press("u");
    scene.shows("Undone");
    assert_eq!(scene.text(), None);
    scene.stage.press("nwbc");
    let screen = scene.stage.screen();
    assert!(!screen.contains("would write"), "{screen}");
    scene.stage.press("y");
    scene.shows("The conversation goes on in a fork.");
    assert_eq!(scene.text(), None);
}

#[test]
fn a_folder_that_is_elsewhere_is_not_touched() {
    let mut scene = scene();
    fs::remove_dir_all(scene.folder.path().join("project")).unwrap();
    scene.stage.press("Gkkwbb");
    scene.shows("cannot be taken back here");
    scene.stage.press("wu");
    scene.shows("cannot be taken back here");
    scene.stage.press("wbcy");
    scene.shows("The conversation goes on in a fork.");
    assert!(!scene.folder.path().join("project").exists());
}
