//! Imports Pi's files of version 4, whose entries belong to lanes.

use forklore_core::{Header, Message, SessionKind};

use crate::files::testdata;
use crate::scene::Scene;

const FIRST: &str = "01a20000-0000-7000-8000-000000000001";
const FORK: &str = "01a20000-0000-7000-8000-000000000002";

fn header(scene: &Scene, session: &str) -> Header {
    scene.engine.show(&session.parse().unwrap()).unwrap()
}

fn texts(scene: &Scene, session: &str) -> Vec<String> {
    let seen = scene.engine.inspect(&session.parse().unwrap()).unwrap();
    seen.messages.iter().map(Message::plain_text).collect()
}

#[test]
fn lanes_are_branches_and_only_entries_are_events() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let report = scene.import(&testdata().join("pi/v4"));
        assert_eq!(report.problems, []);
        let first = header(&scene, FIRST);
        assert_eq!(first.title.as_deref(), Some("Two plans"));
        assert_eq!((first.workspace.as_str(), first.counts.turns), ("/home/dev/shop", 2));
        // The lane that is not `main` is a branch, and not what Pi resumes.
        assert_eq!(first.leaf, Some(first.id));
        let summary = "[Summary of the conversation so far]\nPlan B was chosen.";
        assert_eq!(texts(&scene, FIRST), [summary, "Then do plan B.", "Done."]);
        let mut branches = scene.sessions().into_iter();
        let lane = branches.find(|it| ![FIRST, FORK].contains(&it.id.as_str())).unwrap();
        let expected = ["Plan A or plan B?", "And plan A?", "Plan A is slower."];
        assert_eq!(texts(&scene, lane.id.as_str()), expected);

        let fork = header(&scene, FORK);
        assert_eq!(
            (fork.kind, fork.parent_id),
            (SessionKind::Branch, Some(FIRST.parse().unwrap()))
        );
        let expected = ["Plan A or plan B?", "I look.", "", "Plan B.", "Something else?"];
        assert_eq!(texts(&scene, FORK), expected);
        for session in [FIRST, FORK] {
            let path = scene.source(&session.parse().unwrap()).paths[0].path.clone();
            assert_eq!(scene.restore(&session.parse().unwrap()), std::fs::read(path).unwrap());
        }
    }
}
