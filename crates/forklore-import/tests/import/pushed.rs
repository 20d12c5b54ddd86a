//! Lines that a program passes on become what the import of a file with these lines makes.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::UNIX_EPOCH;

use forklore_api::{Delete, DeleteMode};
use forklore_core::workspace::Workspace;
use forklore_core::{Message, SessionId};
use forklore_engine::Result;
use forklore_import::{ImportOptions, Importer, NoteOn, PushTo, Pushed};
use serde_json::{Value, json};

use crate::files::{all, content};
use crate::scene::Scene;

const FOLDER: &str = "claude-session-store:/p";

fn to(name: &str) -> PushTo {
    PushTo {
        agent: "claude".into(),
        path: format!("{FOLDER}/{name}.jsonl"),
        folder: FOLDER.into(),
        caller: None,
        workspace: Workspace::new("/here"),
        now: 1_800_000_000_000_000_000,
    }
}

fn line(text: &str) -> Pushed {
    let value: Value = serde_json::from_str(text).unwrap();
    Pushed { text: text.to_owned(), id: value["uuid"].as_str().map(str::to_owned) }
}

fn push(scene: &Scene, to: &PushTo, lines: &[&str]) -> usize {
    let lines = lines.iter().map(|text| line(text)).collect();
    Importer::new(&scene.engine).push(to, lines, &mut |_| Ok(None)).unwrap()
}

fn read(scene: &Scene, to: &PushTo) -> Option<String> {
    let importer = Importer::new(&scene.engine);
    let file = importer.pushed(&to.path).unwrap()?;
    let mut bytes = Vec::new();
    importer.read_pushed(&file, &mut bytes).unwrap();
    Some(String::from_utf8(bytes).unwrap())
}

/// Returns a record of a conversation. Even numbers are questions.
fn record(number: u32, parent: Option<u32>) -> String {
    let id = |number: u32| format!("00000000-0000-4000-8000-{number:012}");
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    json!({
        "type": role,
        "uuid": id(number),
        "parentUuid": parent.map(id),
        "sessionId": "s",
        "cwd": "/work/demo",
        "timestamp": format!("2026-11-29T06:00:{:02}Z", number % 60),
        "message": {"role": role, "content": [{"type": "text", "text": format!("text {number}")}]},
    })
    .to_string()
}

/// Erases the session of a file.
fn erase(scene: &Scene, to: &PushTo) {
    let file = Importer::new(&scene.engine).pushed(&to.path).unwrap().unwrap();
    let session = file.sessions[0].clone();
    let erase = Delete { session, mode: DeleteMode::Refuse, erase: true, dry_run: false };
    scene.engine.delete(&erase).unwrap();
}

fn texts(scene: &Scene, session: &SessionId) -> Vec<String> {
    let messages = scene.engine.inspect(session).unwrap().messages;
    messages.iter().map(Message::plain_text).collect()
}

fn makers() -> [fn() -> Scene; 3] {
    [Scene::new, Scene::sqlite, Scene::files]
}

#[test]
fn pushed_lines_become_the_events_of_their_file() {
    let mut compared = 0;
    for (path, dialect) in all().into_iter().filter(|(_, dialect)| *dialect == "claude") {
        let bytes = content(&path);
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        let lines: Vec<_> = text.lines().collect();
        let is_object =
            |line: &&str| serde_json::from_str::<Value>(line).is_ok_and(|it| it.is_object());
        let mut unique = lines.clone();
        unique.sort_unstable();
        unique.dedup();
        if text.contains('\r')
            || !text.ends_with('\n')
            || !lines.iter().all(is_object)
            || unique.len() != lines.len()
        {
            continue;
        }
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let imported = Scene::new();
        let file = imported.file(&format!("{stem}.jsonl"), &bytes);
        imported.import_as(&file, dialect);
        let modified = file.metadata().unwrap().modified().unwrap();
        let now = modified.duration_since(UNIX_EPOCH).unwrap().as_nanos().try_into().unwrap();
        for size in [1, 7, lines.len()] {
            let (pushed, to) = (Scene::new(), PushTo { now, ..to(&stem) });
            for part in lines.chunks(size) {
                assert_eq!(push(&pushed, &to, part), part.len());
            }
            assert_eq!(pushed.everything(), imported.everything(), "{}", path.display());
            assert_eq!(read(&pushed, &to).unwrap(), text);
            assert_eq!(pushed.engine.verify(None).unwrap().problems, []);
        }
        compared += 1;
    }
    assert!(compared >= 5, "{compared} files");
}

#[test]
fn a_line_that_is_stored_is_not_stored_again() {
    let (a, b) = (record(0, None), record(1, Some(0)));
    let changed = b.replace("text 1", "another text");
    let note = r#"{"type":"mode","sessionId":"s"}"#;
    let side = r#"{"type":"x","uuid":"side"}"#;
    for make in makers() {
        let (scene, to) = (make(), to("s"));
        assert_eq!(push(&scene, &to, &[side, &a, &a, note]), 3);
        assert_eq!(push(&scene, &to, &[side, &a, &b, note]), 2);
        assert_eq!(push(&scene, &to, &[&a, &b]), 0);
        assert_eq!(push(&scene, &to, &[&changed]), 1);
        assert_eq!(push(&scene, &to, &[]), 0);
        let all = [side, &a, note, &b, note, &changed].map(|line| format!("{line}\n")).concat();
        assert_eq!(read(&scene, &to).unwrap(), all);
    }
}

#[test]
fn the_note_of_a_push_describes_the_whole_file() {
    for make in makers() {
        let (scene, to) = (make(), to("s"));
        let importer = Importer::new(&scene.engine);
        let mut given = Vec::new();
        for number in 0..3_u32 {
            let lines = [record(0, None), record(number, number.checked_sub(1))];
            let lines = lines.iter().map(|text| line(text)).collect();
            let mut note = |on: NoteOn<'_>| {
                given.push((on.before.map(str::to_owned), on.is_new, on.fresh.to_vec()));
                Ok(Some(format!("note {number}")))
            };
            importer.push(&to, lines, &mut note).unwrap();
        }
        let note = |number: u32| Some(format!("note {number}"));
        assert_eq!(
            given,
            [(None, true, vec![0]), (note(0), false, vec![1]), (note(1), false, vec![1])]
        );
        assert_eq!(importer.pushed(&to.path).unwrap().unwrap().note, note(2));
        let failed: Result<_> = importer.push(&to, vec![line(&record(3, Some(2)))], &mut |_| {
            Err(forklore_import::Error::invalid("note", "no"))
        });
        assert!(failed.is_err());
        assert_eq!(importer.pushed(&to.path).unwrap().unwrap().note, note(2));
        assert_eq!(read(&scene, &to).unwrap().lines().count(), 3);
    }
}

#[test]
fn writers_at_once_lose_nothing() {
    const WRITERS: u32 = 4;
    const EACH: u32 = 25;
    for make in makers() {
        let (scene, to) = (make(), to("s"));
        let made = AtomicI64::new(0);
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (scene, to, made) = (&scene, &to, &made);
                scope.spawn(move || {
                    for number in 0..EACH {
                        let number = writer * 1_000 + number;
                        let text = record(number, number.checked_sub(1));
                        let mut note = |on: NoteOn<'_>| {
                            let before = on.before.map_or(0, |note| note.parse::<usize>().unwrap());
                            Ok(Some((before + on.fresh.len()).to_string()))
                        };
                        let importer = Importer::new(&scene.engine);
                        let added = importer.push(to, vec![line(&text)], &mut note).unwrap();
                        made.fetch_add(added.try_into().unwrap(), Ordering::Relaxed);
                    }
                });
            }
        });
        let total = WRITERS * EACH;
        assert_eq!(made.load(Ordering::Relaxed), i64::from(total));
        let text = read(&scene, &to).unwrap();
        for writer in 0..WRITERS {
            let own = (0..EACH).map(|number| writer * 1_000 + number);
            let own: Vec<_> = own.map(|number| record(number, number.checked_sub(1))).collect();
            let found: Vec<_> =
                text.lines().filter(|line| own.iter().any(|it| it == line)).collect();
            assert_eq!(found, own, "in the order of the calls");
        }
        assert_eq!(text.lines().count(), usize::try_from(total).unwrap());
        let importer = Importer::new(&scene.engine);
        let note = importer.pushed(&to.path).unwrap().unwrap().note;
        // A branch inside the file divides a push into two steps, of which only the last has its note.
        assert_eq!(note, Some(total.to_string()));
        assert_eq!(scene.engine.verify(None).unwrap().problems, []);
    }
}

#[test]
fn a_writer_that_creates_the_file_meanwhile_loses_nothing() {
    for make in makers() {
        for was_deleted in [false, true] {
            let (scene, to) = (make(), to("s"));
            let importer = Importer::new(&scene.engine);
            if was_deleted {
                push(&scene, &to, &[&record(9, None)]);
                erase(&scene, &to);
            }
            let mut attempts = 0;
            let mut meanwhile = |on: NoteOn<'_>| {
                if on.is_new {
                    push(&scene, &to, &[&record(0, None)]);
                }
                attempts += 1;
                Ok(None)
            };
            let later = record(1, Some(0));
            assert_eq!(importer.push(&to, vec![line(&later)], &mut meanwhile).unwrap(), 1);
            assert_eq!(attempts, 2);
            assert_eq!(read(&scene, &to), Some(format!("{}\n{later}\n", record(0, None))));
        }
    }
}

#[test]
fn of_forks_with_one_path_at_once_one_is_created() {
    for make in makers() {
        let (scene, main, fork) = (make(), to("main"), to("fork"));
        push(&scene, &main, &[&record(0, None), &record(1, Some(0))]);
        let file = Importer::new(&scene.engine).pushed(&main.path).unwrap().unwrap();
        let create = || {
            let importer = Importer::new(&scene.engine);
            let from = importer.fork_point(&file, None).unwrap();
            importer.push_fork(&fork, from, None, None)
        };
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(create)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
        });
        let (created, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        assert_eq!((created.len(), refused.len()), (1, 3));
        for error in refused.into_iter().map(Result::unwrap_err) {
            assert_eq!(error.kind().name(), "invalid_args");
        }
        let forked = Importer::new(&scene.engine).pushed(&fork.path).unwrap().unwrap();
        assert_eq!(texts(&scene, &forked.sessions[0]), ["text 0", "text 1"]);
    }
}

#[test]
fn a_refused_line_changes_nothing() {
    let (scene, to) = (Scene::new(), to("s"));
    push(&scene, &to, &[&record(0, None)]);
    let before = read(&scene, &to);
    let good = line(&record(1, Some(0)));
    for text in ["[]", "{\"a\":NaN}", "{", "{}\n{}", "null"] {
        let lines = vec![good.clone(), Pushed { text: text.into(), id: None }];
        let error = Importer::new(&scene.engine).push(&to, lines, &mut |_| Ok(None)).unwrap_err();
        assert_eq!(error.kind().name(), "invalid_args", "{text}");
        assert_eq!(read(&scene, &to), before);
    }
    // A lone surrogate is no text, but its record is stored and comes back.
    let surrogate = r#"{"type":"user","uuid":"u","parentUuid":null,"cwd":"\ud800"}"#;
    let lines = vec![Pushed { text: surrogate.into(), id: Some("u".into()) }];
    Importer::new(&scene.engine).push(&to, lines, &mut |_| Ok(None)).unwrap();
    assert_eq!(read(&scene, &to), Some(format!("{}{surrogate}\n", before.unwrap())));
}

#[test]
fn a_fork_has_the_history_and_goes_on_with_pushed_records() {
    for make in makers() {
        let scene = make();
        let main = to("main");
        let records: Vec<_> = (0..6).map(|n: u32| record(n, n.checked_sub(1))).collect();
        push(&scene, &main, &records.iter().map(String::as_str).collect::<Vec<_>>());
        let importer = Importer::new(&scene.engine);
        let file = importer.pushed(&main.path).unwrap().unwrap();
        let id = |number: u32| format!("00000000-0000-4000-8000-{number:012}");

        let (fork, deep) = (to("fork"), to("deep"));
        let from = importer.fork_point(&file, Some(&id(3))).unwrap();
        importer.push_fork(&fork, from.clone(), Some("a try".into()), Some("n")).unwrap();
        assert_eq!(
            importer.push_fork(&fork, from, None, None).unwrap_err().kind().name(),
            "invalid_args"
        );
        let forked = importer.pushed(&fork.path).unwrap().unwrap();
        assert_eq!(
            (read(&scene, &fork).unwrap(), forked.note.as_deref()),
            (String::new(), Some("n"))
        );
        let header = scene.engine.show(&forked.sessions[0]).unwrap();
        assert_eq!(header.parent_id, Some(file.sessions[0].clone()));
        assert_eq!(header.title.as_deref(), Some("a try"));
        let inherited: Vec<_> = (0..4).map(|n| format!("text {n}")).collect();
        assert_eq!(texts(&scene, &forked.sessions[0]), inherited);

        // The fork goes on, and another fork begins at an inherited record.
        let next = record(100, Some(3));
        push(&scene, &fork, &[&next, &record(101, Some(100))]);
        let gone_on = [inherited.clone(), vec!["text 100".into(), "text 101".into()]].concat();
        assert_eq!(texts(&scene, &forked.sessions[0]), gone_on);
        assert_eq!(read(&scene, &fork).unwrap().lines().next(), Some(&*next));
        let forked = importer.pushed(&fork.path).unwrap().unwrap();
        let from = importer.fork_point(&forked, Some(&id(1))).unwrap();
        importer.push_fork(&deep, from, None, None).unwrap();
        let deep = importer.pushed(&deep.path).unwrap().unwrap();
        assert_eq!(texts(&scene, &deep.sessions[0]), inherited[..2]);

        // The agent goes back to an inherited record: a branch begins there.
        push(&scene, &fork, &[&record(200, Some(1))]);
        let forked = importer.pushed(&fork.path).unwrap().unwrap();
        assert_eq!((forked.sessions.len(), forked.leaf.as_ref()), (2, Some(&forked.sessions[1])));
        let back = [&inherited[..2], &["text 200".to_owned()]].concat();
        assert_eq!(texts(&scene, &forked.sessions[1]), back);
        assert!(importer.fork_point(&forked, Some("other")).is_err());
        assert_eq!(scene.engine.verify(None).unwrap().problems, []);
    }
}

#[test]
fn a_deleted_file_begins_again() {
    for make in makers() {
        let (scene, to) = (make(), to("s"));
        let importer = Importer::new(&scene.engine);
        let side = r#"{"type":"mode","sessionId":"s"}"#;
        for first in [record(0, None), side.to_owned()] {
            push(&scene, &to, &[&first]);
            assert_eq!(importer.pushed_in("claude", FOLDER).unwrap().len(), 1);
            importer.push_session(&to).unwrap();
            erase(&scene, &to);
            assert_eq!(importer.pushed(&to.path).unwrap(), None);
            assert_eq!(importer.pushed_in("claude", FOLDER).unwrap(), []);
        }
        push(&scene, &to, &[&record(1, None)]);
        assert_eq!(read(&scene, &to).unwrap(), format!("{}\n", record(1, None)));
        assert_eq!(importer.pushed_in("claude", FOLDER).unwrap().len(), 1);
    }
}

#[test]
fn a_file_on_the_disk_with_the_pushed_lines_is_the_same_source() {
    let scene = Scene::new();
    let (a, b) = (record(0, None), record(1, Some(0)));
    push(&scene, &to("s"), &[&a]);
    let path = scene.file("s.jsonl", format!("{a}\n{b}\n").as_bytes());
    let options = ImportOptions { from: Some("claude".into()), ..Scene::options() };
    scene.import_with(&path, &options);
    assert_eq!(scene.sessions().len(), 1);
    let c = record(2, Some(1));
    assert_eq!(push(&scene, &to("s"), &[&a, &b, &c]), 1);
    assert_eq!(read(&scene, &to("s")).unwrap(), format!("{a}\n{b}\n{c}\n"));
}
