//! Imports files that grow between imports. The sessions must be the same as after an import of the
//! complete file.

use forklore_store::sources::SourceSpan;
use sha2::{Digest, Sha256};

use crate::files::testdata;
use crate::scene::Scene;

/// Imports the file several times: with its first `cuts[0]` bytes, then with its first `cuts[1]`
/// bytes, and so on, and last with all bytes.
fn grown(name: &str, bytes: &[u8], cuts: &[usize], scene: Scene) -> Scene {
    let dialect = match name {
        "pi.jsonl" => "pi",
        name if name.starts_with("rollout") => "codex",
        _ => "claude",
    };
    for cut in cuts.iter().copied().chain([bytes.len()]) {
        scene.import_as(&scene.file(name, &bytes[..cut]), dialect);
    }
    scene
}

/// A file, and the store into which the complete file was imported at once.
struct Whole<'a> {
    name: &'a str,
    bytes: &'a [u8],
    scene: Scene,
}

impl<'a> Whole<'a> {
    fn of(name: &'a str, bytes: &'a [u8]) -> Self {
        Self { name, bytes, scene: grown(name, bytes, &[], Scene::new()) }
    }

    /// Imports the file in parts and compares the result with that of the import at once.
    fn compare(&self, cuts: &[usize], scene: Scene) {
        let parts = grown(self.name, self.bytes, cuts, scene);
        let whole = &self.scene;
        assert!(!whole.sessions().is_empty());
        assert_eq!(parts.everything(), whole.everything(), "{} at {cuts:?}", self.name);
        for session in whole.sessions() {
            assert_eq!(parts.ranges(&session.id), whole.ranges(&session.id), "{cuts:?}");
            assert_eq!(parts.restore(&session.id), whole.restore(&session.id));
        }
    }
}

/// A session of Codex with a rollback and a compaction.
const ROLLED_BACK: &str = "rollout-2026-07-25T17-26-42-019f9a4a-9064-76f6-9a14-49f44c2dc40f.jsonl";

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let read = |path: &str| std::fs::read(testdata().join(path)).unwrap();
    let claude = "claude/projects/-home-dev-work-space-a-proj-41";
    vec![
        ("pi.jsonl", read("pi/demo.jsonl")),
        ("session-1.jsonl", read(&format!("{claude}/9cb2dfeb-c188-4250-bac1-2b1856ffaa9b.jsonl"))),
        ("session-2.jsonl", read("claude/malformed/two-writers-interleaved.jsonl")),
        ("session-3.jsonl", read("claude/malformed/crlf.jsonl")),
        ("session-4.jsonl", read("claude/malformed/interior-garbage.jsonl")),
        ("session-5.jsonl", read("claude/malformed/nul-record.jsonl")),
        (ROLLED_BACK, read(&format!("codex/home/sessions/2026/07/25/{ROLLED_BACK}"))),
    ]
}

#[test]
fn growth_at_every_line_ends_as_the_whole_file() {
    for (name, bytes) in samples() {
        let ends: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
        let whole = Whole::of(name, &bytes);
        for end in &ends {
            whole.compare(&[*end], Scene::new());
        }
        whole.compare(&ends, Scene::new());
        whole.compare(&ends, Scene::sqlite());
        whole.compare(&ends, Scene::files());
    }
}

#[test]
fn a_torn_tail_at_every_byte_ends_as_the_whole_file() {
    let claude = std::fs::read(testdata().join("claude/malformed/bom.jsonl")).unwrap();
    let claude = &claude[..1_500];
    let strange = b"\xef\xbb\xbf{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"cwd\":\"/w\"}\r\n\
        {\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01Z\",\"message\":{\"role\":\"user\",\"content\":\"hi \xc3\xa9 \xff\"}}\
        {\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"timestamp\":\"2026-01-01T00:00:02Z\",\"message\":{\"role\":\"assistant\",\"content\":[]}} \0\0 garbage\n\
        \n\
        {\"type\":\"message\",\"id\":\"c\",\"parentId\":\"a\",\"timestamp\":\"2026-01-01T00:00:03Z\",\"message\":{\"role\":\"user\",\"content\":\"{}\"}}\r\n7\n\
        {\"type\":\"message\",\"id\":\"d\",\"parentId\":\"c\",\"timestamp\":\"2026-01-01T00:00:04Z\"}";
    for (name, bytes) in [("session-1.jsonl", claude), ("pi.jsonl", &strange[..])] {
        let whole = Whole::of(name, bytes);
        for cut in 0..bytes.len() {
            whole.compare(&[cut], Scene::new());
        }
    }
}

/// An unfinished last line is in the restored file, on every store, whatever becomes of the line.
#[test]
fn an_unfinished_last_line_is_restored_until_it_is_completed() {
    let first = r#"{"role":"user","content":"hi"}"#;
    let torn = ["", "\n", "\n{\"role\":\"us", "\n{\"role\":\"user\",\"content\":\"h", "\n[\"no"];
    let then = ["\n{\"role\":\"user\",\"content\":\"h\"}\n{\"ro", "\n", "\n{}\n[", "\n{}\n"];
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        for rest in torn.iter().chain(&torn[1..3]).chain(&then) {
            let bytes = format!("{first}{rest}");
            let report = scene.import_as(&scene.file("torn.jsonl", bytes.as_bytes()), "plain");
            let session = &report.sessions.last().unwrap().session_id;
            assert_eq!(scene.restore(session), bytes.as_bytes(), "{rest:?}");
            let file = scene.engine.files(session).unwrap().remove(0).about;
            let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((file.bytes, file.sha256), (bytes.len() as u64, sha256), "{rest:?}");
        }
    }
}

/// Lets a file grow and be imported each time that some of it is restored.
struct Growing<'a> {
    scene: &'a Scene,
    lines: Vec<&'static str>,
    file: Vec<u8>,
    restored: Vec<u8>,
}

impl std::io::Write for Growing<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(line) = self.lines.pop() {
            self.file.extend(line.as_bytes());
            self.scene.import_as(&self.scene.file("grows.jsonl", &self.file), "plain");
        }
        self.restored.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_that_is_imported_further_while_it_is_restored_is_not_damaged() {
    let line = "{\"role\":\"user\",\"content\":\"more\"}\n";
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let file = line.as_bytes().to_vec();
        let report = scene.import_as(&scene.file("grows.jsonl", &file), "plain");
        let session = &report.sessions.last().unwrap().session_id;
        let lines = vec!["{\"role\":\"us", line, line];
        let mut growing = Growing { scene: &scene, lines, file, restored: Vec::new() };
        scene.engine.restore(session, &mut growing).unwrap();
        assert!(growing.file.starts_with(&growing.restored));
        assert!(growing.restored.starts_with(line.as_bytes()));
        assert_eq!(scene.restore(session), growing.file);
    }
}

/// A line that grows between imports is stored once, however many imports see it unfinished.
#[test]
fn an_unfinished_line_is_not_stored_again_with_every_import() {
    let scene = Scene::new();
    let first = r#"{"role":"user","content":"hi"}"#;
    let long = format!("{first}\n{{\"role\":\"user\",\"content\":\"{}", "x".repeat(100));
    let mut session = None;
    for len in (first.len() + 1)..=long.len() {
        let report = scene.import_as(&scene.file("torn.jsonl", &long.as_bytes()[..len]), "plain");
        session = report.sessions.first().map(|found| found.session_id.clone());
    }
    let session = session.unwrap();
    assert_eq!(scene.restore(&session), long.as_bytes());
    let source = scene.source(&session).id;
    let spans = (0..).map_while(|step| scene.store.source_spans(source, step).unwrap()).flatten();
    let waiting = spans.filter_map(|span| match span {
        SourceSpan::Waiting { bytes, .. } => Some(bytes.len()),
        _ => None,
    });
    assert_eq!(waiting.sum::<usize>(), long.len() - first.len() - 1);
}

/// Tests a file that is long enough to be written on a separate thread, with a few branches.
#[test]
fn a_long_file_is_the_same_in_one_go_and_in_parts() {
    let text = "lorem ipsum ".repeat(250);
    let record = |n: usize| {
        let parent = match n {
            0 => "null".to_owned(),
            n if n.is_multiple_of(401) => format!("\"r{}\"", n / 2),
            n => format!("\"r{}\"", n - 1),
        };
        format!(
            "{{\"type\":\"message\",\"id\":\"r{n}\",\"parentId\":{parent},\
             \"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":{{\"role\":\"user\",\
             \"content\":\"{text}\"}}}}\n"
        )
    };
    let bytes: String = (0..3_200).map(record).collect();
    assert!(bytes.len() > 9 << 20);
    let whole = Whole::of("pi.jsonl", bytes.as_bytes());
    assert_eq!(whole.scene.sessions().len(), 8);
    whole.compare(&[bytes.len() / 3], Scene::sqlite());
    whole.compare(&[bytes.len() / 3], Scene::files());
    assert_eq!(whole.scene.restore(&"pi".parse().unwrap()), bytes.as_bytes());
}
