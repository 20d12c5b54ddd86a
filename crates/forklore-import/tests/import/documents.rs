//! Imports files that are one JSON document: their records, the bytes between records, damage, and
//! rewritten documents.

use forklore_core::{Message, Role};
use forklore_import::{ImportReport, ProblemKind};

use crate::scene::{Scene, Stretch};

const OPENAI: &str = "[\n  {\"role\": \"system\", \"content\": \"Be brief.\"},\n  {\n    \"role\": \
                      \"user\",\n    \"content\": \"hi\"\n  }\n]\n";

fn texts(scene: &Scene, report: &ImportReport) -> Vec<(Role, String)> {
    let inspected = scene.engine.inspect(&report.sessions[0].session_id).unwrap();
    let content = |message: &Message| (message.role, message.plain_text());
    inspected.messages.iter().map(content).collect()
}

fn kinds(report: &ImportReport) -> Vec<ProblemKind> {
    report.problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn a_document_is_its_records_and_what_stands_between_them() {
    let scene = Scene::new();
    let path = scene.file("chat.json", OPENAI.as_bytes());
    let report = scene.import(&path);
    assert_eq!(report.problems, []);
    let session = &report.sessions[0];
    assert_eq!((session.dialect.as_str(), session.events), ("plain", 2));
    let expected = [(Role::System, "Be brief.".to_owned()), (Role::User, "hi".to_owned())];
    assert_eq!(texts(&scene, &report), expected);
    let data: Vec<_> = scene.events(&session.session_id);
    assert_eq!(data[0].event.data.get(), r#"{"role": "system", "content": "Be brief."}"#);
    assert_eq!(data[1].event.data.get(), r#"{"role":"user","content":"hi"}"#);
    assert_eq!(scene.restore(&session.session_id), OPENAI.as_bytes());
}

#[test]
fn a_document_for_people_is_stored_once() {
    let message = |n: usize| {
        let document = format!(
            r#"{{"role":"user","content":[{{"type":"text","text":"{n} {{,}}"}}],"more":{{}}}}"#
        );
        serde_json::from_str::<serde_json::Value>(&document).unwrap()
    };
    let messages: Vec<_> = (0..200).map(message).collect();
    let spread = serde_json::to_string_pretty(&messages).unwrap();
    // A value with irregular white space cannot be derived from its payload, so its bytes are
    // stored as they are.
    let text = spread.replacen("\"more\": {}", "\"more\":{ }", 1);
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let path = scene.file("chat.json", text.as_bytes());
        let session = scene.import(&path).sessions[0].session_id.clone();
        assert_eq!(scene.restore(&session), text.as_bytes());
        let ranges = scene.ranges(&session);
        let raw = ranges.iter().filter(|it| matches!(it, Stretch::Raw(..))).count();
        let events = ranges.iter().filter(|it| matches!(it, Stretch::Event(..))).count();
        assert_eq!((raw, events), (1, 199));
        assert!(!scene.holds(br#""text": "1 {,}""#));
    }
}

#[test]
fn a_document_written_anew_is_a_new_revision_and_the_old_one_stays() {
    let scene = Scene::sqlite();
    let path = scene.file("chat.json", OPENAI.as_bytes());
    let first = scene.import(&path).sessions[0].session_id.clone();
    let longer = OPENAI.replace("\n]", ",\n  {\"role\": \"assistant\", \"content\": \"yes\"}\n]");
    std::fs::write(&path, &longer).unwrap();
    let report = scene.import(&path);
    assert_eq!(kinds(&report), [ProblemKind::Rewritten]);
    let second = &report.sessions[0];
    assert_eq!((second.events, second.appended), (1, 1));
    assert_eq!(second.parent_session_id.as_ref(), Some(&first));
    assert_eq!(scene.restore(&first), OPENAI.as_bytes());
    assert_eq!(scene.restore(&second.session_id), longer.as_bytes());
    assert_eq!(scene.import(&path).sessions[0].appended, 0);
}

#[test]
fn what_stands_before_damage_is_imported_and_nothing_is_lost() {
    let message = r#"{"role":"user","content":"hi"}"#;
    for (behind, line) in [("", 1), (",\n\n {\"role\":\"us", 1), (",nonsense]", 1), ("]]", 1)] {
        let scene = Scene::new();
        let text = format!("[{message}{behind}");
        let path = scene.file("chat.json", text.as_bytes());
        let report = scene.import_as(&path, "plain");
        assert_eq!(kinds(&report), [ProblemKind::Damage], "{text}");
        let at = (report.problems[0].line, report.problems[0].offset);
        assert_eq!(at, (Some(line), Some(message.len() as u64 + 1)), "{text}");
        assert_eq!(scene.restore(&report.sessions[0].session_id), text.as_bytes());
    }
}

#[test]
fn documents_that_hold_nothing_are_passed_over() {
    let texts =
        ["", "[", "[]", "{}", "{\"messages\":", "{\"messages\":{}}", "\u{feff}", "[[[[", "7"];
    for text in texts.map(str::to_owned).into_iter().chain([format!("[{}", "[".repeat(100_000))]) {
        for dialect in ["plain", "gemini", "opencode"] {
            let scene = Scene::new();
            let path = scene.file("session-a.json", text.as_bytes());
            let report = scene.import_as(&path, dialect);
            assert_eq!((report.files, report.sessions.len()), (0, 0), "{dialect} {text:.20}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_and_halves_of_emoji_are_given_back() {
    let scene = Scene::new();
    let bytes = b"\xef\xbb\xbf[{\"role\":\"user\",\"content\":\"a\xff\xfeb\"},\n\
                  {\"role\":\"user\",\"content\":\"c\\ud83d\"},{\"role\":\"user\",\"content\":\"d\"}]";
    let path = scene.file("chat.json", bytes);
    let report = scene.import(&path);
    assert_eq!(kinds(&report), [ProblemKind::NotUtf8]);
    let texts_read = texts(&scene, &report).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    assert_eq!(texts_read, ["a??b", "c\u{fffd}", "d"]);
    assert_eq!(scene.restore(&report.sessions[0].session_id), bytes);
}

#[test]
fn documents_of_anthropics_form_have_their_calls_and_instructions() {
    let scene = Scene::new();
    let report = scene.import(&crate::files::testdata().join("plain/anthropic.json"));
    let log = scene.events(&report.sessions[0].session_id);
    let kinds: Vec<_> = log.iter().map(|stored| stored.event.kind.as_str()).collect();
    let expected =
        ["system_message", "user_message", "assistant_message", "tool_result", "assistant_message"];
    assert_eq!(kinds, expected);
    let inspected = scene.engine.inspect(&report.sessions[0].session_id).unwrap();
    assert_eq!((inspected.synthetic_results, inspected.messages.len()), (0, 5));
    assert_eq!(
        inspected.messages[0],
        Message {
            role: Role::System,
            content: forklore_core::Content::Parts(vec![forklore_core::Part::Text {
                text: "Answer briefly.".into()
            }]),
        }
    );
}

#[test]
fn a_folder_gives_the_documents_that_somebody_recognises() {
    let scene = Scene::new();
    let folder = scene.folder.path().join("many");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("chat.json"), OPENAI).unwrap();
    std::fs::write(folder.join("package.json"), "{\"name\":\"x\"}").unwrap();
    std::fs::write(folder.join("list.json"), "[1,2]").unwrap();
    std::fs::write(folder.join("torn.json"), "{\"a").unwrap();
    let report = scene.import(&folder);
    assert_eq!((report.files, report.skipped, report.problems.len()), (1, 0, 0), "{report:?}");
}
