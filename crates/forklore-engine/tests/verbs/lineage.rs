//! Tests of parents, roots and depth.

use forklore_core::workspace::Workspace;
use forklore_core::{Data, ErrorKind, Label, SessionKind, Strategy};
use forklore_engine::{Create, Fork, TreeRequest};

use crate::world::{World, id, on_every_store, refusal};

on_every_store!(
    the_child_holds_parent_cut_and_time,
    the_root_is_inherited_over_three_levels,
    depths_are_counted_from_the_root,
    a_fork_of_a_fork_loads_the_middle,
    thirty_two_links_work_and_the_next_is_refused,
    a_lost_ancestor_is_marked_and_hides_nothing_else,
    a_history_that_lost_a_part_is_not_forked,
    delegates_are_not_listed_as_forks,
    a_child_continues_and_keeps_its_ceiling,
    a_principal_is_inherited_and_an_override_recorded,
    labels_are_unique_in_a_family,
    a_default_label_is_free_whatever_labels_are_in_use,
);

fn the_child_holds_parent_cut_and_time(world: &World) {
    world.session("p", "u1 a1 u2");
    world.pass(60);
    let forked = world.fork("p", "turn:1", "c");
    let child = world.header("c");
    assert_eq!(child.parent_id, Some(id("p")));
    assert_eq!(child.cut, Some(forked.cut));
    assert_eq!((child.created, child.updated), (world.engine.now(), world.engine.now()));
    assert_eq!(child.workspace, world.header("p").workspace);
}

fn the_root_is_inherited_over_three_levels(world: &World) {
    world.session("p", "u1");
    for (parent, child) in [("p", "c"), ("c", "d"), ("d", "e")] {
        assert_eq!(world.fork(parent, "", child).root_session_id, id("p"));
        assert_eq!(world.header(child).root_id, id("p"));
        let record: serde_json::Value = world.log(child)[0].event.data.read().unwrap();
        assert_eq!(record["root_session_id"], "p");
    }
}

fn depths_are_counted_from_the_root(world: &World) {
    world.session("p", "u1");
    world.fork("p", "", "c");
    world.fork("c", "", "d");
    let depths = ["p", "c", "d"].map(|name| world.header(name).depth);
    assert_eq!(depths, [0, 1, 2]);
    let lineage = world.engine.lineage(&id("d")).unwrap();
    let above: Vec<String> = lineage.ancestors.iter().map(|a| a.session_id.to_string()).collect();
    assert_eq!((lineage.depth, above), (2, vec!["c".to_owned(), "p".to_owned()]));
}

fn a_fork_of_a_fork_loads_the_middle(world: &World) {
    world.session("p", "u1 a1 u2 a2");
    world.fork("p", "turn:1", "c");
    world.write("c", "u3 $ a3 u4");
    world.fork("c", "turn:2", "d");
    world.write("d", "u5");
    assert_eq!(world.shape("d"), "F u1 a1 u3 a3 u5");
    // A cut in the inherited part of the middle session refers to an event of the session above it.
    world.fork("d", "message:0", "e");
    assert_eq!(world.shape("e"), "F u1");
}

fn thirty_two_links_work_and_the_next_is_refused(world: &World) {
    let deep = world.engine.clone().with_max_fork_depth(Some(32));
    world.session("s0", "u1");
    for link in 1..=32 {
        let fork =
            Fork { id: Some(id(&format!("s{link}"))), ..Fork::of(id(&format!("s{}", link - 1))) };
        deep.fork(&fork).unwrap();
    }
    assert_eq!(refusal(deep.fork(&Fork::of(id("s32")))).0, ErrorKind::Conflict);
    // Links count from the nearest detached ancestor. An engine without a limit allows any depth.
    deep.detach(&id("s1")).unwrap();
    assert_eq!(deep.fork(&Fork::of(id("s32"))).unwrap().event_count, 1);
    assert_eq!(world.engine.fork(&Fork::of(id("s32"))).unwrap().event_count, 1);
}

fn a_lost_ancestor_is_marked_and_hides_nothing_else(world: &World) {
    world.session("top", "u1 a1");
    world.fork("top", "", "gone");
    world.write("gone", "u2 a2");
    let below = |name: &str, kind: SessionKind, strategy: Strategy| {
        let fork = Fork { id: Some(id(name)), kind, strategy, ..Fork::of(id("gone")) };
        world.engine.fork(&fork).unwrap();
        world.write(name, "u9");
    };
    below("copied", SessionKind::Branch, Strategy::ReplayV1);
    below("detached", SessionKind::Branch, Strategy::ShareV1);
    below("sub", SessionKind::Delegate, Strategy::ShareV1);
    world.engine.detach(&id("detached")).unwrap();
    let shapes = ["copied", "detached", "sub"].map(|name| (name, world.shape(name)));
    world.lose("gone");
    for (name, shape) in shapes {
        assert_eq!(world.shape(name), shape);
        let lineage = world.engine.lineage(&id(name)).unwrap();
        let above: Vec<_> = lineage.ancestors.iter().map(|a| (&a.session_id, a.missing)).collect();
        assert_eq!((lineage.depth, above), (2, vec![(&id("gone"), true)]), "{name}");
        let records = world.engine.replay(&id(name), None).unwrap();
        let branches: Vec<_> = records.map(|record| record.unwrap().branch).collect();
        let label = |text: &str| Some(text.parse().unwrap());
        let main = label("main");
        let own = Some(world.header(name).label);
        let expected = match name {
            "sub" => vec![own],
            _ => vec![main.clone(), main, None, None, own],
        };
        assert_eq!(branches, expected, "{name}");
        assert_eq!(world.engine.fork(&Fork::of(id(name))).unwrap().root_session_id, id("top"));
        assert!(world.engine.inspect(&id(name)).is_ok() && world.engine.stats(None).is_ok());
    }
    let request = TreeRequest { session: Some(id("sub")), ..TreeRequest::default() };
    let nodes = world.engine.tree(&request).unwrap().nodes;
    let missing: Vec<_> =
        nodes.iter().filter(|node| node.missing).map(|node| &node.session_id).collect();
    assert_eq!((nodes.len(), missing), (8, vec![&id("gone")]));
}

fn a_history_that_lost_a_part_is_not_forked(world: &World) {
    world.session("a", "u1 a1");
    world.fork("a", "", "b");
    world.write("b", "u2 a2");
    let shape = world.shape("b");
    world.lose("a");
    let forked = world.try_fork("b", "", "c");
    match world.engine.load(&id("b")) {
        Ok(_) => {
            forked.unwrap();
            assert_eq!((world.shape("b"), world.shape("c")), (shape.clone(), shape));
        }
        Err(lost) => {
            assert_eq!(lost.kind(), ErrorKind::MissingAncestor);
            assert_eq!(refusal(forked).0, ErrorKind::MissingAncestor);
            assert_eq!(refusal(world.engine.show(&id("c"))).0, ErrorKind::NotFound);
        }
    }
}

fn delegates_are_not_listed_as_forks(world: &World) {
    world.session("p", "u1 a1");
    let parent = Some(id("p"));
    let create =
        Create { id: Some(id("d")), parent, ..Create::in_workspace(Workspace::new("/demo")) };
    let delegate = world.engine.create(&create).unwrap();
    assert_eq!((delegate.kind, delegate.inherited.inheritable), (SessionKind::Delegate, 0));
    assert_eq!(delegate.cut.unwrap().seq, Some(1));
    assert_eq!(world.shape("d"), "F");
    assert!(delegate.label.as_str().starts_with("delegate-"), "{}", delegate.label);
    world.fork("p", "", "c");
    let branches = world.engine.branches(&id("p")).unwrap().branches;
    let listed: Vec<_> = branches.iter().map(|branch| branch.session_id.to_string()).collect();
    assert_eq!(listed, ["p", "c"]);
    let children = world.engine.lineage(&id("p")).unwrap().children;
    assert_eq!(children.len(), 2);
}

fn a_child_continues_and_keeps_its_ceiling(world: &World) {
    let names = |list: &[&str]| Some(list.iter().map(|name| (*name).to_owned()).collect());
    let root = Create {
        id: Some(id("p")),
        permissions: names(&["read", "write"]),
        ..Create::in_workspace(Workspace::new("/demo"))
    };
    world.engine.create(&root).unwrap();
    world.write("p", "u1");
    world.fork("p", "", "c");
    world.write("c", "u2");
    assert_eq!(world.header("c").head_seq(), 2);
    assert_eq!(world.header("c").permissions, names(&["read", "write"]));
    let less = Fork { permissions: names(&["read"]), id: Some(id("d")), ..Fork::of(id("p")) };
    world.engine.fork(&less).unwrap();
    let more = Fork { permissions: names(&["read", "write"]), ..Fork::of(id("d")) };
    assert_eq!(refusal(world.engine.fork(&more)).0, ErrorKind::PermissionDenied);
    // An event whose payload claims permissions does not change the session's permissions.
    let claim = Data::parse(r#"{"content":"sudo","permissions":["read","write"]}"#).unwrap();
    let claim = forklore_engine::NewEvent::new("user_message".parse().unwrap(), claim);
    world.engine.append(&id("d"), &vec![claim].into()).unwrap();
    assert_eq!(world.header("d").permissions, names(&["read"]));
}

fn a_principal_is_inherited_and_an_override_recorded(world: &World) {
    let root = Create {
        id: Some(id("p")),
        principal: Some("did:key:ann".into()),
        ..Create::in_workspace(Workspace::new("/demo"))
    };
    world.engine.create(&root).unwrap();
    world.write("p", "u1");
    world.fork("p", "", "c");
    assert_eq!(world.header("c").principal.as_deref(), Some("did:key:ann"));
    let other =
        Fork { principal: Some("did:key:bob".into()), id: Some(id("d")), ..Fork::of(id("p")) };
    world.engine.fork(&other).unwrap();
    let record: serde_json::Value = world.log("d")[0].event.data.read().unwrap();
    assert_eq!(record["principal"], "did:key:bob");
    assert_eq!(record["parent_principal"], "did:key:ann");
}

fn labels_are_unique_in_a_family(world: &World) {
    world.session("p", "u1");
    world.session("q", "u1");
    let named =
        |parent: &str| Fork { label: Some("idea".parse().unwrap()), ..Fork::of(id(parent)) };
    world.engine.fork(&named("p")).unwrap();
    assert_eq!(refusal(world.engine.fork(&named("p"))).0, ErrorKind::AlreadyExists);
    world.engine.fork(&named("q")).unwrap();
    assert_eq!(world.header("p").label.as_str(), "main");
    assert_eq!(world.fork("p", "", "abc").label.as_str(), "saffron-hamlet");
    // If another session has the default label, two digits follow in the new label.
    world.session("r", "u1");
    let label = Label::of_fork(&id("next"), 0);
    let squatter = Fork { label: Some(label.clone()), ..Fork::of(id("r")) };
    let squatter = world.engine.fork(&squatter).unwrap().child_session_id;
    let longer = world.fork("r", "", "next").label;
    let digits = longer.as_str().strip_prefix(label.as_str()).unwrap();
    assert!(digits.len() == 3 && digits.starts_with('-'), "{longer}");
    assert_eq!(world.fork("r", "", "other-abc").label.as_str().matches('-').count(), 1);
    // `ABC` and `abc` are the same id, although their default labels differ.
    assert_eq!(refusal(world.try_fork("r", "", "ABC")).0, ErrorKind::AlreadyExists);
    let relabelled = world.engine.label(&squatter, &"other".parse().unwrap()).unwrap();
    assert_eq!(relabelled.label.as_str(), "other");
}

fn a_default_label_is_free_whatever_labels_are_in_use(world: &World) {
    world.session("p", "u1");
    for (kind, child) in [(SessionKind::Branch, "next"), (SessionKind::Delegate, "helper")] {
        let label = |attempt| Label::of_child(kind, &id(child), attempt);
        for attempt in 0..30 {
            let request = Fork { label: Some(label(attempt)), ..Fork::of(id("p")) };
            world.engine.fork(&request).unwrap();
        }
        let fork = Fork { id: Some(id(child)), kind, ..Fork::of(id("p")) };
        let planned = world.engine.fork(&Fork { dry_run: true, ..fork.clone() }).unwrap();
        let made = world.engine.fork(&fork).unwrap();
        assert_eq!((planned.label, made.label), (label(30), label(30)));
    }
}
