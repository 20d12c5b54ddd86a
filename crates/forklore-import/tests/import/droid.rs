//! Imports sessions of Factory Droid: a conversation with calls and a compaction, a fork, and a
//! sub-agent.

use forklore_core::{Header, Message, Part, Role, SessionKind};

use crate::files::testdata;
use crate::scene::Scene;

const FIRST: &str = "5b1e0c1a-0000-4000-8000-000000000001";
const FORK: &str = "5b1e0c1a-0000-4000-8000-000000000002";
const AGENT: &str = "5b1e0c1a-0000-4000-8000-000000000003";

fn imported(scene: Scene) -> Scene {
    let report = scene.import(&testdata().join("droid/sessions/-home-dev-shop"));
    assert_eq!(report.problems, []);
    scene
}

fn header(scene: &Scene, session: &str) -> Header {
    scene.engine.show(&session.parse().unwrap()).unwrap()
}

fn texts(scene: &Scene, session: &str) -> Vec<String> {
    let seen = scene.engine.inspect(&session.parse().unwrap()).unwrap();
    seen.messages.iter().map(Message::plain_text).collect()
}

#[test]
fn every_session_is_read_and_restored() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()].map(imported) {
        for session in [FIRST, FORK, AGENT] {
            let name = format!("droid/sessions/-home-dev-shop/{session}.jsonl");
            let restored = scene.restore(&session.parse().unwrap());
            assert_eq!(restored, std::fs::read(testdata().join(name)).unwrap());
        }
        let files = scene.engine.files(&FIRST.parse().unwrap()).unwrap();
        let paths: Vec<_> = files.iter().map(|file| file.relative_path().to_owned()).collect();
        assert!(paths.contains(&format!("{FIRST}.settings.json").into()), "{paths:?}");
    }
}

#[test]
fn after_a_compaction_the_model_sees_the_summary_and_what_was_retained() {
    let scene = imported(Scene::new());
    let expected = [
        "Plan B was chosen.",
        "Then do plan B.",
        "I ask another agent.",
        "",
        "Done.",
        "What is left?",
        "Nothing.",
    ];
    assert_eq!(texts(&scene, FIRST), expected);
    let first = header(&scene, FIRST);
    assert_eq!(first.title.as_deref(), Some("Plan A or plan B?"));
    assert_eq!((first.workspace.as_str(), first.counts.turns), ("/home/dev/shop", 3));
    assert_eq!(scene.engine.first_words(&first).unwrap().as_deref(), Some("Plan A or plan B?"));
}

#[test]
fn calls_results_and_thoughts_are_read() {
    let scene = imported(Scene::new());
    let seen = scene.engine.inspect(&FORK.parse().unwrap()).unwrap();
    let [thought, _, call, second] = &seen.messages[1].to_parts()[..] else {
        panic!("{:?}", seen.messages[1])
    };
    let Part::Reasoning { text, provider, model, .. } = thought else { panic!("{thought:?}") };
    let author = (provider.as_deref(), model.as_deref());
    assert_eq!(
        (text.as_str(), author),
        ("I compare them.", (Some("anthropic"), Some("claude-sonnet-4-5")))
    );
    for (call, expected) in [(call, "toolu_1"), (second, "toolu_2")] {
        let Part::ToolCall { id, name, .. } = call else { panic!("{call:?}") };
        assert_eq!((id.as_str(), name.as_str()), (expected, "Read"));
    }
    let results = seen.messages[2].to_parts();
    let failed: Vec<bool> = results
        .iter()
        .map(|part| matches!(part, Part::ToolResult { is_error: true, .. }))
        .collect();
    assert_eq!((seen.messages[2].role, failed), (Role::Tool, vec![false, true]));
}

#[test]
fn a_fork_shares_what_it_repeats_and_a_sub_agent_is_a_delegate() {
    let scene = imported(Scene::new());
    let fork = header(&scene, FORK);
    assert_eq!((fork.kind, fork.parent_id), (SessionKind::Branch, Some(FIRST.parse().unwrap())));
    assert_eq!(fork.inherited.inheritable, 4);
    let agent = header(&scene, AGENT);
    assert_eq!(
        (agent.kind, agent.parent_id),
        (SessionKind::Delegate, Some(FIRST.parse().unwrap()))
    );
}

#[test]
fn a_file_without_its_beginning_is_read_and_reported() {
    let scene = Scene::new();
    let folder = testdata().join("droid/sessions/-home-dev-projects-lookalike");
    let report = scene.import(&folder);
    let messages: Vec<_> = report.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["the file does not begin with whose session it is"]);
    assert_eq!(report.sessions.len(), 2);
}
