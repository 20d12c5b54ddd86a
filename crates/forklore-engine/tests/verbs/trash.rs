//! Tests of the trash: `delete`, `undelete`, and `gc` of what is in it.

use forklore_core::{ErrorKind, SessionKind};
use forklore_engine::{
    Delete, DeleteMode, Deleted, Error, Fork, Gc, ListRequest, Undelete, Undeleted,
    UndeletedSession,
};

use crate::world::{World, id, on_every_store, refusal};

on_every_store!(
    a_deleted_session_is_not_found_and_can_be_brought_back,
    delegates_come_back_with_their_parent,
    a_cascade_comes_back_in_one_step,
    a_label_in_use_is_replaced_by_a_default_label,
    two_labels_that_were_one_are_two_again,
    what_is_not_deleted_stays_as_it_is,
    the_trash_can_be_erased_by_name,
    gc_erases_by_age,
    references_find_what_is_in_the_trash,
    a_part_of_the_id_of_a_deleted_session_leads_to_the_trash,
    the_trash_retains_attachments,
);

fn delete(world: &World, name: &str, mode: DeleteMode, erase: bool) -> Result<Deleted, Error> {
    world.engine.delete(&Delete { session: id(name), mode, dry_run: false, erase })
}

fn trash(world: &World, name: &str) -> Deleted {
    delete(world, name, DeleteMode::DetachChildren, false).unwrap()
}

fn undelete(world: &World, name: &str, cascade: bool) -> Result<Undeleted, Error> {
    world.engine.undelete(&Undelete { session: id(name), cascade })
}

fn ids(undeleted: &Undeleted) -> Vec<&str> {
    undeleted.undeleted.iter().map(|one| one.session_id.as_str()).collect()
}

/// Creates a root `a` with the branch `b`, which has the branch `c`.
fn family(world: &World) {
    world.session("a", "u1 $ a1 w u2 a2");
    world.fork("a", "turn:1", "b");
    world.write("b", "u3 $ a3");
    world.fork("b", "", "c");
    world.write("c", "u4");
}

fn a_deleted_session_is_not_found_and_can_be_brought_back(world: &World) {
    family(world);
    let (header, log) = (world.header("b"), world.printed("b"));
    let usage = world.engine.family_stats(&id("c")).unwrap().usage;
    assert_eq!(trash(world, "b").retained_segments, 0);
    let refused = world.engine.show(&id("b")).unwrap_err();
    assert_eq!(refused.to_string(), "session b was deleted, and can be brought back");
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    assert_eq!(refusal(world.engine.fork(&Fork::of(id("b")))).0, ErrorKind::NotFound);
    assert_eq!(refusal(world.engine.load(&id("b"))).0, ErrorKind::NotFound);
    assert_eq!(world.engine.family_stats(&id("c")).unwrap().usage, usage);
    assert_eq!(ids(&undelete(world, "b", false).unwrap()), ["b"]);
    assert_eq!((world.header("b"), world.printed("b")), (header, log));
}

fn delegates_come_back_with_their_parent(world: &World) {
    world.session("p", "u1 a1");
    for (name, kind) in [("helper", SessionKind::Delegate), ("branch", SessionKind::Branch)] {
        world.engine.fork(&Fork { kind, id: Some(id(name)), ..Fork::of(id("p")) }).unwrap();
    }
    let gone = delete(world, "p", DeleteMode::Cascade, false).unwrap().deleted;
    assert_eq!(gone.len(), 3);
    assert_eq!(ids(&undelete(world, "p", false).unwrap()), ["p", "helper"]);
    assert_eq!(ids(&undelete(world, "branch", false).unwrap()), ["branch"]);
}

fn a_cascade_comes_back_in_one_step(world: &World) {
    family(world);
    let before = ["a", "b", "c"].map(|name| (world.header(name), world.printed(name)));
    delete(world, "a", DeleteMode::Cascade, false).unwrap();
    assert_eq!(ids(&undelete(world, "b", true).unwrap()), ["a", "b", "c"]);
    delete(world, "a", DeleteMode::Cascade, false).unwrap();
    assert_eq!(ids(&undelete(world, "c", false).unwrap()), ["c"], "without its parents");
    assert_eq!(world.printed("c"), before[2].1);
    assert_eq!(ids(&undelete(world, "a", true).unwrap()), ["a", "b"]);
    let after = ["a", "b", "c"].map(|name| (world.header(name), world.printed(name)));
    assert_eq!(after, before);
}

fn named(name: &str) -> Fork {
    Fork { label: Some("idea".parse().unwrap()), id: Some(id(name)), ..Fork::of(id("p")) }
}

fn a_label_in_use_is_replaced_by_a_default_label(world: &World) {
    world.session("p", "u1");
    world.engine.fork(&named("c")).unwrap();
    trash(world, "c");
    world.engine.fork(&named("d")).unwrap();
    let label = forklore_core::Label::of_fork(&id("c"), 0);
    let back = UndeletedSession {
        session_id: id("c"),
        label: label.clone(),
        former_label: Some("idea".parse().unwrap()),
    };
    assert_eq!(undelete(world, "c", false).unwrap(), Undeleted { undeleted: vec![back] });
    assert_eq!(world.header("c").label, label);
}

fn two_labels_that_were_one_are_two_again(world: &World) {
    world.session("p", "u1");
    world.engine.fork(&named("c")).unwrap();
    trash(world, "c");
    world.engine.fork(&named("d")).unwrap();
    trash(world, "d");
    let back = |name: &str| undelete(world, name, false).unwrap().undeleted.remove(0);
    assert_eq!(back("c").former_label, None);
    assert!(back("d").former_label.is_some());
}

fn what_is_not_deleted_stays_as_it_is(world: &World) {
    family(world);
    let before = world.header("b");
    assert_eq!(undelete(world, "b", true).unwrap(), Undeleted { undeleted: Vec::new() });
    assert_eq!(world.header("b"), before);
    assert_eq!(refusal(undelete(world, "nobody", false)).0, ErrorKind::NotFound);
    delete(world, "c", DeleteMode::Refuse, true).unwrap();
    assert_eq!(refusal(undelete(world, "c", false)).0, ErrorKind::NotFound);
}

fn the_trash_can_be_erased_by_name(world: &World) {
    family(world);
    delete(world, "a", DeleteMode::Cascade, false).unwrap();
    assert_eq!(refusal(delete(world, "a", DeleteMode::Refuse, false)).0, ErrorKind::NotFound);
    let plan = Delete { session: id("a"), mode: DeleteMode::Cascade, dry_run: true, erase: true };
    let all = vec![id("c"), id("b"), id("a")];
    assert_eq!(world.engine.delete(&plan).unwrap().deleted, all);
    let one = delete(world, "c", DeleteMode::Refuse, true).unwrap();
    assert_eq!((one.deleted, one.dry_run), (vec![id("c")], false));
    let rest = delete(world, "a", DeleteMode::Cascade, true).unwrap().deleted;
    assert_eq!(rest, [id("b"), id("a")]);
    assert_eq!(refusal(undelete(world, "a", true)).0, ErrorKind::NotFound);
}

fn gc_erases_by_age(world: &World) {
    family(world);
    let log = world.printed("c");
    trash(world, "c");
    assert_eq!(world.engine.gc().unwrap().sessions, 0);
    let hour = Gc { trash_older_than_seconds: 3_600 };
    let now = world.engine.store().now();
    let old = world.engine.store().header(&id("c")).unwrap().deleted.unwrap().deleted;
    let is_old = now.duration_since(old).as_secs() >= 3_600;
    assert_eq!(world.engine.expired(&hour).unwrap().len(), usize::from(is_old));
    undelete(world, "c", false).unwrap();
    assert_eq!(world.printed("c"), log);
    assert_eq!(world.engine.collect(&Gc::all()).unwrap().sessions, 0);
    trash(world, "c");
    trash(world, "b");
    assert_eq!(world.engine.expired(&Gc::all()).unwrap().len(), 2);
    assert_eq!(world.engine.collect(&Gc::all()).unwrap().sessions, 2);
    assert_eq!(world.engine.store().header(&id("b")).unwrap().title, None);
    assert_eq!(refusal(undelete(world, "b", false)).0, ErrorKind::NotFound);
    assert_eq!(world.engine.verify(None).unwrap().problems, []);
}

fn a_part_of_the_id_of_a_deleted_session_leads_to_the_trash(world: &World) {
    world.session("p", "u1");
    world.engine.fork(&named("first-one")).unwrap();
    trash(world, "first-one");
    let scope = forklore_engine::Scope::default();
    let refused = |reference: &str| world.engine.resolve(reference, &scope).unwrap_err();
    for reference in ["first-one", "firs", "t-one", "idea"] {
        let error = refused(reference);
        assert!(
            matches!(&error, Error::InTrash(found) if *found == id("first-one")),
            "{reference}: {error}"
        );
    }
    assert_eq!(refused("fir").to_string(), "session fir does not exist");
    world.engine.rename(&id("p"), Some("Idea of mine")).unwrap();
    assert_eq!(world.engine.resolve("idea", &scope).unwrap().id, id("p"));
    world.engine.fork(&named("first-two")).unwrap();
    assert_eq!(world.engine.resolve("firs", &scope).unwrap().id, id("first-two"));
    trash(world, "first-two");
    assert_eq!(refused("firs").to_string(), "session firs does not exist");
}

fn references_find_what_is_in_the_trash(world: &World) {
    world.session("p", "u1");
    world.engine.fork(&named("first-one")).unwrap();
    let scope = forklore_engine::Scope::default();
    let found = |reference: &str| {
        world.engine.resolve_in_trash(reference, &scope).map(|header| header.id.to_string())
    };
    for reference in ["@idea", "idea", "t-one"] {
        assert_eq!(refusal(found(reference)).0, ErrorKind::NotFound, "{reference}");
    }
    trash(world, "first-one");
    for reference in ["@idea", "idea", "first-one", "firs", "t-one"] {
        assert_eq!(found(reference).unwrap(), "first-one", "{reference}");
    }
    assert_eq!(found("p").unwrap(), "p");
    world.engine.fork(&named("last-one")).unwrap();
    trash(world, "last-one");
    for reference in ["@idea", "idea", "t-one"] {
        assert_eq!(refusal(found(reference)).0, ErrorKind::InvalidArgs, "{reference}");
    }
    let trashed = ListRequest { deleted: true, ..ListRequest::default() };
    assert_eq!(world.engine.list(&trashed).unwrap().sessions.len(), 2);
    assert_eq!(world.engine.list(&ListRequest::default()).unwrap().sessions.len(), 1);
}

fn the_trash_retains_attachments(world: &World) {
    world.session("a", "u1");
    let attach = forklore_engine::Attach::default();
    let attached = world.engine.attach(&id("a"), &mut &b"bytes"[..], &attach).unwrap();
    world.engine.fork(&Fork { id: Some(id("b")), ..Fork::of(id("a")) }).unwrap();
    delete(world, "a", DeleteMode::Cascade, false).unwrap();
    assert_eq!(world.engine.gc().unwrap().attachments, 0);
    undelete(world, "b", false).unwrap();
    let listed = world.engine.attachments(&id("b")).unwrap();
    assert_eq!(listed.iter().map(|one| one.id).collect::<Vec<_>>(), [attached.id]);
    assert!(!listed[0].missing);
    delete(world, "b", DeleteMode::Refuse, true).unwrap();
    assert_eq!(world.engine.gc().unwrap().attachments, 0, "a is in the trash");
    assert_eq!(world.engine.collect(&Gc::all()).unwrap().attachments, 1);
}
