//! Imports Codex's files: sessions that begin inside other files, rollbacks, compressed files, and
//! the list of session names.

use std::path::{Path, PathBuf};

use forklore_core::{Content, Header, Message, Role, Selector, SessionId, SessionKind};
use forklore_engine::{Delete, DeleteMode, Fork};
use forklore_import::{ImportReport, Importer, ProblemKind};
use serde_json::Value;

use crate::files::testdata;
use crate::scene::Scene;

const MAIN: &str = "01a1ffec-705a-7580-a2e1-49e6a681cc47";
const REVISION: &str = "01a1ffec-7367-70f3-8a36-b01004bf352f";
const CHILD: &str = "01a1ffec-7228-71d0-af89-8e63a26010db";
const GRANDCHILD: &str = "01a1ffec-72ff-7a50-907b-4bdee789be42";
const COMPACTED: &str = "01a1ffec-73dc-78c3-be0b-ef8fc516de95";

fn genuine() -> PathBuf {
    testdata().join("codex/genuine")
}

fn file_of(id: &str) -> PathBuf {
    let folder = genuine().join("sessions/2026/11/21");
    let ends = |path: &Path| path.to_string_lossy().ends_with(&format!("{id}.jsonl"));
    let found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    found.into_iter().find(|path| ends(path)).unwrap()
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

fn header(scene: &Scene, session: &str) -> Header {
    scene.engine.show(&id(session)).unwrap()
}

fn text(content: &Content) -> String {
    Message { role: Role::User, content: content.clone() }.plain_text()
}

/// Returns the text of the first user message of each turn of a session.
fn turns(scene: &Scene, session: &SessionId) -> Vec<String> {
    let records: Vec<_> = scene.engine.replay(session, None).unwrap().map(Result::unwrap).collect();
    let starts = scene.events(session).into_iter().filter(|s| s.event.effect.starts_turn);
    let starts: Vec<u64> = starts.map(|stored| stored.seq).collect();
    records.iter().filter(|record| starts.contains(&record.seq)).map(|r| text(&r.content)).collect()
}

fn kinds(report: &ImportReport) -> Vec<ProblemKind> {
    report.problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn forks_and_reverts_are_what_codex_lists() {
    let scene = Scene::sqlite();
    let report = scene.import(&genuine());
    assert_eq!((report.files, report.problems.as_slice()), (6, &[][..]));
    let answers = std::fs::read_to_string(genuine().join("EXPECT.json")).unwrap();
    let answers: Value = serde_json::from_str(&answers).unwrap();
    let listed = |name: &str| -> Vec<String> {
        let turns = answers[name]["list"].as_array().unwrap().iter();
        turns.map(|turn| turn[2].as_str().unwrap().to_owned()).collect()
    };
    // Codex shows only the conversation after the revert. forklore imports the reverted part too.
    assert_eq!(turns(&scene, &id(REVISION)), listed("A"));
    assert_eq!(turns(&scene, &id(CHILD)), listed("B_fork_of_A_at_T2"));
    assert_eq!(turns(&scene, &id(GRANDCHILD)), listed("C_fork_of_B_head"));
    let ran = answers["A"]["turns"].as_array().unwrap().len();
    assert_eq!((turns(&scene, &id(MAIN)).len(), ran), (5, 5));

    let cut = |session: &str| {
        let header = header(&scene, session);
        let parent = header.parent_id.map(|parent| parent.to_string());
        (header.kind, parent, header.cut.map(|cut| cut.index))
    };
    let branch = |parent: &str, index| (SessionKind::Branch, Some(parent.to_owned()), Some(index));
    assert_eq!(cut(MAIN), (SessionKind::Root, None, None));
    assert_eq!(cut(CHILD), branch(MAIN, 11));
    assert_eq!(cut(REVISION), branch(MAIN, 11));
    assert_eq!(cut(GRANDCHILD), branch(CHILD, 18));
    assert_eq!(header(&scene, CHILD).title.as_deref(), Some("cache branch"));
    assert_eq!(header(&scene, CHILD).workspace.as_str(), "/home/dev/projects/mock/proj_alpha");
    for file in &report.sources {
        let restored = scene.restore(file.first.as_ref().unwrap());
        assert_eq!(restored, std::fs::read(&file.path).unwrap(), "{}", file.path);
    }
}

#[test]
fn a_call_of_the_model_is_paid_for_once() {
    let scene = Scene::new();
    scene.import(&genuine());
    let usage = |session: &str| {
        let usage = header(&scene, session).usage;
        (usage.input, usage.output)
    };
    // The last total that Codex wrote. For a fork, the total before the fork is subtracted.
    assert_eq!(usage(MAIN), (71_495, 140));
    assert_eq!(usage(CHILD), (71_573 - 40_218, 140 - 80));
    assert_eq!(usage(GRANDCHILD), (82_220 - 71_573, 160 - 140));
    assert_eq!(usage(COMPACTED), (35_956, 80));
}

#[test]
fn a_compaction_restores_its_history() {
    let scene = Scene::new();
    scene.import(&file_of(COMPACTED));
    let sent = scene.engine.inspect(&id(COMPACTED)).unwrap();
    let texts: Vec<String> = sent.messages.iter().map(|message| text(&message.content)).collect();
    assert_eq!((texts[0].as_str(), texts[3].as_str()), ("first", "second [say 60]"));
    assert!(texts[1].starts_with("<skills_instructions>"), "{texts:?}");
    assert!(texts[4].starts_with("Another language model started"), "{texts:?}");
    assert!(sent.balanced);
}

#[test]
fn children_come_behind_their_parents_however_they_are_named() {
    let whole = Scene::new();
    let files: Vec<_> = [GRANDCHILD, REVISION, CHILD, MAIN].map(file_of).into();
    for path in files.iter().rev() {
        assert_eq!(whole.import(path).problems, []);
    }
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        // The order of `files` differs from the order of their times.
        let report =
            Importer::new(&scene.engine).import(&files, &Scene::options(), &mut |_| {}).unwrap();
        assert_eq!(report.problems, []);
        assert_eq!(scene.everything(), whole.everything());
    }
    let scene = Scene::new();
    for (n, path) in files.iter().enumerate() {
        let bytes = std::fs::read_to_string(path).unwrap();
        let year = |bytes: &str| bytes.replace("\"2026-11-21T", &format!("\"202{n}-11-21T"));
        scene.file(&path.file_name().unwrap().to_string_lossy(), year(&bytes).as_bytes());
    }
    let report = scene.import(scene.folder.path());
    let order: Vec<_> = report.sessions.iter().map(|s| s.session_id.as_str()).collect();
    // Sorted by time alone, the parents would be imported last.
    assert_eq!((order, kinds(&report)), (vec![MAIN, CHILD, GRANDCHILD, REVISION], vec![]));
}

#[test]
fn what_is_left_behind_can_be_forked() {
    let scene = Scene::new();
    scene.import(&genuine());
    let main = id(MAIN);
    let texts = turns(&scene, &main);
    assert_eq!(texts.len(), 5);
    let fork = scene.engine.fork(&Fork::of(main).at(Selector::Turn(5))).unwrap();
    assert_eq!(turns(&scene, &fork.child_session_id), texts);
}

/// Returns a line of a Codex file: an envelope with this payload.
fn line(ordinal: Option<u32>, kind: &str, payload: &str) -> String {
    let ordinal = ordinal.map(|n| format!("\"ordinal\":{n},")).unwrap_or_default();
    format!(
        "{{\"timestamp\":\"2026-01-01T00:00:00Z\",{ordinal}\"type\":\"{kind}\",\"payload\":{payload}}}\n"
    )
}

fn meta(id: &str, base: Option<(&str, u32, Option<usize>)>, ordinal: u32) -> String {
    let base = base.map(|(thread, end, bytes)| {
        let bytes = bytes.map(|bytes| format!(",\"end_byte_offset\":{bytes}")).unwrap_or_default();
        format!(",\"history_base\":{{\"thread_id\":\"{thread}\",\"end_ordinal_exclusive\":{end}{bytes}}}")
    });
    let base = base.unwrap_or_default();
    line(Some(ordinal), "session_meta", &format!("{{\"id\":\"{id}\",\"cwd\":\"/w\"{base}}}"))
}

fn user(ordinal: Option<u32>, text: &str) -> String {
    let payload = format!("{{\"type\":\"message\",\"role\":\"user\",\"content\":\"{text}\"}}");
    line(ordinal, "response_item", &payload)
}

#[test]
fn a_file_named_by_its_path_brings_along_the_files_that_it_continues() {
    let answers = std::fs::read_to_string(genuine().join("EXPECT.json")).unwrap();
    let answers: Value = serde_json::from_str(&answers).unwrap();
    let listed = |name: &str| -> Vec<String> {
        let turns = answers[name]["list"].as_array().unwrap().iter();
        turns.map(|turn| turn[2].as_str().unwrap().to_owned()).collect()
    };
    let files = [
        (REVISION, "A", vec![MAIN, REVISION]),
        (GRANDCHILD, "C_fork_of_B_head", vec![MAIN, CHILD, GRANDCHILD]),
    ];
    for (file, name, sessions) in files {
        for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
            let report = scene.import(&file_of(file));
            assert_eq!(report.problems, []);
            assert_eq!(turns(&scene, &id(file)), listed(name));
            let found: Vec<_> = report.sessions.iter().map(|s| s.session_id.as_str()).collect();
            assert_eq!(found, sessions);
            assert_eq!(report.first_named().unwrap().first, Some(id(file)));
            let again = scene.import(&file_of(file));
            assert_eq!((again.unchanged, again.sources.len()), (1, 1));
        }
    }
}

#[test]
fn the_file_that_another_continues_is_found_in_its_folder_and_in_those_of_codex() {
    let name = |id: &str| format!("rollout-2026-01-01T00-00-00-{id}.jsonl");
    let parent = [meta(MAIN, None, 0), user(Some(1), "one"), user(Some(2), "two")].concat();
    let child = [meta(CHILD, Some((MAIN, 2, None)), 9), user(Some(10), "mine")].concat();
    for (parent_in, child_in) in [
        ("", ""),
        ("home/archived_sessions", "home/sessions/2026/01/01"),
        ("home/sessions/2025/12/31", "home/sessions/2026/01/01"),
        ("home/sessions/2025/12/31", "home/archived_sessions"),
    ] {
        let scene = Scene::new();
        for folder in [parent_in, child_in] {
            std::fs::create_dir_all(scene.folder.path().join(folder)).unwrap();
        }
        let file = |folder: &str, id| format!("{folder}/{}", name(id)).trim_matches('/').to_owned();
        let path = scene.file(&file(child_in, CHILD), child.as_bytes());
        // Without its base the file is not imported, and the problem names the missing session.
        let refused = scene.import(&path);
        assert_eq!((refused.files, kinds(&refused)), (0, vec![ProblemKind::MissingBase]));
        assert!(refused.problems[0].message.contains(MAIN), "{:?}", refused.problems);
        assert_eq!(scene.sessions(), []);
        scene.file(&file(parent_in, MAIN), parent.as_bytes());
        assert_eq!(scene.import(&path).problems, []);
        assert_eq!(turns(&scene, &id(CHILD)), ["one", "mine"], "{parent_in} {child_in}");
    }
}

#[test]
fn a_root_that_an_earlier_version_made_without_its_beginning_is_read_anew() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let parent = [meta("p", None, 0), user(Some(1), "one"), user(Some(2), "two")].concat();
        let child = [meta("c", Some(("p", 2, None)), 9), user(Some(10), "mine")].concat();
        let path = scene.file("c.jsonl", child.as_bytes());
        scene.import_as_root(&path, &meta("c", None, 9), "codex");
        assert_eq!(turns(&scene, &id("c")), ["mine"]);
        assert_eq!(kinds(&scene.import(&path)), [ProblemKind::MissingBase]);
        let parent = scene.file("p.jsonl", parent.as_bytes());
        scene.import(&parent);
        let report = scene.import(&path);
        let healed = report.first_named().unwrap().first.clone().unwrap();
        assert_eq!(turns(&scene, &healed), ["one", "mine"]);
        assert_eq!(scene.restore(&healed), child.as_bytes());
        let again = scene.import(&path);
        assert_eq!(
            (again.unchanged, again.first_named().unwrap().first.as_ref()),
            (1, Some(&healed))
        );
    }
}

#[test]
fn a_file_whose_beginning_is_not_there_is_not_imported() {
    use ProblemKind::MissingBase;
    let parent = [meta("p", None, 0), user(Some(1), "one"), user(Some(2), "two")].concat();
    let child = |base| [meta("c", Some(base), 9), user(Some(10), "mine")].concat();
    let of = |base, files: &[(&str, &str)]| {
        let scene = Scene::new();
        for (name, bytes) in files {
            scene.file(name, bytes.as_bytes());
        }
        scene.file("c.jsonl", child(base).as_bytes());
        let report = scene.import(scene.folder.path());
        let Ok(header) = scene.engine.show(&id("c")) else {
            return (String::new(), String::new(), kinds(&report));
        };
        let parent = header.parent_id.map(|parent| parent.to_string()).unwrap_or_default();
        (turns(&scene, &id("c")).join(" "), parent, kinds(&report))
    };
    let files = [("p.jsonl", parent.as_str())];
    let whole = Some(parent.len());
    let as_child = |text: &str| (text.to_owned(), "p".to_owned(), vec![]);
    let refused = (String::new(), String::new(), vec![MissingBase]);
    assert_eq!(of(("p", 3, whole), &files), as_child("one two mine"));
    assert_eq!(of(("p", 2, Some(1)), &files), as_child("one mine"));
    assert_eq!(of(("p", 2, None), &files), as_child("one mine"));
    // Ordinals may have gaps. A base that ends before the parent's first record contains no events.
    assert_eq!(of(("p", 8, whole), &files), as_child("one two mine"));
    assert_eq!(of(("p", 1, Some(1)), &files), as_child("mine"));
    assert_eq!(of(("p", 3, whole.map(|len| len + 1)), &files), refused);
    assert_eq!(of(("p", 3, None), &[]), refused);
    assert_eq!(of(("c", 3, whole), &files), refused);
    // If two files begin in each other, the bases of both are missing.
    let cycle = [meta("p", Some(("c", 10, None)), 9), user(Some(10), "theirs")].concat();
    let of_cycle = of(("p", 11, None), &[("p.jsonl", &cycle)]);
    assert_eq!(of_cycle, (String::new(), String::new(), vec![MissingBase, MissingBase]));
}

#[test]
fn a_child_of_a_child_that_wrote_nothing_begins_where_that_began() {
    let scene = Scene::sqlite();
    let parent = [meta("p", None, 0), user(Some(1), "one"), user(Some(2), "two")].concat();
    let between = [meta("b", Some(("p", 2, None)), 2), user(Some(3), "three")].concat();
    let child = [meta("c", Some(("b", 3, Some(1))), 3), user(Some(4), "four")].concat();
    for (name, bytes) in [("c.jsonl", child), ("b.jsonl", between), ("p.jsonl", parent)] {
        scene.file(name, bytes.as_bytes());
    }
    let report = scene.import(scene.folder.path());
    assert_eq!(report.problems, []);
    assert_eq!(turns(&scene, &id("c")), ["one", "four"]);
    // If the parent was deleted, the base is missing.
    let scene = Scene::new();
    let parent = [meta("p", None, 0), user(Some(1), "one")].concat();
    scene.import(&scene.file("p.jsonl", parent.as_bytes()));
    let gone = Delete { session: id("p"), mode: DeleteMode::Refuse, dry_run: false, erase: true };
    scene.engine.delete(&gone).unwrap();
    let child = [meta("c", Some(("p", 2, None)), 2), user(Some(3), "mine")].concat();
    let report = scene.import(&scene.file("c.jsonl", child.as_bytes()));
    assert_eq!(kinds(&report), [ProblemKind::MissingBase]);
    assert!(report.problems[0].message.ends_with("begins in p, which was deleted"));
    assert!(scene.engine.show(&id("c")).is_err());
}

#[test]
fn a_copied_fork_shares_what_was_copied() {
    let scene = Scene::sqlite();
    let home = testdata().join("codex/home");
    scene.import(&home);
    let (original, fork) =
        ("019f9a4a-9064-76f6-9a14-49f44c2dc40f", "019f9a50-a149-76ae-afdd-b5faa9af4340");
    let copy = header(&scene, fork);
    assert_eq!(copy.parent_id, Some(id(original)));
    let texts = turns(&scene, &id(fork));
    assert_eq!((texts.len(), &texts[..2]), (3, &turns(&scene, &id(original))[..2]));
    // The usage of the copied turns counts in the original session only.
    assert_eq!(copy.usage.input, 1_000);
    let path = copy.source.unwrap();
    assert_eq!(scene.restore(&id(fork)), std::fs::read(path).unwrap());
}

#[test]
fn a_sub_agent_is_a_delegate_of_its_caller() {
    let scene = Scene::new();
    let source = "\"source\":{\"subagent\":{\"thread_spawn\":{\"parent_thread_id\":\"p\"}}}";
    let called = line(Some(0), "session_meta", &format!("{{\"id\":\"a\",{source}}}"));
    scene.file("a.jsonl", [called, user(Some(1), "explore")].concat().as_bytes());
    scene.file("p.jsonl", [meta("p", None, 0), user(Some(1), "one")].concat().as_bytes());
    let report = scene.import(scene.folder.path());
    assert_eq!(report.problems, []);
    let agent = header(&scene, "a");
    assert_eq!((agent.kind, agent.parent_id), (SessionKind::Delegate, Some(id("p"))));
    assert_eq!(turns(&scene, &id("a")), ["explore"]);
}

#[test]
fn a_rollback_leaves_a_branch_behind() {
    let rolled = |n| {
        line(None, "event_msg", &format!("{{\"type\":\"thread_rolled_back\",\"num_turns\":{n}}}"))
    };
    let scene = Scene::new();
    let text =
        [user(None, "one"), user(None, "two"), user(None, "three"), rolled(2), user(None, "2b")];
    let text = [text.concat(), rolled(1), user(None, "2c"), rolled(9), user(None, "1b")].concat();
    let report = scene.import_as(&scene.file("r.jsonl", text.as_bytes()), "codex");
    let of = |n: usize| {
        let session = &report.sessions[n];
        let parent = session.parent_session_id.as_ref();
        let parent = report.sessions.iter().position(|s| Some(&s.session_id) == parent);
        (turns(&scene, &session.session_id).join(" "), parent)
    };
    assert_eq!(report.sessions.len(), 4);
    let all: Vec<_> = (0..4).map(of).collect();
    let expected =
        [("one two three", None), ("one 2b", Some(0)), ("one 2c", Some(0)), ("1b", Some(0))];
    assert_eq!(all, expected.map(|(text, parent)| (text.to_owned(), parent)));
    let (meant, others) = report.sources[0].meant().unwrap();
    assert_eq!((meant, others.len()), (&report.sessions[3].session_id, 3));
    assert_eq!(scene.restore(meant), text.as_bytes());
}

#[test]
fn a_compressed_file_is_what_is_in_it() {
    let packed = testdata().join("codex/home/sessions/2026/07/25");
    let name = "rollout-2026-07-25T17-20-00-019f9a4a-7a05-78b2-874f-13d3b00f35af.jsonl";
    let bytes = std::fs::read(packed.join(format!("{name}.zst"))).unwrap();
    let content = zstd::decode_all(bytes.as_slice()).unwrap();
    let scene = Scene::sqlite();
    let path = scene.file(&format!("{name}.zst"), &bytes);
    let report = scene.import(scene.folder.path());
    let session = id("019f9a4a-7a05-78b2-874f-13d3b00f35af");
    assert_eq!((report.problems.as_slice(), &report.sessions[0].session_id), (&[][..], &session));
    assert_eq!(scene.restore(&session), content);
    let first = scene.everything();
    // Codex writes a resumed session as an uncompressed file again, which then grows.
    let grown = [content.as_slice(), user(None, "more").as_bytes()].concat();
    scene.file(name, &grown);
    let both = scene.import(scene.folder.path());
    assert_eq!(both.sources.len(), 1, "the plain one goes on");
    std::fs::remove_file(path).unwrap();
    scene.file(name, &content);
    let scene = Scene::sqlite();
    scene.import(&scene.file(&format!("{name}.zst"), &bytes));
    assert_eq!(scene.everything(), first);
    std::fs::remove_file(scene.folder.path().join(format!("{name}.zst"))).unwrap();
    let report = scene.import(&scene.file(name, &grown));
    assert_eq!((report.sessions[0].appended, scene.sessions().len()), (1, 1));
    assert_eq!(scene.restore(&session), grown);
    // Later, Codex compresses the file again.
    std::fs::remove_file(scene.folder.path().join(name)).unwrap();
    let again = zstd::encode_all(grown.as_slice(), 19).unwrap();
    let report = scene.import(&scene.file(&format!("{name}.zst"), &again));
    assert_eq!((report.sessions[0].appended, scene.sessions().len()), (0, 1));
}

#[test]
fn a_compressed_file_that_breaks_off_is_read_so_far() {
    let scene = Scene::new();
    let lines: Vec<String> = (0..40_000).map(|n| user(None, &format!("turn {n}"))).collect();
    let content = lines.concat();
    let packed = zstd::encode_all(content.as_bytes(), 3).unwrap();
    let path = scene.file("a.jsonl.zst", &packed[..packed.len() / 2]);
    let report = scene.import_as(&path, "codex");
    assert!(kinds(&report).contains(&ProblemKind::Damage), "{:?}", report.problems);
    let session = &report.sessions[0];
    let restored = scene.restore(&session.session_id);
    assert!(session.events > 1_000 && content.as_bytes().starts_with(&restored));
    // After the file is complete, the import continues where it stopped.
    let whole = scene.import_as(&scene.file("a.jsonl.zst", &packed), "codex");
    assert_eq!((whole.sessions[0].events, whole.problems.len()), (40_000, 0));
    assert_eq!(scene.restore(&session.session_id), content.as_bytes());
    let broken = scene.file("b.jsonl.zst", b"\x28\xb5\x2f\xfdgarbage");
    assert_eq!(kinds(&scene.import(&broken)), [ProblemKind::Unreadable]);
}

#[test]
fn names_come_from_the_list_whenever_it_changes() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        renamed(&scene);
    }
}

fn renamed(scene: &Scene) {
    let home = scene.folder.path().join("home");
    let folder = home.join("sessions/2026/01/01");
    std::fs::create_dir_all(&folder).unwrap();
    let a = "rollout-2026-01-01T00-00-00-01a1ffec-705a-7580-a2e1-49e6a681cc47.jsonl";
    std::fs::write(folder.join(a), [meta(MAIN, None, 0), user(Some(1), "hi")].concat()).unwrap();
    let list = |names: &[&str]| {
        let of = |name: &&str| format!("{{\"id\":\"{MAIN}\",\"thread_name\":\"{name}\"}}\n");
        let text: String = names.iter().map(of).collect();
        std::fs::write(home.join("session_index.jsonl"), text).unwrap();
    };
    let title = || {
        let report = scene.import(&home);
        assert_eq!((report.sessions.len(), report.problems.as_slice()), (1, &[][..]));
        header(scene, MAIN).title
    };
    assert_eq!(title(), None);
    list(&["first", "second"]);
    assert_eq!(title().as_deref(), Some("second"));
    list(&["first", "second", "third"]);
    assert_eq!((title().as_deref(), title().as_deref()), (Some("third"), Some("third")));
    list(&[""]);
    assert_eq!(title(), None);
    let bytes = std::fs::read(folder.join(a)).unwrap();
    assert_eq!(scene.restore(&id(MAIN)), bytes);
    // An import that writes only a title does not change how far the file is read.
    std::fs::write(folder.join(a), [bytes, user(Some(2), "more").into_bytes()].concat()).unwrap();
    assert_eq!(scene.import(&home).sessions[0].appended, 1);
}

#[test]
fn what_codex_refuses_is_read_and_reported() {
    use ProblemKind::{Damage, Incomplete, Irregular, MissingBase};
    let of = |name: &str| {
        let scene = Scene::new();
        let folder = testdata().join("codex").join(name);
        let paths = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> = paths.collect();
        paths.sort();
        let read = paths.iter().map(|path| {
            let report = scene.import(path);
            let mut kinds = kinds(&report);
            kinds.dedup();
            let session = report.sources.first().and_then(|file| file.first.clone());
            let turns = session.map_or(0, |session| turns(&scene, &session).len());
            (turns, kinds)
        });
        read.collect::<Vec<_>>()
    };
    assert_eq!(of("2025"), [(1, vec![])]);
    let expected = [
        // Files without a first line, with a torn last line, zero bytes, and a repeated ordinal.
        (1, vec![Irregular]),
        (4, vec![Incomplete]),
        (4, vec![Damage]),
        (3, vec![Irregular]),
        // Two files that begin in each other, one after the end of its base, one without its base.
        (0, vec![MissingBase]),
        (0, vec![MissingBase]),
        (0, vec![MissingBase]),
        (0, vec![MissingBase]),
        // A file whose header names another session id than the file name.
        (1, vec![Irregular]),
    ];
    assert_eq!(of("malformed"), expected);
}
