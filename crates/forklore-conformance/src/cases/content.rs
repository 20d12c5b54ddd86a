//! Cases: the events that a child inherits. They are the same whether the child shares its prefix
//! or copies it.

use forklore_core::header::Strategy;
use forklore_core::{Class, Header};

use crate::events::{Draft, assistant, compaction, permission, rich, turns, usage, user, workflow};
use crate::scene::{Scene, backward, forward, id};
use forklore_store::port::{At, NewSession};

pub(super) fn a_child_begins_with_its_session_fork(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 2, vec![]);
    let first = scene.log("b").remove(0);
    assert_eq!((first.seq, first.origin.session_id), (0, id("b")));
    assert_eq!((first.event.kind.as_str(), first.event.class), ("session_fork", Class::Lineage));
}

pub(super) fn audit_and_lineage_are_not_inherited(scene: &Scene<'_>) {
    scene.root("a", vec![user("q"), usage(1, 1), assistant("a"), Draft::new("telemetry", "{}")]);
    scene.fork("a", "b", 2, vec![usage(2, 2), user("q2")]);
    scene.fork("b", "c", 3, vec![]);
    let kinds = |session: &str| {
        scene.log(session).iter().map(|stored| stored.event.kind.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        kinds("b"),
        ["session_fork", "user_message", "assistant_message", "provider_usage", "user_message"]
    );
    assert_eq!(kinds("c"), ["session_fork", "user_message", "assistant_message", "user_message"]);
}

pub(super) fn a_compaction_is_inherited_as_it_was_written(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.append("a", vec![compaction(0, 4), user("q3")]);
    scene.fork("a", "b", 6, vec![]);
    scene.fork("b", "c", 6, vec![]);
    scene.fork("c", "d", 5, vec![]);
    let written = scene.log("a").remove(4);
    for session in ["b", "c", "d"] {
        let found = scene.log(session).remove(5);
        assert_eq!(
            (found.event, found.counts, found.origin),
            (written.event.clone(), written.counts, written.origin.clone())
        );
    }
}

pub(super) fn evidence_is_inherited(scene: &Scene<'_>) {
    scene.root("a", vec![user("q"), permission("c1"), workflow("deploy")]);
    let header = scene.fork("a", "b", 3, vec![]);
    assert_eq!((header.inherited.inheritable, header.inherited.index), (3, 1));
    assert_eq!(scene.texts("b"), ["session_fork", "q", "permission_decision", "workflow_event"]);
}

pub(super) fn the_class_given_when_stored_stays(scene: &Scene<'_>) {
    let classes = [Class::Conversation, Class::Evidence, Class::Context, Class::Audit];
    let drafts = classes
        .map(|class| Draft::new("x.mine", format!(r#"{{"as":{}}}"#, class.code())).class(class));
    scene.root("a", drafts.to_vec());
    let header = scene.fork("a", "b", 3, vec![]);
    assert_eq!((header.inherited.inheritable, header.inherited.index), (3, 1));
    let stored = |session: &str| {
        scene.log(session).iter().map(|stored| stored.event.class).collect::<Vec<_>>()
    };
    assert_eq!(stored("a"), classes);
    assert_eq!(stored("b"), [Class::Lineage, Class::Conversation, Class::Evidence, Class::Context]);
}

pub(super) fn dialect_and_type_come_back(scene: &Scene<'_>) {
    let draft = user("hi").dialect("claude");
    scene.root("a", vec![draft, Draft::new("file-history.snapshot", "{}").dialect("pi")]);
    let log = scene.log("a");
    let texts: Vec<_> = log
        .iter()
        .map(|stored| (stored.event.kind.as_str(), stored.event.dialect.as_deref()))
        .collect();
    assert_eq!(texts, [("user_message", Some("claude")), ("file-history.snapshot", Some("pi"))]);
}

/// Removes the strategy (shared or copied prefix) from a header, so that headers can be compared.
/// Apart from the strategy, a child that shares its prefix has the same header as a child that
/// copies it.
fn comparable(header: Header) -> Header {
    Header { strategy: None, ..header }
}

pub(super) fn share_and_copy_read_the_same(scene: &Scene<'_>) {
    super::read::three_generations(scene);
    let other = Scene::new(scene.factory);
    super::read::three_generations(&other);
    for inheritable in [0, 1, 8, 9, 10, 20, 28, 29] {
        let child = format!("d{inheritable}");
        let new = scene.child_draft("c", &child, inheritable, Strategy::ShareV1, rich());
        let mut copied = new.clone();
        copied.from.iter_mut().for_each(|from| from.strategy = Strategy::ReplayV1);
        let shared = scene.store().create(new).unwrap();
        let copied = other.store().create(copied).unwrap();
        assert_eq!(comparable(shared), comparable(copied));
        assert_eq!(scene.log(&child), other.log(&child));
        let far = scene.header(&child).counts;
        let positions = [
            At::Seq(7),
            At::Inheritable(far.inheritable),
            At::Index(far.index / 2),
            At::Turn(far.turns),
        ];
        for at in positions {
            for query in [forward(at.clone(), 4, true), backward(at, 4, false)] {
                assert_eq!(scene.pages(&child, &query), other.pages(&child, &query), "{query:?}");
            }
        }
    }
}

pub(super) fn children_of_share_and_copy_read_the_same(scene: &Scene<'_>) {
    scene.root("a", rich());
    let other = Scene::new(scene.factory);
    other.root("a", rich());
    scene.fork("a", "b", 10, rich());
    other.copy("a", "b", 10, rich());
    for (stored, child) in [(4, "inside"), (10, "behind"), (15, "within_its_own")] {
        scene.fork("b", child, stored, vec![user("on")]);
        other.fork("b", child, stored, vec![user("on")]);
        assert_eq!(scene.log(child), other.log(child));
        assert_eq!(scene.header(child), other.header(child));
    }
}

pub(super) fn a_parents_events_never_change(scene: &Scene<'_>) {
    scene.root("a", rich());
    let before = (scene.log("a"), scene.header("a"));
    scene.fork("a", "shared", 5, turns(2));
    scene.copy("a", "copied", 8, turns(2));
    scene.delegate("a", "delegate", 3, turns(1));
    scene.fork("shared", "grandchild", 7, vec![]);
    scene.append("shared", rich());
    scene.detach("shared");
    scene.delete("copied");
    scene.delete("shared");
    assert_eq!((scene.log("a"), scene.header("a")), before);
}

pub(super) fn a_fork_is_not_billed_for_its_parents_usage(scene: &Scene<'_>) {
    scene.root("a", vec![user("q"), usage(100, 50)]);
    let child = scene.child_draft("a", "b", 1, Strategy::ReplayV1, vec![usage(7, 3)]);
    let header = scene.store().create(NewSession { title: Some("cheap".into()), ..child }).unwrap();
    assert_eq!((header.usage.input, header.usage.output), (7, 3));
    assert_eq!(scene.header("a").usage.input, 100);
}
