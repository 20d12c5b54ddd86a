//! Imports Codex's files of other forms: the document of its first versions, and the new file that
//! Codex begins at a revert.

use std::path::PathBuf;

use forklore_core::{Header, Role, SessionId};

use crate::files::testdata;
use crate::scene::Scene;

const MAIN: &str = "01a1ffec-705a-7580-a2e1-49e6a681cc47";
const REVISION: &str = "01a1ffec-7367-70f3-8a36-b01004bf352f";

fn genuine() -> PathBuf {
    testdata().join("codex/genuine")
}

fn file(name: &str) -> PathBuf {
    genuine().join("sessions/2026/11/21").join(format!("rollout-2026-11-21T21-04-{name}.jsonl"))
}

fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

fn header(scene: &Scene, session: &str) -> Header {
    scene.engine.show(&id(session)).unwrap()
}

#[test]
fn the_first_version_wrote_one_document() {
    for scene in [Scene::new(), Scene::sqlite(), Scene::files()] {
        let report = scene.import(&testdata().join("codex/first"));
        assert_eq!(report.problems, []);
        let session = id("0f4c1d52-2222-4333-8444-955556666777");
        let seen = scene.engine.inspect(&session).unwrap();
        let roles: Vec<Role> = seen.messages.iter().map(|message| message.role).collect();
        use Role::{Assistant as A, Tool as T, User as U};
        assert_eq!(roles, [U, A, A, T, A]);
        let created = header(&scene, session.as_str()).created;
        assert_eq!(created, "2025-04-20T10:00:00Z".parse().unwrap());
        let path = scene.source(&session).paths[0].path.clone();
        assert_eq!(scene.restore(&session), std::fs::read(path).unwrap());
        assert_eq!(scene.import(&testdata().join("codex/first")).sessions[0].appended, 0);
    }
}

#[test]
fn after_a_revert_the_leaf_is_what_codex_would_resume() {
    let scene = Scene::new();
    scene.import(&genuine());
    assert_eq!(header(&scene, MAIN).leaf, Some(id(REVISION)));
    // The original may also be read alone, and the revision later.
    let scene = Scene::new();
    scene.import(&file(&format!("07-{MAIN}")));
    assert_eq!(header(&scene, MAIN).leaf, Some(id(MAIN)));
    scene.import(&file(&format!("08-{MAIN}_{REVISION}")));
    assert_eq!(header(&scene, MAIN).leaf, Some(id(REVISION)));
    assert_eq!(scene.import(&genuine()).problems, []);
    assert_eq!(header(&scene, MAIN).leaf, Some(id(REVISION)));
}
