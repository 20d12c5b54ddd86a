//! Imports files of unsupported agents that resemble those of a supported agent.

use forklore_import::ProblemKind;

use crate::files::testdata;
use crate::scene::Scene;

#[test]
fn sessions_of_qwen_code_and_factory_droid_are_refused_by_name() {
    let session = "-home-dev-projects-lookalike/";
    let name = "7d2c1b0a-2222-4333-8444-955556666777.jsonl";
    for (path, agent) in [
        (format!("qwen-code/projects/{session}chats/{name}"), "Qwen Code"),
        (format!("factory-droid/sessions/{session}{name}"), "Factory Droid"),
    ] {
        let scene = Scene::new();
        let report = scene.import(&testdata().join("lookalikes").join(path));
        assert!(report.sessions.is_empty(), "{report:?}");
        assert_eq!(report.problems.len(), 1, "{report:?}");
        let problem = &report.problems[0];
        assert_eq!(problem.kind, ProblemKind::UnknownFormat);
        assert!(problem.message.contains(agent), "{problem:?}");
    }
}
