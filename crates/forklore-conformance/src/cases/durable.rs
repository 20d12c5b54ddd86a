//! Cases: a reopened store has all writes that it acknowledged before.

use forklore_core::Strategy;

use crate::events::{asks, result, turns, user};
use crate::race::race;
use crate::scene::{LONG, Scene, id, label, refused};
use forklore_store::error::Error;
use forklore_store::port::{Append, At, Change, Children, Filter, Store};

fn everything(
    scene: &Scene<'_>,
) -> Vec<(forklore_core::Header, Vec<forklore_store::port::LogEntry>)> {
    let all = Filter { deleted: true, ..Filter::default() };
    let headers = scene.store().sessions(&all, None, 0).unwrap().all().unwrap();
    let with_log = headers.into_iter().map(|header| {
        let log = if header.deleted.is_none() { scene.log(header.id.as_str()) } else { vec![] };
        (header, log)
    });
    with_log.collect()
}

pub(super) fn everything_is_there_again(scene: &mut Scene<'_>) {
    super::read::three_generations(scene);
    scene.copy("b", "copied", 12, turns(2));
    scene.delegate("b", "delegate", 3, turns(1));
    scene.fork("c", "detached", 25, turns(1));
    scene.detach("detached");
    scene.delete("b");
    scene.change("c", &Change::Label(label("renamed")));
    scene.change("a", &Change::Title(Some("titled".into())));
    scene.change("a", &Change::Leaf(Some(id("c"))));
    scene.hold("c", "run", LONG).unwrap();
    let before = everything(scene);
    assert_eq!(before.len(), 6);
    for _ in 0..3 {
        scene.reopen();
        assert_eq!(everything(scene), before);
    }
    scene.assert_sound();
}

pub(super) fn a_session_goes_on_where_it_was(scene: &mut Scene<'_>) {
    scene.root("a", vec![user("q"), asks(&[("c1", "ls"), ("c2", "cat")])]);
    scene.fork("a", "b", 2, vec![]);
    scene.reopen();
    let appended = scene.append("b", vec![result("c1", "x")]);
    assert_eq!((appended.from_seq, scene.header("b").counts.open), (3, 1));
    scene.reopen();
    scene.append("b", vec![result("c2", "y"), asks(&[("c1", "again")])]);
    assert_eq!(scene.header("b").counts.open, 1);
    scene.fork("b", "c", 5, vec![]);
    scene.reopen();
    assert_eq!(scene.header("c").inherited.open, 1);
}

pub(super) fn a_deleted_id_stays_in_use(scene: &mut Scene<'_>) {
    scene.root("a", turns(1));
    scene.delete("a");
    scene.reopen();
    let again = scene.draft("A", vec![]);
    refused(scene.store().create(again), &Error::IdInUse(id("A")));
    refused(
        scene.store().read(&id("a"), &crate::scene::forward(At::Seq(0), 1, true)),
        &Error::Deleted(id("a")),
    );
}

pub(super) fn a_repetition_is_recognised_after_reopening(scene: &mut Scene<'_>) {
    scene.root("a", turns(1));
    let append = Append { expect: Some(1), ..scene.appending(turns(1)) };
    let first = scene.store().append(&id("a"), append.clone()).unwrap();
    scene.reopen();
    let again = scene.store().append(&id("a"), append).unwrap();
    assert_eq!(
        (again.from_seq, again.to_seq, again.repeated),
        (first.from_seq, first.to_seq, true)
    );
}

pub(super) fn a_fork_after_a_compaction_is_complete(scene: &mut Scene<'_>) {
    scene.root("a", turns(3));
    scene.append("a", vec![crate::events::compaction(0, 4), user("q4")]);
    scene.fork("a", "b", 8, turns(1));
    let before = scene.log("b");
    scene.reopen();
    assert_eq!(scene.log("b"), before);
    assert_eq!(before.len(), 1 + 8 + 2);
}

pub(super) fn retained_segments_outlive_a_reopening(scene: &mut Scene<'_>) {
    super::read::three_generations(scene);
    let before = scene.log("c");
    for session in ["a", "b"] {
        scene.delete(session);
        scene.reopen();
        assert_eq!(scene.log("c"), before);
    }
    scene.assert_sound();
}

pub(super) fn a_second_handle_sees_every_write_at_once(scene: &mut Scene<'_>) {
    let other = scene.test_store().open();
    scene.root("a", turns(1));
    assert_eq!(other.store.header(&id("a")).unwrap(), scene.header("a"));
    let append = scene.appending(turns(1));
    other.store.append(&id("a"), append).unwrap();
    scene.fork("a", "b", 4, vec![]);
    let child = scene.child_draft("b", "c", 4, Strategy::ShareV1, vec![]);
    other.store.create(child).unwrap();
    other.store.change(&id("c"), &Change::Detach).unwrap();
    assert_eq!(scene.log("c")[1..], scene.log("b")[1..]);
    scene.delete("b");
    refused(other.store.change(&id("b"), &Change::Title(None)), &Error::Deleted(id("b")));
}

pub(super) fn two_handles_lose_none_of_each_others_appends(scene: &mut Scene<'_>) {
    let other = scene.test_store().open();
    scene.root("a", vec![]);
    let write = |store: &dyn Store| {
        for _ in 0..40 {
            store.append(&id("a"), scene.appending(turns(1))).unwrap();
        }
    };
    race(|| write(scene.store()), || write(&*other.store));
    assert_eq!(scene.log("a").len(), 160);
    assert_eq!(scene.header("a").counts.turns, 80);
    scene.assert_sound();
}

pub(super) fn histories_agree_over_reopening(scene: &mut Scene<'_>) {
    crate::machine::histories_agree_over_reopening(scene);
}

pub(super) fn the_trash_outlives_a_reopening(scene: &mut Scene<'_>) {
    super::read::three_generations(scene);
    scene.copy("c", "d", 20, turns(1));
    scene.change("b", &Change::Title(Some("titled".into())));
    let sessions = ["b", "c", "d"];
    let before = sessions.map(|session| (scene.header(session), scene.log(session)));
    scene.trash(&["d", "c", "b"], Children::Refuse).unwrap();
    let trashed = sessions.map(|session| scene.header(session));
    scene.reopen();
    assert_eq!(sessions.map(|session| scene.header(session)), trashed);
    scene.undelete("c", "c").unwrap();
    scene.reopen();
    for session in ["b", "d"] {
        scene.undelete(session, session).unwrap();
    }
    scene.reopen();
    assert_eq!(sessions.map(|session| (scene.header(session), scene.log(session))), before);
    scene.assert_sound();
}
