//! Imports sessions of Qwen Code: a rewind, a branch, a compression and a sub-agent.

use std::path::PathBuf;

use forklore_core::{Header, Message, Part, Role, SessionKind};
use forklore_engine::UsageScope;

use crate::files::testdata;
use crate::scene::Scene;

const REWOUND: &str = "a32d3133-88a2-4e1b-b4be-a929eae0f7e9";
const BRANCH: &str = "f228eecf-5a48-42dd-a8eb-22be08b5e646";
const COMPRESSED: &str = "ecba54cb-c397-4b76-883d-b67c57902878";

fn genuine() -> PathBuf {
    testdata().join("qwen/genuine")
}

fn chats() -> PathBuf {
    genuine().join("projects/-home-dev-shop/chats")
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
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let report = scene.import(&genuine());
        assert_eq!(report.problems, []);
        for session in [REWOUND, BRANCH, COMPRESSED] {
            let path = chats().join(format!("{session}.jsonl"));
            let restored = scene.restore(&session.parse().unwrap());
            assert_eq!(restored, std::fs::read(path).unwrap());
        }
        let again = scene.import(&genuine());
        assert_eq!(again.sessions.iter().map(|session| session.appended).max(), Some(0));
    }
}

#[test]
fn a_rewind_is_a_branch_and_a_branch_shares_its_parent() {
    let scene = Scene::new();
    scene.import(&genuine());
    let rewound = header(&scene, REWOUND);
    assert_eq!((rewound.workspace.as_str(), rewound.title), ("/home/dev/shop", None));
    let abandoned = ["Plan A or plan B?", "Answer 15.", "Tell me more.", "Answer 17."];
    assert_eq!(texts(&scene, REWOUND), abandoned);
    let leaf = rewound.leaf.unwrap();
    let resumed = ["Plan A or plan B?", "Answer 15.", "Plan B then.", "Answer 20."];
    assert_eq!(texts(&scene, leaf.as_str()), resumed);

    let branch = header(&scene, BRANCH);
    assert_eq!(branch.title.as_deref(), Some("another way(1)"));
    assert_eq!((branch.kind, branch.parent_id), (SessionKind::Branch, Some(leaf)));
    assert_eq!(branch.inherited.inheritable, 4);
    let all = [&resumed[..], &["And in the branch?", "Answer 23."]].concat();
    assert_eq!(texts(&scene, BRANCH), all);
    // The records of the session's title are no messages and begin no branch.
    assert_eq!(branch.leaf, Some(branch.id));
    assert_eq!(scene.sessions().len(), 5);
}

#[test]
fn after_a_compression_the_model_sees_what_qwen_code_sends() {
    let scene = Scene::new();
    scene.import(&genuine());
    let seen = scene.engine.inspect(&COMPRESSED.parse().unwrap()).unwrap();
    let roles: Vec<Role> = seen.messages.iter().map(|message| message.role).collect();
    use Role::{Assistant as A, Tool as T, User as U};
    assert_eq!(roles, [U, A, U, U, A, T, A, U, A, U, A]);
    let summary = seen.messages[0].plain_text();
    assert!(summary.starts_with("<state_snapshot><overall_goal>Choose plan A"), "{summary}");
    let failed = seen.messages[5].to_parts();
    let [Part::ToolResult { call_id, is_error, .. }] = &failed[..] else { panic!("{failed:?}") };
    assert_eq!((call_id.as_str(), *is_error), ("call_7_0", true));
    let scope = UsageScope::Session(COMPRESSED.parse().unwrap());
    let spending = scene.engine.usage_report(&scope).unwrap();
    let models: Vec<_> = spending.models.iter().map(|it| (it.model.as_deref(), it.calls)).collect();
    assert_eq!(models, [(Some("mock-model"), 8)]);
}

#[test]
fn a_sub_agent_is_a_delegate_of_its_session() {
    let scene = Scene::new();
    scene.import(&genuine());
    let agent = header(&scene, "agent-general-purpose-call_3_0");
    assert_eq!(agent.kind, SessionKind::Delegate);
    assert_eq!(agent.parent_id, Some(COMPRESSED.parse().unwrap()));
    assert_eq!(texts(&scene, agent.id.as_str()), ["Say what is there.", "Answer 4."]);
    // The document about the sub-agent is restored with the sub-agent's session file.
    let files = scene.engine.files(&agent.id).unwrap();
    let paths: Vec<_> = files.iter().map(|file| file.relative_path().to_owned()).collect();
    assert!(paths.contains(&format!("{}.meta.json", agent.id).into()), "{paths:?}");
}

#[test]
fn an_older_version_is_read_too() {
    let scene = Scene::new();
    let report = scene.import(&testdata().join("qwen/older"));
    assert_eq!(report.problems, []);
    let session = "7d2c1b0a-2222-4333-8444-955556666777";
    let seen = scene.engine.inspect(&session.parse().unwrap()).unwrap();
    let roles: Vec<Role> = seen.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
    assert_eq!(header(&scene, session).counts.turns, 1);
}
