//! Imports files that begin with a copy of another file's records. If the original is imported
//! first, the copy's session is a fork that shares those records. Otherwise it is linked to the
//! original later.

use std::path::Path;

use forklore_core::header::CopyOf;
use forklore_core::{Header, SessionId};
use forklore_engine::{Record, UsageScope};
use forklore_store::port::Children;
use jiff::Timestamp;
use proptest::prelude::*;

use crate::scene::Scene;

const ORIGINAL: &str = "11111111-1111-4111-8111-111111111111";
const COPY: &str = "22222222-2222-4222-8222-222222222222";

/// Returns one chain of Claude Code records. When Claude Code forks a session, it writes such a
/// chain again with another session id.
fn chain(session: &str, texts: &[&str]) -> String {
    let mut lines = String::new();
    let mut parent = "null".to_owned();
    for (at, text) in texts.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        lines += &format!(
            "{{\"parentUuid\":{parent},\"sessionId\":\"{session}\",\"type\":\"{role}\",\
             \"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\
             \"uuid\":\"{text}\",\"timestamp\":\"2026-01-01T00:00:{at:02}Z\",\"cwd\":\"/w\"}}\n"
        );
        parent = format!("\"{text}\"");
    }
    lines
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

fn header(scene: &Scene, session: &str) -> Header {
    scene.engine.show(&id(session)).unwrap()
}

fn ids(scene: &Scene, session: &str) -> Vec<String> {
    let events = scene.events(&id(session)).into_iter();
    let events = events.filter(|stored| stored.event.kind.as_str() != "session_fork");
    events.map(|stored| stored.event.id.to_string()).collect()
}

fn put(scene: &Scene, session: &str, text: &str) -> std::path::PathBuf {
    scene.file(&format!("{session}.jsonl"), text.as_bytes())
}

fn on_every_store(test: fn(&Scene)) {
    [Scene::new(), Scene::sqlite(), Scene::files()].iter().for_each(test);
}

#[test]
fn a_copy_is_a_fork_that_shares_what_was_copied() {
    on_every_store(|scene| {
        let original = chain(ORIGINAL, &["a", "b", "c", "d"]);
        let copy = chain(COPY, &["a", "b", "x", "y"]);
        put(scene, ORIGINAL, &original);
        put(scene, COPY, &copy);
        let report = scene.import(scene.folder.path());
        assert_eq!(report.problems, []);
        let fork = header(scene, COPY);
        assert_eq!(fork.parent_id, Some(id(ORIGINAL)));
        // The own events of the fork are its `session_fork` event and two records.
        assert_eq!((fork.inherited.inheritable, fork.own_events), (2, 3));
        assert_eq!(ids(scene, COPY), ["a", "b", "x", "y"]);
        assert_eq!(ids(scene, ORIGINAL), ["a", "b", "c", "d"]);
        assert_eq!(scene.restore(&id(COPY)), copy.as_bytes());
        assert_eq!(scene.restore(&id(ORIGINAL)), original.as_bytes());
        assert_eq!(
            scene.import(scene.folder.path()).sessions.iter().map(|s| s.appended).max(),
            Some(0)
        );
    });
}

#[test]
fn a_copy_of_the_last_of_many_copies_is_its_fork() {
    on_every_store(|scene| {
        put(scene, ORIGINAL, &chain(ORIGINAL, &["a", "b"]));
        for n in 0..30 {
            put(scene, &format!("copy-{n}"), &chain("copy", &["a", "b", &format!("c{n}"), "d"]));
        }
        scene.import(scene.folder.path());
        let copy = put(scene, COPY, &chain(COPY, &["a", "b", "c29", "d", "e"]));
        assert_eq!(scene.import(&copy).problems, []);
        assert_eq!(header(scene, COPY).parent_id, Some(id("copy-29")));
        assert_eq!(ids(scene, COPY), ["a", "b", "c29", "d", "e"]);
        assert_eq!(scene.restore(&id(COPY)), std::fs::read(&copy).unwrap());
    });
}

#[test]
fn a_copy_outlives_its_original() {
    on_every_store(|scene| {
        put(scene, ORIGINAL, &chain(ORIGINAL, &["a", "b", "c"]));
        let copy = chain(COPY, &["a", "b", "x"]);
        put(scene, COPY, &copy);
        scene.import(scene.folder.path());
        scene.store.remove(&[id(ORIGINAL)], Children::Retain, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(scene.restore(&id(COPY)), copy.as_bytes());
    });
}

#[test]
fn what_grows_behind_a_copy_is_the_copys_own() {
    on_every_store(|scene| {
        scene.import(&put(scene, ORIGINAL, &chain(ORIGINAL, &["a", "b", "c", "d"])));
        for texts in [&["a", "b"][..], &["a", "b", "x"], &["a", "b", "x", "y", "z"]] {
            let copy = chain(COPY, texts);
            scene.import(&put(scene, COPY, &copy));
            assert_eq!(ids(scene, COPY), texts);
            assert_eq!(header(scene, COPY).inherited.inheritable, 2);
            assert_eq!(scene.restore(&id(COPY)), copy.as_bytes());
        }
    });
}

#[test]
fn a_copy_of_an_abandoned_branch_shares_the_branch() {
    on_every_store(|scene| {
        // The original continues after `b` with `c`, and in a second branch after `b` with `e`.
        let mut original = chain(ORIGINAL, &["a", "b", "c", "d"]);
        let again = chain(ORIGINAL, &["a", "b", "e", "f"]);
        original.extend(again.split_inclusive('\n').skip(2));
        scene.import(&put(scene, ORIGINAL, &original));
        let copy = chain(COPY, &["a", "b", "e", "f", "x"]);
        scene.import(&put(scene, COPY, &copy));
        let fork = header(scene, COPY);
        let branch = scene.engine.show(&fork.parent_id.unwrap()).unwrap();
        assert_eq!(branch.parent_id, Some(id(ORIGINAL)));
        assert_eq!((fork.inherited.inheritable, fork.own_events), (4, 2));
        assert_eq!(ids(scene, COPY), ["a", "b", "e", "f", "x"]);
        assert_eq!(scene.restore(&id(COPY)), copy.as_bytes());
    });
}

#[test]
fn a_rewind_inside_what_was_copied_is_a_branch_there() {
    on_every_store(|scene| {
        scene.import(&put(scene, ORIGINAL, &chain(ORIGINAL, &["a", "b", "c", "d"])));
        let mut copy = chain(COPY, &["a", "b", "c", "d", "x"]);
        let again = chain(COPY, &["a", "b", "y"]);
        copy.extend(again.split_inclusive('\n').skip(2));
        let report = scene.import(&put(scene, COPY, &copy));
        assert_eq!(report.problems, []);
        let branch = report.sessions.iter().find(|found| found.session_id != id(COPY)).unwrap();
        assert_eq!(ids(scene, COPY), ["a", "b", "c", "d", "x"]);
        assert_eq!(ids(scene, branch.session_id.as_str()), ["a", "b", "y"]);
        assert_eq!(header(scene, COPY).leaf, Some(branch.session_id.clone()));
        assert_eq!(scene.restore(&id(COPY)), copy.as_bytes());
    });
}

#[test]
fn records_that_say_something_else_are_no_copy() {
    on_every_store(|scene| {
        scene.import(&put(scene, ORIGINAL, &chain(ORIGINAL, &["a", "b"])));
        let short = chain(COPY, &["a", "b"]).replace("\"text\":\"a\"", "\"text\":\"c\"");
        scene.import(&put(scene, "short", &short));
        let session = header(scene, "short");
        assert_eq!((session.parent_id, session.own_events), (None, 2));
        let long = "w".repeat(2_000);
        let other =
            chain(COPY, &["a", "b"]).replace("\"text\":\"a\"", &format!("\"text\":\"{long}\""));
        scene.import(&put(scene, COPY, &other));
        let session = header(scene, COPY);
        assert_eq!((session.parent_id, session.own_events), (None, 2));
        assert_eq!(scene.restore(&id(COPY)), other.as_bytes());
    });
}

/// When Claude Code forks a session into the background, each record of the copy has another
/// session id and one more field at its end.
#[test]
fn a_copy_whose_records_have_a_field_more_shares_everything() {
    on_every_store(|scene| {
        let ids: Vec<String> = (0..36).map(|at| format!("r{at}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let long = |session| {
            chain(session, &ids)
                .replace("\"cwd\"", &format!("\"note\":\"{}\",\"cwd\"", "plan ".repeat(400)))
        };
        put(scene, ORIGINAL, &long(ORIGINAL));
        let copy = long(COPY).replace("}\n", ",\"sessionKind\":\"bg\"}\n");
        put(scene, COPY, &copy);
        assert_eq!(scene.import(scene.folder.path()).problems, []);
        let fork = header(scene, COPY);
        assert_eq!(fork.parent_id, Some(id(ORIGINAL)));
        // Its only own event is `session_fork`.
        assert_eq!((fork.inherited.inheritable, fork.own_events), (36, 1));
        assert_eq!(scene.restore(&id(COPY)), copy.as_bytes());
    });
}

/// Writes a session's file where Claude Code stores it, with the scene's folder as Claude Code's
/// home. Returns the path of the file.
fn in_home(scene: &Scene, session: &str, text: &str) -> std::path::PathBuf {
    let folder = scene.folder.path().join("projects/-w");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{session}.jsonl"));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_lineage_that_claude_records_is_preferred_to_what_the_files_repeat() {
    const SECOND: &str = "33333333-3333-4333-8333-333333333333";
    on_every_store(|scene| {
        in_home(scene, ORIGINAL, &chain(ORIGINAL, &["a", "b", "c"]));
        in_home(scene, COPY, &chain(COPY, &["a", "b", "x"]));
        let second = in_home(scene, SECOND, &chain(SECOND, &["a", "b", "y"]));
        let job = scene.folder.path().join("jobs/33333333");
        std::fs::create_dir_all(&job).unwrap();
        let state = format!(
            r#"{{"sessionId":"{SECOND}","forkSessionId":"{SECOND}","forkParentSessionId":"{COPY}"}}"#
        );
        std::fs::write(job.join("state.json"), state).unwrap();
        let report = scene.import(&scene.folder.path().join("projects"));
        assert_eq!(report.problems, []);
        assert_eq!(header(scene, COPY).parent_id, Some(id(ORIGINAL)));
        assert_eq!(header(scene, SECOND).parent_id, Some(id(COPY)));
        assert_eq!(ids(scene, SECOND), ["a", "b", "y"]);
        assert_eq!(scene.restore(&id(SECOND)), std::fs::read(second).unwrap());
    });
}

#[test]
fn a_copy_that_came_first_is_linked_to_its_original() {
    on_every_store(|scene| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pi/genuine/s11");
        let mut files: Vec<_> =
            folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
        let lines = |file: &Path| std::fs::read_to_string(file).unwrap();
        let is_copy = |file: &Path| lines(file).lines().next().unwrap().contains("parentSession");
        let original = files.iter().find(|file| !is_copy(file)).unwrap();
        let (native, path) = (native_id(original), original.canonicalize().unwrap());
        for file in files.iter().filter(|file| is_copy(file)) {
            // The header of the copy contains the path that the original had at the time of the
            // fork, so the test replaces the path.
            let text = lines(file);
            let header = text.lines().next().unwrap();
            let was =
                header.split("\"parentSession\":\"").nth(1).unwrap().split('"').next().unwrap();
            let text = text.replace(was, &path.to_string_lossy());
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            scene.import(&scene.file(&name, text.as_bytes()));
        }
        scene.import(original);
        let linked: Vec<_> =
            scene.sessions().into_iter().filter_map(|header| header.copy_of).collect();
        assert_eq!(linked.len(), 1, "the second copy shares with the first");
        let CopyOf { session_id, index } = &linked[0];
        assert_eq!(session_id.as_str(), native);
        assert!(*index > 1, "{index}");
        assert_eq!(scene.restore(session_id), lines(original).as_bytes());
    });
}

fn native_id(file: &Path) -> String {
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    stem.split_once('_').unwrap().1.to_owned()
}

#[test]
fn a_copy_without_ids_is_recognised_by_its_content() {
    on_every_store(|scene| {
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codex/home/sessions");
        scene.import(&home);
        let copy = header(scene, "019f9a50-a149-76ae-afdd-b5faa9af4340");
        assert_eq!(copy.parent_id, Some(id("019f9a4a-9064-76f6-9a14-49f44c2dc40f")));
        let (file, _) = (scene.source(&copy.id).paths[0].path.clone(), ());
        assert_eq!(scene.restore(&copy.id), std::fs::read(file).unwrap());
        // The messages of the copy are the messages of its file, each once.
        let alone = Scene::new();
        alone.import(Path::new(&scene.source(&copy.id).paths[0].path));
        let texts = |scene: &Scene| {
            let inspected = scene.engine.inspect(&copy.id).unwrap();
            inspected.messages.iter().map(|message| message.content.clone()).collect::<Vec<_>>()
        };
        assert_eq!(texts(scene), texts(&alone));
        assert!(copy.own_events < alone.engine.show(&copy.id).unwrap().own_events);
    });
}

#[test]
fn what_a_copy_that_came_first_repeats_is_common_and_counts_once() {
    const COPY: &str = "019f9a50-a149-76ae-afdd-b5faa9af4340";
    const ORIGINAL: &str = "019f9a4a-9064-76f6-9a14-49f44c2dc40f";
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codex/home/sessions");
    let file = |session: &str| {
        let mut files = below(&home).into_iter();
        files.find(|file| file.to_string_lossy().contains(session)).unwrap()
    };
    for make in [Scene::new, Scene::sqlite, Scene::files] {
        let (late, early) = (make(), make());
        for session in [ORIGINAL, COPY] {
            late.import(&file(session));
        }
        for session in [COPY, ORIGINAL] {
            early.import(&file(session));
        }
        let linked = header(&early, COPY);
        let reported = |scene: &Scene| {
            let compared = scene.engine.diff(&id(ORIGINAL), &id(COPY)).unwrap();
            let stats = scene.engine.stats(None).unwrap();
            let spending = scene.engine.usage_report(&UsageScope::Everything).unwrap();
            let models: Vec<_> = spending.models.iter().map(|model| model.usage).collect();
            let alone = |records: &[Record]| {
                records.iter().map(|record| record.content.clone()).collect::<Vec<_>>()
            };
            (
                (compared.common, compared.ancestor, alone(&compared.only_a)),
                alone(&compared.only_b),
                (stats.usage, stats.sessions),
                (spending.usage, models),
            )
        };
        assert_eq!(reported(&early), reported(&late));
        let index = header(&late, COPY).inherited.inheritable;
        assert_eq!(linked.parent_id, None);
        let CopyOf { session_id, index: common } = linked.copy_of.unwrap();
        assert_eq!((session_id, common <= index, common > 3), (id(ORIGINAL), true, true));
        // The events that the copy repeats, up to the first difference, do not count as its own
        // events.
        let repeated = early.events(&id(COPY)).into_iter();
        let repeated = repeated.filter(|stored| stored.counts.index <= common).count() as u64;
        let own: u64 = early.sessions().iter().map(|header| header.own_events).sum();
        assert_eq!(early.engine.stats(None).unwrap().own_events, own - repeated);
        // After the original is deleted, the copy counts all usage in its file.
        let usage = header(&early, COPY).usage;
        assert_eq!(early.engine.stats(Some(&id(COPY))).unwrap().usage, usage);
        early.store.remove(&[id(ORIGINAL)], Children::Retain, Timestamp::UNIX_EPOCH).unwrap();
        let spending = early.engine.usage_report(&UsageScope::Everything).unwrap();
        let bears = spending.by_session.iter().find(|usage| usage.session_id == id(COPY)).unwrap();
        assert_eq!(bears.usage, usage);
    }
}

/// Returns all files in a folder and its subfolders.
fn below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(below(&path)) } else { found.push(path) }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Both sessions contain the records of their files, and both files are restored. This is true
    /// for either order of import, and if the copy is first imported incompletely.
    #[test]
    fn a_copy_reads_as_its_file(
        original in 1..8_usize,
        shared in 0..8_usize,
        own in 0..6_usize,
        cut in 0.0..1.0_f64,
        copy_first in any::<bool>(),
    ) {
        let name = |prefix: &str, at: usize| format!("{prefix}{at}");
        let first: Vec<_> = (0..original).map(|at| name("a", at)).collect();
        let mut second: Vec<_> = first.iter().take(shared).cloned().collect();
        second.extend((0..own + usize::from(second.is_empty())).map(|at| name("b", at)));
        let lines = |session, texts: &[String]| {
            chain(session, &texts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let (whole, copy) = (lines(ORIGINAL, &first), lines(COPY, &second));
        let part = &copy[..(copy.len() as f64 * cut) as usize];
        let scene = Scene::new();
        if copy_first {
            scene.import_as(&put(&scene, COPY, part), "claude");
            scene.import(&put(&scene, ORIGINAL, &whole));
        } else {
            scene.import(&put(&scene, ORIGINAL, &whole));
            scene.import_as(&put(&scene, COPY, part), "claude");
        }
        scene.import(&put(&scene, COPY, &copy));
        prop_assert_eq!(ids(&scene, ORIGINAL), first);
        prop_assert_eq!(ids(&scene, COPY), second);
        prop_assert_eq!(scene.restore(&id(ORIGINAL)), whole.as_bytes());
        prop_assert_eq!(scene.restore(&id(COPY)), copy.as_bytes());
    }
}
