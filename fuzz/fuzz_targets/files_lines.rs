//! Fuzzes the files store: replaces lines of a session file by any lines with valid checksums. The
//! file must be read or refused, and the other sessions must remain readable.
#![no_main]

use std::path::{Path, PathBuf};

use forklore::Engine;
use forklore::engine::{Batch, Create, Fork, ListRequest, LogRange, NewEvent};
use forklore::core::SessionId;
use forklore::core::workspace::Workspace;
use forklore_files::FilesStore;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static SCENE: Scene = Scene::new();
}

struct Scene {
    dir: tempfile::TempDir,
    /// The path of the session file that is overwritten. `lines` contains its original lines.
    file: PathBuf,
    lines: Vec<String>,
}

fn open(dir: &Path) -> Engine {
    let store = FilesStore::open(dir, Default::default()).expect("a store");
    Engine::new(std::sync::Arc::new(store)).with_agent_formats(forklore::formats::AGENT_FORMATS)
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let dir = dir.expect("a folder");
        let engine = open(dir.path());
        for name in ["fuzzed", "other"] {
            let id = Some(name.parse().expect("an id"));
            let create = Create { id, ..Create::in_workspace(Workspace::new("/fuzz")) };
            let id = engine.create(&create).expect("a root").id;
            let events = vec![NewEvent::user("hi").expect("an event")];
            engine.append(&id, &Batch::from(events)).expect("an append");
        }
        let parent: SessionId = "fuzzed".parse().expect("an id");
        engine.fork(&Fork::of(parent)).expect("a fork");
        let file = find(dir.path(), "fuzzed.jsonl").expect("its file");
        let text = std::fs::read_to_string(&file).expect("its lines");
        Self { dir, file, lines: text.lines().map(str::to_owned).collect() }
    }
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    for entry in std::fs::read_dir(folder).ok()? {
        let path = entry.ok()?.path();
        let found = if path.is_dir() { find(&path, name) } else { Some(path) };
        if let Some(path) = found.filter(|path| path.ends_with(name)) {
            return Some(path);
        }
    }
    None
}

/// Appends a valid checksum to a line, in the form in which the store writes it.
fn seal(line: &str) -> String {
    let fields = line.strip_suffix('}').unwrap_or(line);
    format!("{fields},\"crc\":\"{:08x}\"}}\n", crc32fast::hash(fields.as_bytes()))
}

fuzz_target!(|bytes: &[u8]| {
    let Some((count, text)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    SCENE.with(|scene| {
        let count = usize::from(*count) % (scene.lines.len() + 1);
        let intact = scene.lines.iter().take(count).map(|line| format!("{line}\n"));
        let lines: String = intact.chain(text.lines().map(seal)).collect();
        std::fs::write(&scene.file, lines).expect("the file");
        let engine = open(scene.dir.path());
        let id: SessionId = "fuzzed".parse().expect("an id");
        let _ = (engine.show(&id), engine.load(&id), engine.stats(None));
        let _ = engine.log(&id, LogRange::default(), &mut Vec::new());
        let _ = engine.verify(None);
        let listing = engine.list(&ListRequest::default()).expect("a list");
        assert!(listing.sessions.iter().any(|header| header.id.as_str() == "other"));
    });
});
