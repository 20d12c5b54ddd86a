//! Tests of going back to an earlier question.

use crate::world::World;

#[test]
fn the_chosen_question_comes_back_into_the_prompt() {
    let mut world = World::new();
    let lines = [
        "/rewind",
        "Name three\nbirds.",
        "And colours?",
        "/rewind",
        "esc",
        "/rewind",
        "0",
        "^M",
        "/turns",
        "/back",
        "/rewind turn:1",
        "^M",
        "/rewind end",
        "/turns",
    ];
    let shown = world.talk(World::start(), &lines);
    insta::assert_snapshot!(shown);
}

#[test]
fn the_system_text_stays_and_files_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let note = dir.path().join("note.md");
    std::fs::write(&note, "A note.\n").unwrap();
    let mut world = World::with_system();
    let attach = format!("/attach {}", note.display());
    let lines = [&*attach, "What is this?", "/rewind", "0", "^M", "/turns"];
    let shown = world.talk(World::start(), &lines);
    insta::assert_snapshot!(shown.replace(dir.path().to_str().unwrap(), "[dir]"));
}
