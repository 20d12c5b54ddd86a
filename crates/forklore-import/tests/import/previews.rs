//! Tests of imports into a preview of a store: the result is that of the import into the store, and
//! the store does not change.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forklore_import::Importer;
use forklore_store::memory::Preview;

use crate::scene::Scene;

/// Session files of the test data, one for each way in which a file composes sessions.
const FILES: [&str; 6] = [
    "pi/demo.jsonl",
    "plain/tools.jsonl",
    "claude/projects",
    "codex/home/sessions",
    "gemini/synthetic/tmp",
    "ak-coder/history",
];

fn test_data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

/// Returns the files at a path, and those in the folders below it.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut inside: Vec<_> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    inside.sort();
    inside.iter().flat_map(|path| files(path)).collect()
}

/// Imports `path` into a preview of the scene's store, and then into the store. Asserts that both
/// answers are the same, also of a second import, and that the preview changed nothing.
fn same(scene: &Scene, path: &Path) {
    let before = scene.everything();
    let preview: Arc<dyn forklore_store::Store> =
        Arc::new(Preview::over(scene.engine.shared_store()));
    let previewed = Scene {
        engine: scene.engine.on_store(preview.clone()),
        store: preview,
        folder: tempfile::tempdir().unwrap(),
    };
    let import = |scene: &Scene| {
        let importer = Importer::new(&scene.engine);
        let report = importer.import(&[path.to_owned()], &Scene::options(), &mut |_| {}).unwrap();
        let answer = serde_json::to_value(report.answer()).unwrap();
        let restored: Vec<_> = report
            .sessions
            .iter()
            .map(|session| {
                let mut bytes = Vec::new();
                let restored = scene.engine.restore(&session.session_id, &mut bytes);
                (bytes, restored.map_err(|error| error.to_string()).is_ok())
            })
            .collect();
        (answer, restored, scene.everything())
    };
    let planned = [import(&previewed), import(&previewed)];
    assert_eq!(scene.everything(), before, "the preview changed the store: {path:?}");
    let done = [import(scene), import(scene)];
    assert_eq!(planned, done, "{path:?}");
}

fn previews(scene: &Scene) {
    for name in FILES {
        for file in files(&test_data(name)) {
            let bytes = std::fs::read(&file).unwrap();
            let folder = scene.folder.path().join(name.replace('/', "-"));
            std::fs::create_dir_all(&folder).unwrap();
            let path = folder.join(file.file_name().unwrap());
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            let cut = |line: usize| {
                let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
                ends.map(|(at, _)| at + 1).nth(line).unwrap_or(bytes.len())
            };
            // The file is new, grows, is rewritten, and lies at another place too.
            std::fs::write(&path, &bytes[..cut(lines / 2)]).unwrap();
            same(scene, &path);
            std::fs::write(&path, &bytes).unwrap();
            same(scene, &path);
            let rewritten = [&bytes[..cut(lines / 3)], &bytes[cut(lines / 3 + 1)..]].concat();
            std::fs::write(&path, rewritten).unwrap();
            same(scene, &path);
            let other = folder.join(format!("other-{}", path.file_name().unwrap().display()));
            std::fs::copy(&path, &other).unwrap();
            same(scene, &other);
        }
    }
}

#[test]
fn a_preview_of_a_store_in_memory_answers_as_the_import() {
    previews(&Scene::new());
}

#[test]
fn a_preview_of_an_sqlite_store_answers_as_the_import() {
    previews(&Scene::sqlite());
}

#[test]
fn a_preview_of_a_files_store_answers_as_the_import() {
    previews(&Scene::files());
}

#[test]
fn an_id_and_a_label_of_the_store_are_in_use_in_its_preview_too() {
    let scene = Scene::new();
    let create = |id: &str| forklore_engine::Create {
        id: Some(id.parse().unwrap()),
        ..forklore_engine::Create::in_workspace(forklore_core::workspace::Workspace::new("/here"))
    };
    scene.engine.create(&create("Taken")).unwrap();
    let fork = |label: &str| forklore_engine::Fork {
        label: Some(label.parse().unwrap()),
        at: Some(forklore_core::Selector::Start),
        ..forklore_engine::Fork::of("Taken".parse().unwrap())
    };
    scene.engine.fork(&fork("plan-b")).unwrap();
    let preview = Arc::new(Preview::over(scene.engine.shared_store()));
    let engine = scene.engine.on_store(preview);
    for id in ["Taken", "taken"] {
        let refused = engine.create(&create(id)).unwrap_err();
        assert_eq!(refused.kind(), forklore_core::ErrorKind::AlreadyExists, "{id}");
    }
    let refused = engine.fork(&fork("plan-b")).unwrap_err();
    assert_eq!(refused.kind(), forklore_core::ErrorKind::AlreadyExists);
    let child = engine.fork(&fork("plan-c")).unwrap().child_session_id;
    assert_eq!(engine.branches(&child).unwrap().branches.len(), 3);
    assert!(scene.engine.show(&child).is_err());
}
