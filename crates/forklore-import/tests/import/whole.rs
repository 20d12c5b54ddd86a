//! Checks that every regular file of the samples is restored byte for byte, except the listed ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use forklore_engine::Engine;
use forklore_formats::AGENT_FORMATS;
use forklore_import::Importer;
use forklore_sqlite::{Options, SqliteStore};

use crate::files::{content, outside, testdata};
use crate::scene::Scene;

/// The files that are not restored: the end of their path, and the reason.
const NOT_RESTORED: &[(&str, &str)] = &[
    ("/EXPECT*.json", "answers of the agents' own libraries, for the tests"),
    ("/fixture.json", "what a collection says of its samples"),
    ("/README.md", "of the collection"),
    ("/SOURCES.md", "of the collection"),
    ("/LICENSES/*.txt", "of the collection"),
    ("/LICENSE-APACHE", "of the collection"),
    ("/NOTICE*", "of the collection"),
    ("/.gitattributes", "of the repository"),
    ("/testdata/stores/*", "stores of forklore itself"),
    ("/testdata/attachments/*", "what is attached to sessions of forklore itself"),
    ("/session_index.jsonl", "the names of all of Codex's sessions at once; each is a title here"),
    ("/.project_root", "the folder of a project of Gemini CLI, which its sessions name"),
    ("/gemini*/projects.json", "the folders of all of Gemini CLI's projects at once"),
    ("/gemini/genuine/projects.json", "the folders of all of Gemini CLI's projects at once"),
    ("/state_*.sqlite", "Codex's index of its session files, which it can make anew"),
    ("/state_*.sqlite-journal", "SQLite's own, of the same"),
    ("/opencode.db", "a database: its sessions come back as lines"),
    ("/opencode.db-journal", "SQLite's own, of the same"),
    ("/s-ope-02/root/storage/*", "opencode's older folders: their sessions come back as lines"),
    ("/cline/*", "Cline's sessions are not read"),
    ("/crush/*", "crush's sessions are not read"),
    ("/goose/*", "goose's sessions are not read"),
    ("/zed/*", "Zed's sessions are not read"),
    ("/claude/malformed/empty.jsonl", "nothing is in it"),
    ("/claude/malformed/summary-only.jsonl", "it tells of a session and holds none"),
    ("/session-2026-08-03T10-00-dead.jsonl", "it has a header and no message"),
    ("/s-gm-03-corrupt/*.jsonl", "its only line is torn"),
    ("/testdata/claude/queued_system_messages.jsonl", NO_UUID),
    ("/testdata/claude/tool_call_pending.jsonl", NO_UUID),
    ("/testdata/claude/truncated.jsonl", NO_UUID),
    ("/testdata/claude/valid_session.jsonl", NO_UUID),
    ("/fixtures/medium-conversation.jsonl", NO_UUID),
    ("/__fixtures__/duplicate-assistant-response-2.jsonl", NO_UUID),
    ("opencode.nvim/tests/data/*.json", "what opencode tells another program; no session"),
    ("/codex/malformed/rollout-2026-08-01T00-00-04-*.jsonl", NO_BEGINNING),
    ("/codex/malformed/rollout-2026-08-01T00-00-05-*.jsonl", NO_BEGINNING),
    ("/codex/malformed/rollout-2026-08-01T00-00-06-*.jsonl", NO_BEGINNING),
    ("/codex/malformed/rollout-2026-08-01T00-00-07-*.jsonl", NO_BEGINNING),
    ("/s-cod-08-malicious-zstd/*.zst", "it unpacks to more than is ever read"),
];

const NO_BEGINNING: &str = "it continues a file that is not there, and says so as a problem";

const NO_UUID: &str = "nothing in it has a uuid, by which Claude Code knows its records";

/// Checks whether a path matches a pattern. The parts between the stars must occur in order, and
/// the last part at the end of the path.
fn fits(path: &str, pattern: &str) -> bool {
    let parts: Vec<_> = pattern.split('*').collect();
    let mut rest = path;
    for (at, part) in parts.iter().enumerate() {
        let last = at + 1 == parts.len();
        match rest.find(part) {
            _ if last && part.is_empty() => return true,
            _ if last => return rest.ends_with(part),
            Some(found) => rest = &rest[found + part.len()..],
            None => return false,
        }
    }
    false
}

fn regular_files(folder: &Path) -> Vec<PathBuf> {
    let (mut waiting, mut found) = (vec![folder.canonicalize().unwrap()], Vec::new());
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_regular_file_comes_back_or_has_a_reason() {
    let mut missing = Vec::new();
    let mut excused = BTreeSet::new();
    for folder in [Some(testdata()), outside()].into_iter().flatten() {
        let scene = Scene::sqlite();
        let path = scene.folder.path().join("with-databases.sqlite");
        let store = SqliteStore::open(&path, Options::default()).unwrap();
        let engine = Engine::new(std::sync::Arc::new(store)).with_agent_formats(AGENT_FORMATS);
        Importer::new(&engine)
            .import(std::slice::from_ref(&folder), &Scene::options(), &mut |_| {})
            .unwrap();
        for path in regular_files(&folder) {
            let whole = content(&path);
            let name = path.to_string_lossy();
            let reason = NOT_RESTORED.iter().find(|(pattern, _)| fits(&name, pattern));
            if let Some((pattern, _)) = reason {
                excused.insert(*pattern);
                continue;
            }
            let came_back = |session: &forklore_core::SessionId| {
                let files = engine.files(session).unwrap();
                // A file with the same bytes as another file has the same source, so it may be
                // found under the other path.
                let meant = files.iter().filter(|file| file.about.own || file.about.path == *name);
                meant.into_iter().any(|file| {
                    let mut bytes = Vec::new();
                    engine.restore_file(file, &mut bytes).is_ok() && bytes == whole
                })
            };
            let sessions = Importer::new(&engine).sessions_of(&path).unwrap();
            let owners = AGENT_FORMATS.iter().filter_map(|dialect| dialect.belongs_to(&path));
            let owners = owners.flat_map(|of| Importer::new(&engine).sessions_of(&of).unwrap());
            if !sessions.into_iter().chain(owners).any(|session| came_back(&session)) {
                missing.push(name.into_owned());
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(excused.contains("/session_index.jsonl"));
}

#[test]
fn patterns_fit_whole_endings() {
    assert!(fits("/a/EXPECT-pi.json", "/EXPECT*.json") && fits("/a/EXPECT.json", "/EXPECT*.json"));
    assert!(fits("/x/cline/a/b.db", "/cline/*") && fits("/a/NOTICE.md", "/NOTICE*"));
    assert!(!fits("/a/session_index.jsonl.txt", "/session_index.jsonl"));
    assert!(!fits("/a/b.json", "/EXPECT*.json"));
}
