//! Cases: an operation is recorded in the transaction of its writes, and operations are read page
//! by page. The transaction of an undo also checks what the undo expects.

use forklore_store::error::Error;
use forklore_store::port::{
    Append, Change, Children, Deletion, NewOperation, Operation, OperationId, OperationKind,
    Outcome, Removal, Transaction, Write,
};

use super::sources::{create, new, step};
use crate::events::{turns, user};
use crate::scene::{LONG, Scene, id, label, refused};

pub(super) fn change(session: &str, change: Change) -> Write {
    Write::Change { session: id(session), change }
}

pub(super) fn title(session: &str, to: &str) -> Write {
    change(session, Change::Title(Some(to.into())))
}

fn removal(scene: &Scene<'_>, sessions: &[&str], deletion: Deletion) -> Write {
    let sessions = sessions.iter().map(|session| id(session)).collect();
    Write::Remove(Removal {
        sessions,
        children: Children::Retain,
        deletion,
        now: scene.clock.now(),
    })
}

pub(super) fn of(kind: OperationKind, writes: Vec<Write>) -> Transaction {
    let operation = Some(Box::new(NewOperation::of(kind)));
    Transaction { writes, operation, ..Transaction::default() }
}

/// Commits the writes as an operation. Returns the number of the operation.
#[track_caller]
pub(super) fn done(scene: &Scene<'_>, kind: OperationKind, writes: Vec<Write>) -> Option<u64> {
    scene.store().commit(of(kind, writes)).unwrap().operation.map(|id| id.0)
}

#[track_caller]
pub(super) fn all(scene: &Scene<'_>) -> Vec<Operation> {
    let page = scene.store().operations(None, 0).unwrap();
    assert!(page.damaged.is_empty() && !page.more, "{page:?}");
    page.found
}

fn renamed(session: &str, before: Option<&str>, after: Option<&str>) -> Outcome {
    let text = |text: Option<&str>| text.map(str::to_owned);
    Outcome::Renamed { session_id: id(session), before: text(before), after: text(after) }
}

pub(super) fn each_write_is_recorded_with_what_it_replaced(scene: &Scene<'_>) {
    scene.root("a", turns(2));
    scene.fork("a", "b", 2, turns(1));
    let operation = NewOperation {
        program: Some("a program".into()),
        principal: Some("did:me".into()),
        ..NewOperation::of(OperationKind::Rename)
    };
    let writes = vec![
        title("a", "first"),
        title("a", "second"),
        change("b", Change::Label(label("other"))),
        change("a", Change::Leaf(Some(id("b")))),
        change("b", Change::Detach),
        Write::Append { session: id("a"), append: scene.appending(vec![user("more")]) },
        Write::Create(Box::new(scene.draft("c", turns(1)))),
        Write::Append { session: id("c"), append: scene.appending(vec![user("more")]) },
        removal(scene, &["b"], Deletion::Trash),
        change("b", Change::Undelete(label("back"))),
        removal(scene, &["b"], Deletion::Erase),
    ];
    let operation = Some(Box::new(operation));
    let before = scene.store().now();
    let committed =
        scene.store().commit(Transaction { writes, operation, ..Transaction::default() }).unwrap();
    assert_eq!(committed.operation, Some(OperationId(1)));
    let mut recorded = all(scene);
    let at = recorded[0].at;
    assert!(before <= at && at <= scene.store().now(), "the time is that of the store's clock");
    recorded[0].at = before;
    let outcomes = vec![
        renamed("a", None, Some("second")),
        // The label of an erased session is forgotten.
        Outcome::Forgotten { session_id: id("b") },
        Outcome::Leaf { session_id: id("a"), before: None, after: Some(id("b")) },
        Outcome::Detached { session_id: id("b") },
        Outcome::Appended { session_id: id("a"), events: 1, head_seq: 4 },
        Outcome::Created { session_id: id("c"), head_seq: 2 },
        Outcome::Deleted { session_id: id("b") },
        Outcome::Restored { session_id: id("b"), head_seq: 4 },
        Outcome::Erased { session_id: id("b") },
    ];
    let expected = Operation {
        id: OperationId(1),
        kind: OperationKind::Rename,
        at: before,
        program: Some("a program".into()),
        principal: Some("did:me".into()),
        undoes: None,
        undone_by: None,
        outcomes,
    };
    assert_eq!(recorded, [expected]);
    scene.assert_sound();
}

pub(super) fn what_changes_nothing_is_not_recorded(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let append = scene.appending(turns(1));
    scene.store().append(&id("a"), append.clone()).unwrap();
    let owner = String::from("run");
    let repeated = Append { expect: Some(1), ..append };
    let writes = [
        change("a", Change::Label(label("main"))),
        change("a", Change::Title(None)),
        change("a", Change::Leaf(None)),
        change("a", Change::Undelete(label("other"))),
        Write::Append { session: id("a"), append: repeated },
        Write::Append { session: id("a"), append: scene.appending(turns(1)) },
        change("a", Change::Hold { owner: owner.clone(), lasts: LONG }),
        change("a", Change::Release { owner }),
        removal(scene, &[], Deletion::Trash),
    ];
    for write in writes {
        assert_eq!(done(scene, OperationKind::Label, vec![write.clone()]), None, "{write:?}");
    }
    assert_eq!(done(scene, OperationKind::Label, Vec::new()), None);
    scene.store().commit(title("a", "unrecorded").into()).unwrap();
    assert_eq!(all(scene), []);
}

pub(super) fn a_refused_transaction_is_not_recorded(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    scene.fork("a", "b", 1, vec![]);
    let writes = vec![title("a", "new"), change("b", Change::Label(label("main")))];
    let in_use = Error::LabelInUse { label: label("main"), by: id("a") };
    refused(scene.store().commit(of(OperationKind::Rename, writes)), &in_use);
    assert_eq!((all(scene), scene.header("a").title), (vec![], None));
    assert_eq!(done(scene, OperationKind::Rename, vec![title("a", "new")]), Some(1));
}

pub(super) fn pages_lead_from_the_newest_to_the_oldest(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    for number in 1..=7 {
        let writes = vec![title("a", &number.to_string())];
        assert_eq!(done(scene, OperationKind::Rename, writes), Some(number));
    }
    let whole = all(scene);
    assert_eq!(whole.iter().map(|one| one.id.0).collect::<Vec<_>>(), [7, 6, 5, 4, 3, 2, 1]);
    for limit in 1..=8 {
        let (mut pages, mut before) = (Vec::new(), None);
        loop {
            let page = scene.store().operations(before, limit).unwrap();
            assert!(page.found.len() <= limit);
            before = page.found.last().map(|last| last.id);
            pages.extend(page.found);
            if !page.more {
                break;
            }
        }
        assert_eq!(pages, whole, "pages of {limit}");
    }
    assert!(scene.store().operations(Some(OperationId(1)), 5).unwrap().found.is_empty());
}

pub(super) fn a_later_transaction_continues_an_operation(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let first = done(scene, OperationKind::Import, vec![title("a", "one")]).map(OperationId);
    done(scene, OperationKind::Label, vec![change("a", Change::Label(label("between")))]);
    let continued = NewOperation { continues: first, ..NewOperation::of(OperationKind::Import) };
    let more = |writes| Transaction {
        operation: Some(Box::new(continued.clone())),
        ..Transaction::from(writes)
    };
    let append =
        |text| Write::Append { session: id("a"), append: scene.appending(vec![user(text)]) };
    let writes = [vec![append("x")], vec![append("y"), title("a", "two")], vec![append("z")]];
    for writes in writes {
        assert_eq!(scene.store().commit(more(writes)).unwrap().operation, first);
    }
    let outcomes: Vec<_> = all(scene).into_iter().map(|one| (one.id.0, one.outcomes)).collect();
    let session_id = id("a");
    let between = Outcome::Labelled {
        session_id: session_id.clone(),
        before: label("main"),
        after: label("between"),
    };
    let whole = vec![
        renamed("a", None, Some("two")),
        Outcome::Appended { session_id, events: 3, head_seq: 4 },
    ];
    assert_eq!(outcomes, [(2, vec![between]), (1, whole)]);
    scene.assert_sound();
}

pub(super) fn what_is_expected_must_be_as_it_was(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let stale = |message: &str| Error::Stale {
        what: "what the operation did".into(),
        message: message.into(),
    };
    let expecting = |expected: Outcome, write: Write| {
        let operation =
            NewOperation { expected: vec![expected], ..NewOperation::of(OperationKind::Undo) };
        let operation = Some(Box::new(operation));
        scene.store().commit(Transaction { operation, ..write.into() })
    };
    scene.change("a", &Change::Title(Some("now".into())));
    let write = title("a", "undone");
    let other = renamed("a", None, Some("then"));
    refused(expecting(other, write.clone()), &stale("session a got another title since"));
    let head_seq = 1;
    let created = Outcome::Created { session_id: id("a"), head_seq };
    expecting(created.clone(), write.clone()).unwrap();
    scene.append("a", turns(1));
    let grown = stale("session a has gained 2 events since");
    refused(expecting(created.clone(), write.clone()), &grown);
    scene.trash(&["a"], Children::Refuse).unwrap();
    refused(expecting(created, write.clone()), &stale("session a was deleted since"));
    let deleted = Outcome::Deleted { session_id: id("a") };
    expecting(deleted.clone(), change("a", Change::Undelete(label("main")))).unwrap();
    refused(expecting(deleted, write), &stale("session a was brought back since"));
    assert_eq!(scene.header("a").title, Some("undone".into()));
}

pub(super) fn an_undo_marks_what_it_undoes(scene: &Scene<'_>) {
    scene.root("a", turns(1));
    let first = done(scene, OperationKind::Rename, vec![title("a", "new")]);
    let undo = |undone: Option<u64>, to: &str| {
        let undoes = undone.map(OperationId);
        let operation = NewOperation { undoes, ..NewOperation::of(OperationKind::Undo) };
        let operation = Some(Box::new(operation));
        scene.store().commit(Transaction { operation, ..title("a", to).into() })
    };
    let marks = || {
        let marks = all(scene).into_iter().map(|one| one.undone_by.map(|by| by.0));
        marks.rev().collect::<Vec<_>>()
    };
    undo(first, "old").unwrap();
    assert_eq!(marks(), [Some(2), None]);
    let stale =
        |message: &str| Error::Stale { what: "the operation".into(), message: message.into() };
    refused(undo(first, "x"), &stale("operation 2 has undone it"));
    undo(Some(2), "redone").unwrap();
    assert_eq!(marks(), [None, Some(3), None]);
    undo(Some(3), "undone again").unwrap();
    assert_eq!(marks(), [Some(2), None, Some(4), None]);
    refused(undo(Some(9), "x"), &stale("operation 9 is not recorded any more"));
    assert_eq!(scene.header("a").title, Some("undone again".into()));
    assert_eq!(marks().len(), 4);
}

pub(super) fn an_erasure_erases_names(scene: &Scene<'_>) {
    for session in ["a", "b"] {
        scene.root(session, turns(1));
        let writes =
            vec![title(session, "secret"), change(session, Change::Label(label("secret")))];
        done(scene, OperationKind::Rename, writes);
    }
    let retained = all(scene)[0].clone();
    scene.trash(&["a"], Children::Refuse).unwrap();
    assert_eq!(all(scene)[1].outcomes.len(), 2);
    assert!(matches!(all(scene)[1].outcomes[0], Outcome::Renamed { .. }), "it is in the trash");
    scene.delete("a");
    let forgotten = Outcome::Forgotten { session_id: id("a") };
    scene.collect();
    assert_eq!(all(scene)[1].outcomes, [forgotten.clone(), forgotten]);
    assert_eq!(all(scene)[0], retained);
    scene.assert_sound();
}

pub(super) fn a_step_of_an_import_is_recorded(scene: &Scene<'_>) {
    if !scene.store().capabilities().sources {
        return;
    }
    let step = step(new(), "/f", 10, vec![create("s"), create("t")]);
    let operation = Some(Box::new(NewOperation::of(OperationKind::Import)));
    let (writes, source) = (step.writes, Some(Box::new(step.of)));
    let transaction = Transaction { writes, source, operation, ..Transaction::default() };
    let committed = scene.store().commit(transaction).unwrap();
    assert_eq!((committed.operation, committed.source.is_some()), (Some(OperationId(1)), true));
    let created = |session: &str| {
        let head_seq = scene.header(session).head_seq();
        Outcome::Created { session_id: id(session), head_seq }
    };
    assert_eq!(all(scene)[0].outcomes, [created("s"), created("t")]);
}

pub(super) fn a_new_session_has_no_other_outcome(scene: &Scene<'_>) {
    let create = Write::Create(Box::new(scene.draft("a", turns(1))));
    let first = done(scene, OperationKind::Import, vec![create, title("a", "one")]);
    let continues = first.map(OperationId);
    let more = NewOperation { continues, ..NewOperation::of(OperationKind::Import) };
    let writes = vec![title("a", "two"), change("a", Change::Leaf(Some(id("a"))))];
    let operation = Some(Box::new(more));
    scene.store().commit(Transaction { operation, ..Transaction::from(writes) }).unwrap();
    let created = Outcome::Created { session_id: id("a"), head_seq: 1 };
    assert_eq!(all(scene)[0].outcomes, std::slice::from_ref(&created));
    // The erasure of a name adds nothing either.
    scene.delete("a");
    scene.collect();
    assert_eq!(all(scene)[0].outcomes, [created]);
}
