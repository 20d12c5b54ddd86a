//! Cases: labels are unique in their family. Other cases concern titles and other descriptive
//! header fields.

use forklore_core::header::{CopyOf, Strategy};

use crate::events::turns;
use crate::scene::{Scene, id, label, refused};
use forklore_store::error::Error;
use forklore_store::port::{Change, NewSession};

fn in_use(name: &str, by: &str) -> Error {
    Error::LabelInUse { label: label(name), by: id(by) }
}

fn rename(scene: &Scene<'_>, session: &str, name: &str) -> forklore_store::Result<String> {
    let changed = scene.store().change(&id(session), &Change::Label(label(name)))?;
    Ok(changed.header.label.to_string())
}

pub(super) fn a_label_in_use_refuses_a_fork(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    let child = |kind| NewSession {
        label: label("b"),
        kind,
        ..scene.child_draft("b", "c", 1, Strategy::ShareV1, vec![])
    };
    for kind in [forklore_core::SessionKind::Branch, forklore_core::SessionKind::Delegate] {
        refused(scene.store().create(child(kind)), &in_use("b", "b"));
    }
}

pub(super) fn another_family_may_use_the_same_label(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.root("z", turns(1));
    scene.fork("a", "b", 1, vec![]);
    scene.fork("z", "c", 1, vec![]);
    assert_eq!(rename(scene, "c", "b").unwrap(), "b");
}

pub(super) fn a_session_gets_another_label(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    assert_eq!(rename(scene, "b", "try-2").unwrap(), "try-2");
    assert_eq!(scene.header("b").label, label("try-2"));
    assert_eq!(rename(scene, "b", "try-2").unwrap(), "try-2");
    assert_eq!(rename(scene, "a", "b").unwrap(), "b");
}

pub(super) fn a_label_in_use_refuses_a_change(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    refused(rename(scene, "b", "main"), &in_use("main", "a"));
    assert_eq!(scene.header("b").label, label("b"));
}

pub(super) fn a_deleted_session_frees_its_label(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    scene.fork("a", "c", 1, vec![]);
    scene.delete("b");
    assert_eq!(rename(scene, "c", "b").unwrap(), "b");
    scene.delete("a");
    assert_eq!(rename(scene, "c", "main").unwrap(), "main");
}

pub(super) fn nobody_has_no_label_to_change(scene: &Scene<'_>) {
    refused(rename(scene, "a", "x"), &Error::NotFound(id("a")));
    scene.root("a", turns(1));
    scene.delete("a");
    refused(rename(scene, "a", "x"), &Error::Deleted(id("a")));
}

pub(super) fn title_and_leaf_are_set_and_cleared(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    let before = scene.header("a");
    let title = Change::Title(Some("Plan \"B\"".into()));
    assert_eq!(scene.change("a", &title).header.title.as_deref(), Some("Plan \"B\""));
    assert_eq!(scene.change("a", &Change::Leaf(Some(id("b")))).header.leaf, Some(id("b")));
    assert_eq!(scene.header("a").title.as_deref(), Some("Plan \"B\""));
    let copy_of = CopyOf { session_id: id("b"), index: 2 };
    let copied = scene.change("a", &Change::CopyOf(Some(copy_of.clone())));
    assert_eq!(copied.header.copy_of, Some(copy_of.clone()));
    assert_eq!(scene.header("a").copy_of, Some(copy_of));
    scene.change("a", &Change::Title(None));
    scene.change("a", &Change::Leaf(None));
    scene.change("a", &Change::CopyOf(None));
    assert_eq!(scene.header("a"), before);
}
