//! Compares the tree, the leaf and the counts of imported files with the recorded answers of the
//! agents' own libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use forklore_core::{Message, Role, SessionKind};
use forklore_store::port::LogEntry;
use serde_json::Value;

use crate::files::{outside, testdata};
use crate::scene::Scene;

/// The files for which forklore's answer differs from the agent's, with the fields that differ and
/// the reason. The pages in `docs/formats/` list the same differences.
const OTHERWISE: &[(&str, &[&str], &str)] = &[
    (
        "claude/malformed/parent-cycle.jsonl",
        &["leaf", "chain"],
        "parents are known by what stands before a record, so a cycle is cut at its first record",
    ),
    (
        "9cb2dfeb-c188-4250-bac1-2b1856ffaa9b.jsonl",
        &["chain"],
        "the history before a compaction belongs to the session",
    ),
    ("goal-status/active.jsonl", &["chain"], "a session without messages is one all the same"),
    ("goal-status/cleared.jsonl", &["chain"], "a session without messages is one all the same"),
    ("goal-status/completed.jsonl", &["chain"], "a session without messages is one all the same"),
    ("goal-status/edit-active.jsonl", &["chain"], "a session without messages is one all the same"),
    (
        "2026-07-25T17-25-10-488Z_935f39c6-37ea-4fa9-866f-2f570793300d.jsonl",
        &["leaf"],
        "records of the first version have no ids, and Pi invents others at every opening",
    ),
    (
        "before-compaction.jsonl",
        &["leaf"],
        "records of the first version have no ids, and Pi invents others at every opening",
    ),
    (
        "pi/malformed/no-header.jsonl",
        &["entries", "treeNodes", "roots", "leaf"],
        "Pi refuses or empties a file without its header; its records are there",
    ),
    (
        "17-26-42-019f9a4a-9064-76f6-9a14-49f44c2dc40f.jsonl",
        &["turns"],
        "a compaction is a turn of Codex; here turns begin with what a person said",
    ),
    (
        "codex/malformed/rollout-2026-08-01T00-00-01-019f9a5d-9a50-7d50-948a-a86ff44b8b3c.jsonl",
        &["turns"],
        "a compaction is a turn of Codex; here turns begin with what a person said",
    ),
    (
        "codex/malformed/rollout-2026-08-01T00-00-02-019f9a5d-a3d8-77c9-895a-d6f0999d5186.jsonl",
        &["turns"],
        "a compaction is a turn of Codex; here turns begin with what a person said",
    ),
    (
        "17-20-00-019f9a4a-7a05-78b2-874f-13d3b00f35af.jsonl.zst",
        &["turns"],
        "Codex counts the turn that was begun last, in which nobody has said anything",
    ),
];

fn expectations(dialect: &str, inside: &str, names: &[&str]) -> Vec<(PathBuf, Value)> {
    let mut files = vec![(testdata().join(dialect), testdata().join(inside))];
    if let Some(outside) = outside() {
        files.extend(names.iter().map(|name| (outside.clone(), outside.join(name))));
    }
    let mut all = Vec::new();
    for (folder, list) in files {
        let list = std::fs::read_to_string(list).unwrap();
        let mut list: BTreeMap<String, Value> = serde_json::from_str(&list).unwrap();
        if let Some(files) = list.remove("files") {
            list = serde_json::from_value(files).unwrap();
        }
        all.extend(list.into_iter().map(|(path, answer)| (folder.join(path), answer)));
    }
    all
}

fn field(stored: &LogEntry, name: &str) -> Option<Value> {
    let data: Value = serde_json::from_str(stored.event.data.get()).ok()?;
    data.get(name).cloned()
}

#[derive(Debug, Default, PartialEq)]
struct Answer(BTreeMap<&'static str, Value>);

fn compare(path: &std::path::Path, theirs: &Value, ours: &Answer) -> Vec<String> {
    let mut differ = Vec::new();
    if theirs.get("error").is_some() {
        // The agent crashes on the file or refuses it. forklore must have imported the file.
        assert!(!ours.0.is_empty());
        return differ;
    }
    for (name, ours) in &ours.0 {
        let excused = OTHERWISE.iter().any(|(file, fields, _)| {
            path.to_string_lossy().ends_with(file) && fields.contains(name)
        });
        let theirs = theirs.get(name).unwrap_or(&Value::Null);
        if theirs != ours && !excused {
            differ.push(format!("{}: {name} is {theirs}, here {ours}", path.display()));
        }
    }
    differ
}

const CHAIN: [&str; 5] = ["user", "assistant", "progress", "system", "attachment"];

fn is_any(stored: &LogEntry, kinds: &[&str]) -> bool {
    field(stored, "type").is_some_and(|kind| kinds.iter().any(|name| kind == *name))
}

fn claude(path: &std::path::Path) -> Answer {
    let scene = Scene::new();
    let report = scene.import_as(path, "claude");
    let all: Vec<LogEntry> = scene
        .sessions()
        .iter()
        .flat_map(|session| {
            let own = |stored: &LogEntry| Scene::is_own(stored, &session.id);
            scene.events(&session.id).into_iter().filter(own).collect::<Vec<_>>()
        })
        .collect();
    let entries = all.iter().filter(|stored| is_any(stored, &CHAIN)).count();
    let mut answer = Answer::default();
    answer.0.insert("entries", entries.into());
    let meant = report.sources.first().and_then(|file| file.meant());
    let log = meant.map(|(leaf, _)| scene.events(leaf)).unwrap_or_default();
    let spoken: Vec<_> = log.iter().filter(|s| is_any(s, &["user", "assistant"])).collect();
    let id =
        |stored: Option<&&LogEntry>| stored.map_or(Value::Null, |s| s.event.id.as_str().into());
    answer.0.insert("leaf", id(spoken.last()));
    answer.0.insert("chain", log.iter().filter(|s| is_any(s, &CHAIN)).count().into());
    answer
}

fn pi(path: &std::path::Path) -> Answer {
    let scene = Scene::new();
    let report = scene.import_as(path, "pi");
    let sessions = scene.sessions();
    let mut entries = 0;
    let mut points = BTreeSet::new();
    let mut roots = 0;
    for session in &sessions {
        let events = scene.events(&session.id);
        let own = events.iter().filter(|stored| stored.origin.session_id == session.id);
        entries += own.filter(|s| s.event.kind.as_str() != "session_fork").count();
        let Some(cut) = &session.cut else {
            roots += 1;
            continue;
        };
        assert_eq!(session.kind, SessionKind::Branch);
        match cut.seq {
            None => roots += 1,
            Some(_) => {
                let before = &events[usize::try_from(cut.inheritable).unwrap()];
                points.insert(before.origin.clone());
            }
        }
    }
    let file = report.sources.first();
    let leaf = file.and_then(|file| file.meant()).and_then(|(leaf, _)| scene.events(leaf).pop());
    let title = file.and_then(|file| file.first.as_ref()).map(|first| scene.engine.show(first));
    let title = title.and_then(|header| header.unwrap().title);
    let mut answer = Answer::default();
    answer.0.insert("entries", entries.into());
    answer.0.insert("treeNodes", entries.into());
    answer.0.insert("roots", roots.into());
    answer.0.insert("branchPoints", points.len().into());
    answer.0.insert("leaf", leaf.map_or(Value::Null, |s| s.event.id.as_str().into()));
    answer.0.insert("name", title.map_or(Value::Null, Value::String));
    answer
}

/// Returns Codex's recorded answer about a file that Codex resumes or at least shows. Returns an
/// object with `error` if Codex refuses the file.
fn reported_by_codex(theirs: &Value) -> Value {
    let shows = |answer: &&Value| answer["turns"].as_u64().is_some_and(|turns| turns > 0);
    let Some(answer) = [&theirs["resume"], &theirs["read"]].into_iter().find(shows) else {
        return serde_json::json!({"error": "it is refused"});
    };
    let first = answer["users"][0].as_str().and_then(|user| user.split_once("\"text\": \""));
    let first = first.map(|(_, text)| text[..FIRST].to_owned());
    serde_json::json!({"name": theirs["name"], "turns": answer["turns"], "first": first})
}

/// Number of leading characters of the first message that are compared.
const FIRST: usize = 20;

fn codex(path: &std::path::Path, theirs: &Value) -> Answer {
    let scene = Scene::new();
    // The answers for the files in `codex/home` were recorded with all these files present, the
    // other answers with a single file. One other file needs them too, because it begins after the
    // end of one of them.
    let home = testdata().join("codex/home");
    let together = path.starts_with(&home) || path.to_string_lossy().contains("00-00-06");
    if together {
        scene.import(&home);
    }
    let report = scene.import_as(path, "codex");
    let Some((meant, _)) = report.sources.first().and_then(|file| file.meant()) else {
        // The base of the file is missing, so Codex refuses the file too.
        let mut answer = Answer::default();
        answer.0.insert("error", "it is refused".into());
        return answer;
    };
    let meant = meant.clone();
    let turns = scene.events(&meant).into_iter().filter(|s| s.event.effect.starts_turn);
    let turns: Vec<u64> = turns.map(|stored| stored.seq).collect();
    let first = report.sources[0].first.as_ref().unwrap();
    let title = scene.engine.show(first).unwrap().title;
    let mut records = scene.engine.replay(&meant, None).unwrap().map(Result::unwrap);
    let first = records.find(|record| Some(&record.seq) == turns.first()).map(|record| {
        let text = Message { role: Role::User, content: record.content }.plain_text();
        let text = serde_json::to_string(&text).unwrap();
        text.chars().skip(1).take(FIRST).collect::<String>()
    });
    let mut answer = Answer::default();
    answer.0.insert("turns", turns.len().into());
    answer.0.insert("name", title.map_or(Value::Null, Value::String));
    if theirs["first"].is_string() {
        answer.0.insert("first", first.map_or(Value::Null, Value::String));
    }
    answer
}

#[test]
fn codex_files_are_what_codex_says() {
    let all = expectations("codex", "codex/EXPECT.json", &["EXPECT-codex-0.169.0.json"]);
    let all = all.into_iter().filter(|(path, _)| !path.to_string_lossy().contains("_synthetic"));
    let reported = all.map(|(path, theirs)| (path, reported_by_codex(&theirs)));
    let (mut differ, mut compared) = (Vec::new(), 0);
    for (path, theirs) in reported {
        compared += usize::from(theirs.get("error").is_none());
        differ.extend(compare(&path, &theirs, &codex(&path, &theirs)));
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(compared > 10, "{compared}");
}

#[test]
fn claude_files_are_what_the_agent_sdk_says() {
    let all = expectations("claude", "claude/EXPECT.json", &["EXPECT-claude-sdk.json"]);
    let differ: Vec<_> =
        all.iter().flat_map(|(path, theirs)| compare(path, theirs, &claude(path))).collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn pi_files_are_what_pi_says() {
    let names = ["EXPECT-pi-1.5.2.json", "EXPECT-pi-0.74.2.json"];
    let all = expectations("pi", "pi/EXPECT.json", &names);
    let differ: Vec<_> =
        all.iter().flat_map(|(path, theirs)| compare(path, theirs, &pi(path))).collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
