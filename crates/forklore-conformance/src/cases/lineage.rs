//! Cases: parent, root, depth and origin are correct over any number of generations.

use forklore_core::SessionKind;
use forklore_core::header::Strategy;

use crate::events::{assistant, turns, user};
use crate::scene::{Scene, id};
use forklore_store::port::{Filter, NewSession};

pub(super) fn a_child_holds_its_parent_and_time(scene: &Scene<'_>) {
    let root = scene.root("a", turns(1));
    assert_eq!((root.parent_id, root.cut, root.strategy), (None, None, None));
    let new = scene.child_draft("a", "b", 1, Strategy::ShareV1, vec![]);
    let made = new.created;
    let child = scene.store().create(new).unwrap();
    assert_eq!((child.parent_id, child.created, child.updated), (Some(id("a")), made, made));
}

pub(super) fn root_and_depth_over_three_levels(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 2, vec![]);
    scene.copy("b", "c", 1, vec![]);
    scene.delegate("c", "d", 1, vec![]);
    for (depth, session) in (0..).zip(["a", "b", "c", "d"]) {
        let header = scene.header(session);
        assert_eq!((header.root_id, header.depth), (id("a"), depth));
    }
}

pub(super) fn a_fork_of_a_fork_loads_the_middle(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 2, vec![user("b asks"), assistant("b hears")]);
    scene.append("b", vec![user("not this")]);
    scene.fork("b", "c", 4, vec![user("c asks")]);
    assert_eq!(scene.texts("c"), ["session_fork", "q1", "a1", "b asks", "b hears", "c asks"]);
}

pub(super) fn origins_name_who_wrote_each_event(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 2, vec![user("b1")]);
    scene.copy("b", "c", 3, vec![user("c1")]);
    scene.fork("c", "d", 4, vec![]);
    scene.detach("d");
    let origins = scene.log("d").into_iter().map(|stored| stored.origin);
    let origins: Vec<_> =
        origins.map(|origin| (origin.session_id.to_string(), origin.seq)).collect();
    let want = [("d", 0), ("a", 0), ("a", 1), ("b", 3), ("c", 4)];
    assert_eq!(origins, want.map(|(session, seq)| (session.to_owned(), seq)));
}

pub(super) fn a_delegate_inherits_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    let header = scene.delegate("a", "d", 3, vec![user("your task")]);
    assert_eq!(
        (header.kind, header.inherited.inheritable, header.head_seq()),
        (SessionKind::Delegate, 0, 1)
    );
    assert_eq!(header.cut.map(|cut| cut.inheritable), Some(3));
    assert_eq!(scene.texts("d"), ["session_fork", "your task"]);
    scene.fork("d", "e", 1, vec![user("another way")]);
    assert_eq!(scene.texts("e"), ["session_fork", "your task", "another way"]);
}

pub(super) fn delegates_are_distinguished_from_branches(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.delegate("a", "d", 1, vec![]);
    scene.fork("a", "b", 1, vec![]);
    let list = |kind: SessionKind| {
        let filter = Filter { kinds: vec![kind], ..Filter::default() };
        let found = scene.store().sessions(&filter, None, 0).unwrap().all().unwrap();
        found.into_iter().map(|header| header.id.to_string()).collect::<Vec<_>>()
    };
    let kinds = [SessionKind::Root, SessionKind::Branch, SessionKind::Delegate];
    assert_eq!(kinds.map(list), [["a"], ["b"], ["d"]]);
}

pub(super) fn a_delegates_cut_must_be_there_too(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let new = scene.child_draft("a", "d", 3, Strategy::ShareV1, vec![]);
    let new = NewSession { kind: SessionKind::Delegate, ..new };
    assert!(matches!(scene.store().create(new), Err(forklore_store::Error::Invalid(_))));
}

pub(super) fn a_child_continues_its_own_numbers(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 3, vec![]);
    let appended = scene.append("b", vec![assistant("x"), user("y")]);
    assert_eq!((appended.from_seq, appended.to_seq, appended.head_seq), (4, 5, 5));
    assert_eq!(scene.header("b").head_seq(), 5);
    assert_eq!(scene.header("a").head_seq(), 3);
}

pub(super) fn a_chain_of_empty_forks_loads(scene: &Scene<'_>) {
    scene.root("s0", turns(1));
    for depth in 1..=150 {
        scene.fork(&format!("s{}", depth - 1), &format!("s{depth}"), 2, vec![]);
    }
    assert_eq!(scene.header("s150").depth, 150);
    assert_eq!(scene.texts("s150"), ["session_fork", "q1", "a1"]);
}

pub(super) fn a_deep_chain_loads_every_part(scene: &Scene<'_>) {
    scene.root("s0", vec![user("t0")]);
    for depth in 1..=150 {
        let tail = vec![user(&format!("t{depth}"))];
        scene.fork(&format!("s{}", depth - 1), &format!("s{depth}"), depth, tail);
    }
    let mut want = vec!["session_fork".to_owned()];
    want.extend((0..=150).map(|depth| format!("t{depth}")));
    assert_eq!(scene.texts("s150"), want);
    for inheritable in [1, 15, 16, 17, 32, 33, 75, 150] {
        let child = format!("inside{inheritable}");
        scene.fork("s150", &child, inheritable as u64, vec![]);
        assert_eq!(scene.texts(&child), want[..=inheritable]);
    }
}
