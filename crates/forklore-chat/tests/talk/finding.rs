//! Tests of how one finds the way between sessions, and what is said where there is none.

use forklore_core::workspace::Workspace;
use forklore_engine::Create;

use crate::world::World;

#[test]
fn a_diff_without_a_name_compares_with_where_one_was_before() {
    let mut world = World::new();
    let lines = [
        "hello",
        "/fork --label b",
        "and b?",
        "/diff",
        "/back",
        "/diff",
        "/switch b",
        "/diff",
        "/back",
        "/back",
    ];
    world.talk(World::start(), &lines);
    assert_eq!(world.views, ["diff main b", "diff b main", "diff main b"]);
}

#[test]
fn what_is_not_there_is_answered_with_what_there_is() {
    let mut world = World::new();
    let mut lines = vec!["/switch", "/switch nope", "hello", "/switch nope", "/diff", "/bring"];
    let forks: Vec<String> = (1..=14).map(|n| format!("/fork --stay --label plan-{n}")).collect();
    lines.extend([
        "/fork 5 --lable x",
        "/fork --stay --label plan-a",
        "/switch nope",
        "/diff nope",
    ]);
    lines.extend(forks.iter().map(String::as_str));
    lines.extend(["/switch nope", "/resume ./gone.jsonl", "/history 0", "/history many"]);
    let shown = world.talk(World::start(), &lines);
    let shown: Vec<&str> = shown.lines().filter(|line| !line.starts_with("Forked to ")).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_history_that_ends_early_says_so() {
    let mut world = World::new();
    let workspace = Workspace::new("/demo");
    for _ in 0..51 {
        world.engine().create(&Create::in_workspace(workspace.clone())).unwrap();
    }
    let lines = ["/history", "/resume", "/history 51", "/history 2", "/history all"];
    let shown = world.talk(World::start(), &lines);
    insta::assert_snapshot!(shown);
    assert_eq!(world.views, ["list 50", "list 50", "list 51", "list 2", "list 0"]);
}
