//! Tests of `tree`, which draws families as trees.

use forklore_core::SessionKind;
use forklore_core::header::CopyOf;
use forklore_core::workspace::Workspace;
use forklore_engine::{Bring, Delete, DeleteMode, Fork, Summarize, TreeRequest};
use forklore_store::port::Change;

use crate::world::{World, id, on_every_store};

on_every_store!(
    forks_and_delegates_are_found,
    every_view_of_a_family_shows_which_branches_have_a_summary,
    deep_trees_need_no_recursion,
    deleted_ancestors_stay_as_marks_dead_ends_go,
    trees_of_a_workspace,
    copies_stand_below_their_originals,
);

fn drawn(world: &World, session: Option<&str>) -> Vec<String> {
    let request = TreeRequest { session: session.map(id), ..TreeRequest::default() };
    let trees = world.engine.tree(&request).unwrap();
    trees
        .nodes
        .iter()
        .map(|node| {
            let mark = if node.deleted { "!" } else { "" };
            format!("{}{}{mark}", " ".repeat(node.depth), node.session_id)
        })
        .collect()
}

fn forks_and_delegates_are_found(world: &World) {
    world.session("p", "u1 a1 u2 a2");
    world.fork("p", "turn:2", "late");
    world.fork("p", "turn:1", "early");
    world.fork("early", "", "deep");
    let delegate =
        Fork { kind: SessionKind::Delegate, id: Some(id("sub")), ..Fork::of(id("early")) };
    world.engine.fork(&delegate).unwrap();
    // Children are ordered by cut. A request for any session of the family returns the whole
    // family.
    let expected = ["p", " early", "  deep", "  sub", " late"];
    assert_eq!(drawn(world, Some("p")), expected);
    assert_eq!(drawn(world, Some("deep")), expected);
}

fn every_view_of_a_family_shows_which_branches_have_a_summary(world: &World) {
    world.session("p", "u1 c:x");
    let fork = |name: &str, summarize: Option<Summarize>| {
        world.engine.fork(&Fork { id: Some(id(name)), summarize, ..Fork::of(id("p")) }).unwrap();
        world.write(name, "u2 a2");
    };
    fork("plain", None);
    fork("summed", Some(Summarize::Deterministic));
    fork("told", None);
    world.engine.bring(&Bring::new(id("plain"), id("told"))).unwrap();
    world.fork("summed", "", "below");
    let request = TreeRequest { session: Some(id("p")), ..TreeRequest::default() };
    let nodes = world.engine.tree(&request).unwrap().nodes;
    let header = |name: &str| {
        nodes.iter().find(|node| node.session_id == id(name)).unwrap().header.clone().unwrap()
    };
    let branches = world.engine.branches(&id("p")).unwrap().branches;
    let children = world.engine.lineage(&id("p")).unwrap().children;
    let above = world.engine.lineage(&id("below")).unwrap().ancestors;
    for (name, has) in
        [("p", false), ("plain", false), ("summed", true), ("told", false), ("below", false)]
    {
        assert_eq!(header(name).summary, has, "{name}");
        assert_eq!(world.engine.has_summary(&world.header(name)), has, "{name}");
        let branch = branches.iter().find(|branch| branch.session_id == id(name)).unwrap();
        assert_eq!(branch.summary, has, "{name}");
        let mut relatives = children.iter().chain(&above);
        let relative = relatives.find(|relative| relative.session_id == id(name));
        assert!(relative.is_none_or(|relative| relative.summary == has), "{name}");
    }
    assert_eq!(above.iter().map(|one| one.summary).collect::<Vec<_>>(), [true, false]);
    let summed = header("summed");
    assert_eq!((summed.event_count, summed.workspace), (2, Workspace::new("/demo")));
    assert_eq!(header("p").event_count, 0);
}

fn deep_trees_need_no_recursion(world: &World) {
    world.session("s0", "u1");
    for depth in 1..600 {
        world.fork(&format!("s{}", depth - 1), "", &format!("s{depth}"));
    }
    let nodes = world
        .engine
        .tree(&TreeRequest { session: Some(id("s0")), ..Default::default() })
        .unwrap()
        .nodes;
    assert_eq!((nodes.len(), nodes.last().unwrap().depth), (600, 599));
    assert_eq!(world.engine.lineage(&id("s599")).unwrap().ancestors.len(), 599);
    assert_eq!(world.shape("s599"), "F u1");
}

fn deleted_ancestors_stay_as_marks_dead_ends_go(world: &World) {
    world.session("p", "u1");
    world.fork("p", "", "c");
    world.fork("c", "", "d");
    world.fork("p", "", "e");
    let delete = |name: &str| {
        let mode = DeleteMode::DetachChildren;
        world
            .engine
            .delete(&Delete { session: id(name), mode, dry_run: false, erase: true })
            .unwrap();
    };
    delete("c");
    delete("e");
    assert_eq!(drawn(world, Some("d")), ["p", " c!", "  d"]);
    delete("p");
    assert_eq!(drawn(world, Some("d")), ["p!", " c!", "  d"]);
}

fn trees_of_a_workspace(world: &World) {
    world.session("p", "u1");
    world.pass(1);
    world.session("q", "u1");
    let elsewhere =
        Fork { workspace: Some(Workspace::new("/else")), id: Some(id("far")), ..Fork::of(id("p")) };
    world.engine.fork(&elsewhere).unwrap();
    let of = |path: &str| {
        let request =
            TreeRequest { workspace: Some(Workspace::new(path)), ..TreeRequest::default() };
        let nodes = world.engine.tree(&request).unwrap().nodes;
        nodes.iter().map(|node| node.session_id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of("/demo"), ["q", "p", "far"]);
    assert_eq!(of("/else"), ["p", "far"]);
    assert_eq!(of("/none"), Vec::<String>::new());
}

fn copies_stand_below_their_originals(world: &World) {
    let link = |copy: &str, original: &str| {
        let copy_of = CopyOf { session_id: id(original), index: 1 };
        world.engine.store().change(&id(copy), &Change::CopyOf(Some(copy_of))).unwrap();
    };
    for session in ["p", "q", "r", "x", "y", "lost"] {
        world.session(session, "u1 a1");
    }
    world.fork("p", "", "fork");
    world.fork("q", "", "of-copy");
    link("q", "fork");
    link("r", "q");
    link("x", "y");
    link("y", "x");
    link("lost", "gone");
    let mut lines = drawn(world, None);
    // The most recently updated family comes first. All families of this test have the same time.
    let tops: Vec<_> = (0..lines.len()).filter(|at| !lines[*at].starts_with(' ')).collect();
    let at = tops.iter().position(|at| lines[*at] == "p").unwrap();
    let end = tops.get(at + 1).copied().unwrap_or(lines.len());
    let family: Vec<_> = lines.drain(tops[at]..end).collect();
    assert_eq!(family, ["p", " fork", "  q", "   r", "   of-copy"]);
    lines.sort();
    assert_eq!(lines, ["lost", "x", "y"]);
    assert_eq!(drawn(world, Some("q")), ["q", " of-copy"]);
}
