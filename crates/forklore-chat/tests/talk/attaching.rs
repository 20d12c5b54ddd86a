//! Tests of files that are attached to a prompt.

use forklore_core::{Content, Part};

use crate::world::World;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x06\0\0\0";

#[test]
fn files_go_with_the_next_message() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (shot, note, blob) = (path("my shot.txt"), path("note.md"), path("fake.png"));
    std::fs::write(&shot, PNG).unwrap();
    std::fs::write(&note, "A note.\n").unwrap();
    std::fs::write(&blob, b"\xff\0\xfe").unwrap();
    let mut world = World::new();
    let shown = world.talk(
        World::start(),
        &[
            "/attach",
            &format!("/attach '{shot}' {note}"),
            "/attach",
            "What is this?",
            "/attach",
            &format!("/attach {blob}"),
            "/attach --drop",
            &format!("/attach {}", path("gone.png")),
            &format!("/attach {}", dir.path().display()),
            "And now?",
        ],
    );
    insta::assert_snapshot!(shown.replace(dir.path().to_str().unwrap(), "[dir]"));
    let requests = world.requests.lock().unwrap();
    let Content::Parts(parts) = &requests[0].messages[0].content else { panic!("{requests:?}") };
    let named: Vec<_> = parts[1..]
        .iter()
        .map(|part| match part {
            Part::Attachment { media_type, name, missing: false, .. } => {
                (name.as_deref().unwrap(), media_type.as_str())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(named, [("my shot.txt", "image/png"), ("note.md", "text/markdown")]);
    assert_eq!(parts[0], Part::Text { text: "What is this?".into() });
    assert_eq!(requests[1].messages[2].content, Content::Text("And now?".into()));
}

#[test]
fn files_wait_until_their_message_is_in_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shot.png");
    std::fs::write(&path, PNG).unwrap();
    let mut world = World::new();
    world.talk(World::start(), &["Hello"]);
    let engine = world.engine().clone();
    let id = engine.list(&forklore_engine::ListRequest::default()).unwrap().sessions.remove(0).id;
    engine.take_lease(&id, "another program").unwrap();
    let start = forklore_host::Start { session: Some(id), ..World::start() };
    let attach = format!("/attach {}", path.display());
    let shown = world.talk(start, &[&attach, "What is this?", "n", "/attach"]);
    let shown = shown.replace(dir.path().to_str().unwrap(), "[dir]");
    assert!(shown.trim_end().contains("shot.png (image/png, 29 bytes)\nTo go on"), "{shown}");
}
