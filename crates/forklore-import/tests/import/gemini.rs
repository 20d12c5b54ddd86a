//! Imports Gemini CLI's files: repeated messages, rewritten lists, and returns to earlier messages.

use forklore_core::workspace::Workspace;
use forklore_core::{Role, SessionKind};
use forklore_import::ImportReport;
use forklore_store::port::LogEntry;
use proptest::prelude::*;

use crate::files::testdata;
use crate::scene::Scene;

const HEADER: &str = r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:00Z"}"#;

fn message(id: &str, kind: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:01Z","type":"{kind}","content":"{text}"}}"#
    )
}

fn turn(id: &str) -> String {
    message(id, if id < "b" { "user" } else { "gemini" }, id)
}

fn list_of(ids: &[&str]) -> String {
    let all: Vec<_> = ids.iter().map(|id| turn(id)).collect();
    format!(r#"{{"$set":{{"messages":[{}]}}}}"#, all.join(", "))
}

/// Imports a file with these lines. Returns a description of each session, and the position of the
/// leaf among the sessions. A description is the parent's position, the index of the cut, and the
/// ids or types of the session's own events.
fn shape(lines: &[String]) -> (Vec<String>, usize) {
    let text = format!("{HEADER}\n{}\n", lines.join("\n"));
    let scene = Scene::new();
    let path = scene.file("f.jsonl", text.as_bytes());
    let report = scene.import(&path);
    assert_eq!(report.problems, []);
    assert_eq!(scene.restore(&report.sessions[0].session_id), text.as_bytes());
    // An import in two steps gives the same result, whichever line the first step ends with.
    for cut in 1..=lines.len() {
        let scene = Scene::new();
        let begin = format!("{HEADER}\n{}\n", lines[..cut].join("\n"));
        scene.import(&scene.file("f.jsonl", begin.as_bytes()));
        let path = scene.file("f.jsonl", text.as_bytes());
        assert_eq!(shown(&scene, &scene.import(&path)), shown_of(lines), "cut at {cut}");
    }
    shown(&scene, &report)
}

fn shown_of(lines: &[String]) -> (Vec<String>, usize) {
    let text = format!("{HEADER}\n{}\n", lines.join("\n"));
    let scene = Scene::new();
    let report = scene.import(&scene.file("f.jsonl", text.as_bytes()));
    shown(&scene, &report)
}

fn shown(scene: &Scene, report: &ImportReport) -> (Vec<String>, usize) {
    let number = |id| report.sessions.iter().position(|s| s.session_id == id).unwrap();
    let all = report.sessions.iter().map(|session| {
        let own = scene.events(&session.session_id).into_iter();
        let own = own.filter(|e| Scene::is_own(e, &session.session_id));
        let own =
            own.filter(|e| e.event.kind.as_str() != "session_fork").map(|stored| {
                match stored.event.kind.as_str() {
                    "user_message" | "assistant_message" => stored.event.id.to_string(),
                    kind => kind.trim_start_matches("x.gemini.").to_owned(),
                }
            });
        let own = own.collect::<Vec<_>>().join(" ");
        let header = scene.engine.show(&session.session_id).unwrap();
        match header.parent_id {
            None => own,
            Some(parent) => format!("{}@{}: {own}", number(parent), header.cut.unwrap().index),
        }
    });
    let (leaf, _) = report.sources[0].meant().unwrap();
    (all.collect(), number(leaf.clone()))
}

fn lines(text: &[&str]) -> Vec<String> {
    text.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn going_back_is_a_branch_that_the_agent_would_resume() {
    let rewind = |id: &str| format!(r#"{{"$rewindTo":"{id}"}}"#);
    let all = [turn("a"), turn("b"), turn("a2"), turn("b2"), rewind("a2")];
    assert_eq!(shape(&all), (lines(&["a b a2 b2", "0@2: rewind"]), 1));
    let all = [&all[..], &[turn("a3"), turn("b3")]].concat();
    assert_eq!(shape(&all), (lines(&["a b a2 b2", "0@2: rewind a3 b3"]), 1));
    let all = [turn("a"), turn("b"), rewind("nowhere"), turn("a2")];
    assert_eq!(shape(&all), (lines(&["a b", "0@0: rewind a2"]), 1));
}

#[test]
fn an_unchanged_list_needs_no_event() {
    let before = [turn("a"), turn("b"), turn("a2"), turn("b2")];
    let again = |ids: &[&str], then: &[&str]| {
        let turns = then.iter().map(|id| turn(id));
        shape(&before.iter().cloned().chain([list_of(ids)]).chain(turns).collect::<Vec<_>>())
    };
    let whole = again(&["a", "b", "a2", "b2"], &["a3"]);
    assert_eq!(whole, (lines(&["a b a2 b2 a3"]), 0));
    assert_eq!(again(&["a", "b"], &["a3"]), (lines(&["a b a2 b2", "0@2: a3"]), 1));
    assert_eq!(again(&["a", "b", "x", "y"], &["z"]), (lines(&["a b a2 b2", "0@2: x y z"]), 1));
    assert_eq!(again(&["a", "b", "a2", "b2", "x"], &["z"]), (lines(&["a b a2 b2 x z"]), 0));
    // When a session is resumed, Gemini CLI writes a list with only the first message, and then the
    // complete list.
    let resumed =
        [before.to_vec(), vec![list_of(&["a"]), list_of(&["a", "b", "a2", "b2"]), turn("a3")]];
    assert_eq!(shape(&resumed.concat()), (lines(&["a b a2 b2 a3"]), 0));
}

#[test]
fn a_changed_message_is_a_branch() {
    let all = [turn("a"), turn("b"), message("b", "gemini", "other"), turn("a2")];
    assert_eq!(shape(&all), (lines(&["a b", "0@1: b a2"]), 1));
    let all = [turn("a"), turn("b"), message("a", "user", "other"), turn("a2")];
    assert_eq!(shape(&all), (lines(&["a b a2", "0@0: a"]), 0));
}

#[test]
fn a_message_that_grows_is_gone_on_with() {
    let call = |status: &str| {
        format!(
            r#"{{"id":"b","timestamp":"2026-01-01T00:00:01Z","type":"gemini","content":"b","tokens":{{"total":1}},"toolCalls":[{{"id":"c","name":"ls","args":{{}},"status":"{status}"}}]}}"#
        )
    };
    let all = [turn("a"), turn("b"), call("executing"), call("success"), turn("a2")];
    assert_eq!(shape(&all), (lines(&["a b tool_call tool_result a2"]), 0));
    assert_eq!(shape(&[turn("a"), call("success"), turn("a2")]), (lines(&["a b a2"]), 0));
    // A repeated message that adds only token counts becomes no event.
    let more = turn("b").replace("\"content\"", "\"tokens\":{\"total\":2},\"content\"");
    assert_eq!(shape(&[turn("a"), turn("b"), more, turn("a2")]), (lines(&["a b a2"]), 0));
}

#[test]
fn a_sub_agents_file_is_a_delegate_of_the_session_that_its_folder_names() {
    let scene = Scene::new();
    let folder = scene.folder.path().join("chats");
    std::fs::create_dir_all(folder.join("s")).unwrap();
    let main = format!("{HEADER}\n{}\n{}\n", turn("a"), turn("b"));
    let sub = HEADER.replace("\"s\"", "\"sub\"").replace("00:00:00Z\"}", "00:00:01Z\"}");
    let sub = sub.replace("\"p\"", "\"p\",\"kind\":\"subagent\"");
    std::fs::write(folder.join("session-1.jsonl"), main).unwrap();
    std::fs::write(folder.join("s/sub.jsonl"), format!("{sub}\n{}\n", turn("x"))).unwrap();
    let report = scene.import(&folder);
    assert_eq!(report.problems, []);
    let delegate = scene.engine.show(&"sub".parse().unwrap()).unwrap();
    assert_eq!(delegate.kind, SessionKind::Delegate);
    assert_eq!(delegate.parent_id.unwrap().as_str(), "s");
}

/// Gemini CLI itself wrote the file: a call, a resumption, a call, and a resumption.
#[test]
fn a_session_resumed_twice_is_one_path_and_its_calls_are_answered_once() {
    let scene = Scene::new();
    let path = testdata().join("gemini/genuine/tmp/proj/chats");
    let report = scene.import(&path);
    let sessions: Vec<_> = report.sessions.iter().map(|session| session.events).collect();
    assert_eq!((sessions, report.problems.len()), (vec![13], 0));
    let session = &report.sessions[0].session_id;
    let header = scene.engine.show(session).unwrap();
    assert_eq!((header.counts.index, header.counts.turns, header.counts.open), (11, 3, 0));
    assert_eq!(header.workspace, Workspace::new("/home/dev/proj"));
    let inspected = scene.engine.inspect(session).unwrap();
    assert_eq!(inspected.synthetic_results, 0);
    let users: Vec<_> = inspected
        .messages
        .iter()
        .filter(|message| message.role == Role::User)
        .map(forklore_core::Message::plain_text)
        .skip(1)
        .collect();
    assert_eq!(users, ["[tool] write it", "[tool] again", "third"]);
}

/// An operation of Gemini CLI on its list of messages.
#[derive(Clone, Copy, Debug)]
enum Does {
    Says,
    GoesBack(usize),
    Forgets,
    TellsAll,
    TellsFirst(usize),
    TellsOthers(usize),
    Calls,
}

/// Returns the lines that these operations write, the agent's list of message ids after them, and
/// the total number of messages.
fn played(done: &[Does]) -> (Vec<String>, Vec<String>, usize) {
    let (mut lines, mut list, mut count) = (Vec::new(), Vec::<String>::new(), 0);
    let mut next = |list: &mut Vec<String>| {
        count += 1;
        let who = if count % 2 == 0 { "b" } else { "a" };
        list.push(format!("{who}{count}"));
    };
    let all = |list: &[String]| list_of(&list.iter().map(|id| &**id).collect::<Vec<_>>());
    for does in done.iter().chain([&Does::Says]) {
        match *does {
            Does::Says => {
                next(&mut list);
                lines.extend(list.last().map(|id| turn(id)));
            }
            Does::GoesBack(at) if !list.is_empty() => {
                let at = at % list.len();
                lines.push(format!(r#"{{"$rewindTo":"{}"}}"#, list[at]));
                list.truncate(at);
            }
            Does::Forgets => {
                lines.push(r#"{"$rewindTo":"nowhere"}"#.to_owned());
                list.clear();
            }
            Does::TellsAll if !list.is_empty() => lines.push(all(&list)),
            Does::TellsFirst(at) if !list.is_empty() => {
                list.truncate(at % list.len() + 1);
                lines.push(all(&list));
            }
            Does::TellsOthers(at) => {
                list.truncate(at % (list.len() + 1));
                next(&mut list);
                next(&mut list);
                lines.push(all(&list));
            }
            Does::Calls if list.last().is_some_and(|id| id.starts_with('b')) => {
                let calls = r#"","toolCalls":[{"id":"c","name":"ls","status":"success"}]}"#;
                let id = list.last().unwrap();
                lines.push(turn(id).replace("\"}", calls));
            }
            _ => {}
        }
    }
    (lines, list, count)
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        4 => Just(Does::Says),
        1 => (0..20_usize).prop_map(Does::GoesBack),
        1 => Just(Does::Forgets),
        2 => Just(Does::TellsAll),
        1 => (0..20_usize).prop_map(Does::TellsFirst),
        1 => (0..20_usize).prop_map(Does::TellsOthers),
        1 => Just(Does::Calls),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// After any operations on the agent's list, the leaf contains exactly the list. Every message
    /// is in one session, and the file is restored. The result is the same whether the file is
    /// imported at once or line by line.
    #[test]
    fn the_leaf_is_the_list_that_the_agent_has(done in proptest::collection::vec(does(), 0..24)) {
        let (lines, list, count) = played(&done);
        let whole = format!("{HEADER}\n{}\n", lines.join("\n"));
        let (at_once, in_steps) = (Scene::new(), Scene::new());
        let report = at_once.import(&at_once.file("f.jsonl", whole.as_bytes()));
        let mut written = format!("{HEADER}\n");
        for line in &lines {
            written += &format!("{line}\n");
            in_steps.import(&in_steps.file("f.jsonl", written.as_bytes()));
        }
        prop_assert_eq!(at_once.everything(), in_steps.everything());
        let spoken = |stored: &LogEntry| {
            matches!(stored.event.kind.as_str(), "user_message" | "assistant_message")
        };
        let own = report.sessions.iter().flat_map(|session| {
            let own = |stored: &LogEntry| Scene::is_own(stored, &session.session_id);
            at_once.events(&session.session_id).into_iter().filter(own).collect::<Vec<_>>()
        });
        prop_assert_eq!(own.filter(spoken).count(), count);
        let (leaf, _) = report.sources[0].meant().unwrap();
        let log = at_once.events(leaf).into_iter().filter(spoken);
        prop_assert_eq!(log.map(|stored| stored.event.id.to_string()).collect::<Vec<_>>(), list);
        prop_assert_eq!(at_once.restore(leaf), whole.as_bytes());
    }
}
