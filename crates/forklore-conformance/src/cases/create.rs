//! Cases: a session is created completely or not at all.

use std::collections::BTreeSet;

use forklore_core::Usage;
use forklore_core::header::{CopyOf, Strategy};
use forklore_core::workspace::Workspace;
use forklore_core::{Counts, Data, SessionKind};

use crate::events::{assistant, turns, usage, user};
use crate::scene::{Scene, id, label, refused};
use forklore_store::error::Error;
use forklore_store::port::{At, Beginning, Children, NewSession, Page};

pub(super) fn an_empty_root_has_no_events(scene: &Scene<'_>) {
    let header = scene.root("a", vec![]);
    assert_eq!((header.head_seq(), header.counts, header.own_events), (-1, Counts::default(), 0));
    assert_eq!(scene.header("a"), header);
    assert_eq!(scene.page("a", At::Seq(0), 10), Page::default());
}

pub(super) fn events_come_back_in_order_with_their_origin(scene: &Scene<'_>) {
    let new = scene.draft("a", turns(2));
    let events = new.events.clone();
    scene.store().create(new).unwrap();
    let log = scene.log("a");
    let positions: Vec<_> = log.iter().map(|stored| (stored.seq, stored.origin.seq)).collect();
    assert_eq!(positions, [(0, 0), (1, 1), (2, 2), (3, 3)]);
    assert!(log.iter().all(|stored| stored.origin.session_id == id("a")));
    assert_eq!(log.into_iter().map(|stored| stored.event).collect::<Vec<_>>(), events);
}

pub(super) fn the_header_has_what_was_given(scene: &Scene<'_>) {
    scene.root("original", vec![]);
    let new = NewSession {
        title: Some("Plan the trip".into()),
        workspace: Workspace::new("/home/me/trip"),
        principal: Some("did:example:me".into()),
        permissions: Some(BTreeSet::from(["read".to_owned(), "write".to_owned()])),
        metadata: Some(Data::parse(r#"{"b":1.0,"a":[]}"#).unwrap()),
        config: Some(Data::parse(r#"{"model":"m"}"#).unwrap()),
        dialect: Some("claude".into()),
        source: Some("/home/me/.claude/x.jsonl".into()),
        copy_of: Some(CopyOf { session_id: id("original"), index: 3 }),
        ..scene.draft("a", vec![user("hi"), usage(3, 4)])
    };
    let header = scene.store().create(new.clone()).unwrap();
    assert_eq!(header.usage, Usage { input: 3, output: 4, ..Usage::default() });
    assert_eq!((header.own_events, header.counts.inheritable), (2, 1));
    let bytes: usize = new.events.iter().map(|event| event.data.get().len()).sum();
    assert_eq!(header.own_bytes, bytes as u64);
    let created = new.created;
    let given = NewSession { from: None, ..new }.header(None, Counts::default(), created);
    let counted = forklore_core::Header {
        counts: header.counts,
        own_events: header.own_events,
        own_bytes: header.own_bytes,
        ..given
    };
    assert_eq!(header, counted);
    assert_eq!(scene.header("a"), header);
}

pub(super) fn an_id_in_use_is_refused(scene: &Scene<'_>) {
    scene.root("a", vec![user("mine")]);
    let again = scene.draft("a", vec![user("yours")]);
    refused(scene.store().create(again), &Error::IdInUse(id("a")));
    assert_eq!(scene.texts("a"), ["mine"]);
}

pub(super) fn ids_that_differ_in_case_are_one(scene: &Scene<'_>) {
    for (first, second) in
        [("plan", "PLAN"), ("Ärger", "ärger"), ("ΟΔΟΣ", "οδος"), ("straße", "STRASSE")]
    {
        scene.root(first, vec![user(first)]);
        let same = scene.draft(second, vec![]);
        refused(scene.store().create(same), &Error::IdInUse(id(second)));
        assert_eq!(scene.texts(first), [first]);
    }
}

pub(super) fn an_id_spelt_in_another_case_names_nothing(scene: &Scene<'_>) {
    scene.root("plan", vec![user("hi")]);
    refused(scene.store().header(&id("PLAN")), &Error::NotFound(id("PLAN")));
    let append = scene.appending(vec![user("more")]);
    refused(scene.store().append(&id("Plan"), append), &Error::NotFound(id("Plan")));
}

pub(super) fn a_deleted_id_is_never_used_again(scene: &Scene<'_>) {
    scene.root("a", vec![user("hi")]);
    scene.delete("a");
    for spelling in ["a", "A"] {
        let again = scene.draft(spelling, vec![]);
        refused(scene.store().create(again), &Error::IdInUse(id(spelling)));
    }
}

pub(super) fn a_missing_parent_is_not_found(scene: &Scene<'_>) {
    let child = scene.child_draft("nobody", "b", 0, Strategy::ShareV1, vec![]);
    refused(scene.store().create(child), &Error::NotFound(id("nobody")));
    refused(scene.store().header(&id("b")), &Error::NotFound(id("b")));
}

pub(super) fn a_deleted_parent_is_reported(scene: &Scene<'_>) {
    scene.root("a", vec![user("hi")]);
    let child = scene.child_draft("a", "b", 1, Strategy::ShareV1, vec![]);
    scene.delete("a");
    refused(scene.store().create(child), &Error::Deleted(id("a")));
    refused(scene.store().header(&id("b")), &Error::NotFound(id("b")));
}

pub(super) fn a_refused_create_leaves_nothing(scene: &Scene<'_>) {
    scene.root("a", vec![user("hi")]);
    let mut child = scene.child_draft("a", "b", 1, Strategy::ReplayV1, vec![assistant("hello")]);
    child.label = label("main");
    let outcome = Error::LabelInUse { label: label("main"), by: id("a") };
    refused(scene.store().create(child.clone()), &outcome);
    refused(scene.store().header(&id("b")), &Error::NotFound(id("b")));
    assert_eq!(scene.remove(&["a"], Children::Refuse).unwrap().retained_segments, 0);
    scene.root("b", vec![user("now a root")]);
    assert_eq!(scene.texts("b"), ["now a root"]);
}

pub(super) fn a_kind_without_its_parent_is_refused(scene: &Scene<'_>) {
    scene.root("a", vec![user("hi")]);
    let orphan = NewSession { kind: SessionKind::Branch, ..scene.draft("b", vec![]) };
    assert!(matches!(scene.store().create(orphan), Err(Error::Invalid(_))));
    let child = scene.child_draft("a", "b", 1, Strategy::ShareV1, vec![]);
    let rooted = NewSession { kind: SessionKind::Root, ..child.clone() };
    assert!(matches!(scene.store().create(rooted), Err(Error::Invalid(_))));
    let bare = NewSession { events: vec![], ..child };
    assert!(matches!(scene.store().create(bare), Err(Error::Invalid(_))));
    refused(scene.store().header(&id("b")), &Error::NotFound(id("b")));
}

pub(super) fn the_cut_is_stored_as_given(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    let new = scene.child_draft("a", "b", 3, Strategy::ShareV1, vec![]);
    let Some(Beginning { cut, strategy, tool_calls, .. }) = new.from.clone() else {
        panic!("a child has a beginning")
    };
    let header = scene.store().create(new).unwrap();
    let recorded = (header.cut, header.strategy, header.tool_calls);
    assert_eq!(recorded, (Some(cut), Some(strategy), Some(tool_calls)));
    assert_eq!(
        scene.header("b").cut.map(|cut| (cut.inheritable, cut.seq, cut.message)),
        Some((3, Some(2), Some(2)))
    );
}
