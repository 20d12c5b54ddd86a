//! Cases: the log of operations outlives the program, and several processes write it.

use forklore_store::port::{Change, NewOperation, OperationId, OperationKind, Transaction};

use super::operations::{all, change, done, title};
use crate::events::turns;
use crate::scene::{Scene, id, label};

/// The number of processes that write at once, and of the operations of each.
const WRITERS: usize = 4;
const EACH: usize = 25;

pub(super) fn operations_outlive_a_reopening(scene: &mut Scene<'_>) {
    scene.root("a", turns(1));
    let first = done(scene, OperationKind::Import, vec![title("a", "one")]).map(OperationId);
    done(scene, OperationKind::Label, vec![change("a", Change::Label(label("x")))]);
    let more = NewOperation { continues: first, ..NewOperation::of(OperationKind::Import) };
    let operation = Some(Box::new(more));
    scene.store().commit(Transaction { operation, ..title("a", "two").into() }).unwrap();
    let undo = NewOperation { undoes: first, ..NewOperation::of(OperationKind::Undo) };
    let operation = Some(Box::new(undo));
    scene.store().commit(Transaction { operation, ..title("a", "three").into() }).unwrap();
    let before = all(scene);
    assert_eq!(before.iter().map(|one| one.outcomes.len()).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(before[2].undone_by, Some(OperationId(3)));
    for _ in 0..2 {
        scene.reopen();
        scene.collect();
        assert_eq!(all(scene), before);
    }
    assert_eq!(done(scene, OperationKind::Rename, vec![title("a", "four")]), Some(4));
    let second = Scene::sharing(scene);
    assert_eq!(all(&second).len(), 4);
    assert_eq!(done(&second, OperationKind::Rename, vec![title("a", "five")]), Some(5));
    assert_eq!(all(scene), all(&second));
    scene.assert_sound();
}

pub(super) fn processes_give_each_operation_a_number_of_its_own(scene: &Scene<'_>) {
    if let Some(writer) = scene.argument() {
        for number in 0..EACH {
            let writes = vec![title(writer, &number.to_string())];
            assert!(done(scene, OperationKind::Rename, writes).is_some());
        }
        return;
    }
    let sessions: Vec<_> = (0..WRITERS).map(|writer| format!("s{writer}")).collect();
    for session in &sessions {
        scene.root(session, turns(1));
    }
    let number = super::number("processes_give_each_operation_a_number_of_its_own");
    let others: Vec<_> = sessions.iter().map(|session| scene.start(number, session)).collect();
    others.into_iter().for_each(|other| scene.finish(other));
    let mut operations = all(scene);
    operations.reverse();
    let numbers: Vec<_> = operations.iter().map(|one| one.id.0).collect();
    assert_eq!(numbers, (1..=(WRITERS * EACH) as u64).collect::<Vec<_>>());
    for session in &sessions {
        let of_session =
            operations.iter().filter(|one| *one.outcomes[0].session() == id(session)).count();
        assert_eq!(of_session, EACH);
    }
    scene.assert_sound();
}
