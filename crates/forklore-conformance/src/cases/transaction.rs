//! Cases: the writes of one transaction are all applied in one step, or none of them is.

use forklore_core::header::Strategy;

use crate::events::{turns, user};
use crate::scene::{LONG, Scene, id, label, refused};
use forklore_store::error::{Error, Result};
use forklore_store::port::{
    Append, Appended, Change, Children, Committed, Deletion, Filter, NewSession, Removal, Removed,
    Transaction, Write, Written,
};

fn commit(scene: &Scene<'_>, writes: Vec<Write>) -> Result<Committed> {
    scene.store().commit(writes.into())
}

fn create(new: NewSession) -> Write {
    Write::Create(Box::new(new))
}

fn append(scene: &Scene<'_>, session: &str, expect: i64) -> Write {
    let append = Append { expect: Some(expect), ..scene.appending(vec![user("more")]) };
    Write::Append { session: id(session), append }
}

fn change(session: &str, change: Change) -> Write {
    Write::Change { session: id(session), change }
}

fn remove(scene: &Scene<'_>, sessions: &[&str]) -> Write {
    let sessions = sessions.iter().map(|session| id(session)).collect();
    let (children, deletion) = (Children::Refuse, Deletion::Erase);
    Write::Remove(Removal { sessions, children, deletion, now: scene.clock.now() })
}

/// Returns the headers of all sessions, including deleted ones. For a session that is not deleted,
/// also returns its events as short texts.
fn everything(scene: &Scene<'_>) -> Vec<(forklore_core::Header, Option<Vec<String>>)> {
    let filter = Filter { deleted: true, ..Filter::default() };
    let headers = scene.store().sessions(&filter, None, 0).unwrap().all().unwrap();
    let with_texts = headers.into_iter().map(|header| {
        let texts = header.deleted.is_none().then(|| scene.texts(header.id.as_str()));
        (header, texts)
    });
    with_texts.collect()
}

pub(super) fn writes_of_several_families_are_one_step(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.root("gone", turns(1));
    let committed = commit(
        scene,
        vec![
            append(scene, "a", 1),
            create(scene.draft("b", turns(2))),
            remove(scene, &["gone"]),
            change("a", Change::Title(Some("named".into()))),
        ],
    );
    let committed = committed.unwrap();
    let appended = Appended { from_seq: 2, to_seq: 2, head_seq: 2, repeated: false };
    let removed = Removed { deleted: vec![id("gone")], retained_segments: 0 };
    let [one, Written::Created(b), three, Written::Changed(a)] = &committed.written[..] else {
        panic!("each write has its answer: {committed:?}")
    };
    assert_eq!((one, three), (&Written::Appended(appended), &Written::Removed(removed)));
    assert_eq!((&**b, &a.header), (&scene.header("b"), &scene.header("a")));
    assert_eq!((a.header.title.as_deref(), committed.source), (Some("named"), None));
    assert_eq!(scene.texts("a"), ["q1", "a1", "more"]);
    assert_eq!(scene.texts("b"), ["q1", "a1", "q2", "a2"]);
    assert!(scene.header("gone").deleted.is_some());
    scene.assert_sound();
}

pub(super) fn each_write_sees_those_before_it(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let fork = scene.child_draft("a", "c", 2, Strategy::ShareV1, vec![user("on")]);
    let committed = commit(
        scene,
        vec![
            append(scene, "a", 1),
            append(scene, "a", 2),
            create(fork),
            append(scene, "c", 3),
            change("c", Change::Label(label("other"))),
            change("c", Change::Hold { owner: "run1".into(), lasts: LONG }),
            change("c", Change::Release { owner: "run1".into() }),
            change("c", Change::Detach),
            remove(scene, &["a"]),
        ],
    );
    assert_eq!(committed.unwrap().written.len(), 9);
    assert_eq!(scene.texts("c"), ["session_fork", "q1", "a1", "on", "more"]);
    assert_eq!(scene.header("c").label, label("other"));
    assert!(scene.header("c").detached && scene.header("a").deleted.is_some());
    scene.assert_sound();
}

pub(super) fn a_refused_write_leaves_nothing_of_the_others(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, turns(1));
    scene.root("z", turns(1));
    let writes = |last: Write| {
        let copy = scene.child_draft("a", "copy", 3, Strategy::ReplayV1, turns(1));
        let fork = scene.child_draft("a", "fork", 3, Strategy::ShareV1, turns(1));
        vec![
            append(scene, "a", 3),
            create(scene.draft("new", turns(1))),
            create(fork),
            create(copy),
            change("b", Change::Label(label("renamed"))),
            change("b", Change::Title(Some("named".into()))),
            change("b", Change::Detach),
            remove(scene, &["z"]),
            last,
        ]
    };
    let before = everything(scene);
    let duplicate = create(scene.draft("B", vec![]));
    let late = Error::Conflict { session: id("a"), expected: 3, head: 4 };
    let has_children =
        Error::HasChildren { session: id("a"), count: 1, children: vec![id("fork")] };
    let lost = Error::LeaseLost { session: id("b"), owner: "run1".into() };
    for (last, error) in [
        (append(scene, "a", 3), late),
        (append(scene, "nobody", 0), Error::NotFound(id("nobody"))),
        (append(scene, "z", 1), Error::Deleted(id("z"))),
        (duplicate, Error::IdInUse(id("B"))),
        (change("b", Change::Release { owner: "run1".into() }), lost),
        (remove(scene, &["copy", "a"]), has_children),
    ] {
        refused(commit(scene, writes(last)), &error);
        assert_eq!(everything(scene), before, "after {error:?}");
    }
    scene.assert_sound();
}

pub(super) fn what_was_rolled_back_can_be_done_again(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let writes = |expect| {
        let fork = scene.child_draft("a", "c", 2, Strategy::ShareV1, vec![]);
        vec![create(scene.draft("b", turns(1))), create(fork), append(scene, "a", expect)]
    };
    let error = Error::Conflict { session: id("a"), expected: 7, head: 1 };
    refused(commit(scene, writes(7)), &error);
    commit(scene, writes(1)).unwrap();
    assert_eq!(scene.texts("a"), ["q1", "a1", "more"]);
    assert_eq!(scene.texts("b"), ["q1", "a1"]);
    assert_eq!(scene.texts("c"), ["session_fork", "q1", "a1"]);
    scene.assert_sound();
}

pub(super) fn a_copy_and_its_original_are_made_together(scene: &Scene<'_>) {
    scene.root("model", turns(2));
    let mut copy = scene.child_draft("model", "copy", 3, Strategy::ReplayV1, vec![user("on")]);
    copy.from.as_mut().unwrap().parent = id("a");
    commit(scene, vec![create(scene.draft("a", turns(2))), create(copy)]).unwrap();
    assert_eq!(scene.texts("copy"), ["session_fork", "q1", "a1", "q2", "on"]);
    scene.delete("a");
    assert_eq!(scene.texts("copy"), ["session_fork", "q1", "a1", "q2", "on"]);
    scene.assert_sound();
}

pub(super) fn a_repetition_is_recognised_among_other_writes(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let once = append(scene, "a", 1);
    let first = commit(scene, vec![once.clone()]).unwrap().appended().unwrap();
    let writes = vec![once, create(scene.draft("b", vec![]))];
    let committed = commit(scene, writes).unwrap();
    assert_eq!(committed.written[0], Written::Appended(Appended { repeated: true, ..first }));
    assert_eq!(scene.texts("a"), ["q1", "a1", "more"]);
    assert_eq!(scene.texts("b"), [""; 0]);
}

pub(super) fn an_empty_transaction_does_nothing(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let before = everything(scene);
    assert_eq!(scene.store().commit(Transaction::default()).unwrap(), Committed::default());
    assert_eq!(everything(scene), before);
}

pub(super) fn several_transactions_succeed_or_fail_each_for_itself(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let one = |writes: Vec<Write>| Transaction::from(writes);
    let all = || {
        vec![
            one(vec![create(scene.draft("b", turns(1))), append(scene, "b", 1)]),
            one(vec![append(scene, "a", 1)]),
            // Each transaction sees the writes of those before it. A refused one changes
            // nothing.
            one(vec![change("b", Change::Title(Some("named".into()))), append(scene, "b", 7)]),
            one(vec![append(scene, "b", 2), create(scene.draft("c", turns(1)))]),
            one(vec![create(scene.draft("c", turns(1)))]),
            one(Vec::new()),
        ]
    };
    let done = scene.store().commit_all(all()).unwrap();
    let shown: Vec<_> = done
        .iter()
        .map(|done| match done {
            Ok(committed) => format!("{} writes", committed.written.len()),
            Err(error) => error.kind().to_string(),
        })
        .collect();
    let expected = ["2 writes", "1 writes", "conflict", "2 writes", "already_exists", "0 writes"];
    assert_eq!(shown, expected);
    let header = |name: &str| scene.store().header(&id(name)).unwrap();
    let heads = ["a", "b", "c"].map(|name| header(name).head_seq());
    assert_eq!(heads, [2, 3, 1]);
    assert_eq!(header("b").title, None);
    assert_eq!(scene.store().commit_all(Vec::new()).unwrap().len(), 0);
    scene.assert_sound();
}
