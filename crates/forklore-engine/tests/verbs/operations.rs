//! Tests of the log of operations: `op log`, `op show` and `op undo`.

use std::collections::BTreeMap;
use std::sync::Arc;

use forklore_core::operation::{Obstacle, OperationId, OperationKind, Outcome};
use forklore_core::{ErrorKind, Header};
use forklore_engine::{
    Delete, DeleteMode, Error, Fork, Gc, LeftAlone, OperationSummary, OperationsRequest, Undelete,
    Undo, UndoState, Undone,
};
use forklore_store::memory::Preview;
use forklore_store::port::Filter;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::world::{World, cut, id, on_every_store, refusal};

on_every_store!(
    a_delete_is_undone_and_redone,
    titles_and_labels_get_their_former_values,
    a_rewind_goes_into_the_trash,
    what_changed_since_is_named_and_left,
    what_is_erased_or_detached_cannot_be_undone,
    a_label_in_use_is_left,
    a_branch_made_since_keeps_its_parent,
    a_running_session_is_not_deleted,
    the_latest_that_can_be_undone_is_undone,
    a_list_says_what_was_done_by_whom,
    random_operations_and_their_undos_give_back_the_state_before,
);

fn delete(world: &World, name: &str, mode: DeleteMode, erase: bool) {
    let request = Delete { session: id(name), mode, dry_run: false, erase };
    world.engine.delete(&request).unwrap();
}

fn undo(world: &World, operation: u64) -> Result<Undone, Error> {
    world.engine.undo(&Undo::of(OperationId(operation)))
}

/// Returns what the store has: the header of each session, and the log of each living one.
fn state(world: &World) -> BTreeMap<String, (Header, String)> {
    let all = Filter { deleted: true, ..Filter::default() };
    let headers = world.engine.store().sessions(&all, None, 0).unwrap().all().unwrap();
    let with_log = headers.into_iter().map(|header| {
        let log =
            if header.deleted.is_none() { world.printed(header.id.as_str()) } else { "".into() };
        (header.id.to_string(), (header, log))
    });
    with_log.collect()
}

/// Creates a root `a` with the branch `b`, which has the branch `c`.
fn family(world: &World) {
    world.session("a", "u1 $ a1 w u2 a2");
    world.fork("a", "turn:1", "b");
    world.write("b", "u3 $ a3");
    world.fork("b", "", "c");
    world.write("c", "u4");
}

fn summaries(world: &World) -> Vec<OperationSummary> {
    let request = OperationsRequest { limit: 0, ..OperationsRequest::default() };
    world.engine.operations(&request).unwrap().operations
}

fn states(world: &World) -> Vec<(u64, UndoState)> {
    summaries(world).iter().map(|one| (one.id.0, one.undo)).collect()
}

fn a_delete_is_undone_and_redone(world: &World) {
    family(world);
    let before = state(world);
    delete(world, "a", DeleteMode::Cascade, false);
    let deleted = state(world);
    let plan = world.engine.undo(&Undo { dry_run: true, ..Undo::default() }).unwrap();
    assert_eq!(state(world), deleted, "a plan changes nothing");
    let restored = |name: &str| Outcome::Restored {
        session_id: id(name),
        head_seq: before[name].0.head_seq(),
    };
    let expected = Undone {
        operation: OperationId(1),
        recorded_as: None,
        outcomes: vec![restored("a"), restored("b"), restored("c")],
        left: vec![],
        dry_run: true,
    };
    assert_eq!(plan, expected);
    let recorded_as = Some(OperationId(2));
    assert_eq!(undo(world, 1).unwrap(), Undone { recorded_as, dry_run: false, ..expected });
    assert_eq!(state(world), before);
    let refused = undo(world, 1).unwrap_err();
    assert_eq!(refused.to_string(), "operation 1 was undone by operation 2");
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    let redone = undo(world, 2).unwrap();
    let gone = |name: &str| Outcome::Deleted { session_id: id(name) };
    assert_eq!(redone.outcomes, [gone("c"), gone("b"), gone("a")]);
    assert!(state(world).values().all(|(header, _)| header.is_in_trash()));
    assert_eq!(
        states(world),
        [(3, UndoState::Possible), (2, UndoState::Undone), (1, UndoState::Possible)]
    );
    undo(world, 3).unwrap();
    assert_eq!(state(world), before);
}

fn titles_and_labels_get_their_former_values(world: &World) {
    family(world);
    let before = state(world);
    world.engine.rename(&id("a"), Some("first")).unwrap();
    world.engine.label(&id("b"), &"other".parse().unwrap()).unwrap();
    world.engine.rename(&id("a"), Some("second")).unwrap();
    // The latest title stands, so the first rename cannot be undone before the second.
    let refused = undo(world, 1).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "operation 1 cannot be undone any more: session a got another title since"
    );
    undo(world, 3).unwrap();
    assert_eq!(world.header("a").title.as_deref(), Some("first"));
    undo(world, 2).unwrap();
    undo(world, 1).unwrap();
    assert_eq!(state(world), before);
}

fn a_rewind_goes_into_the_trash(world: &World) {
    world.session("a", "u1 a1 u2 a2");
    let before = world.header("a");
    let fork = Fork { id: Some(id("back")), ..Fork::of(id("a")).at(cut("turn:1")) };
    world.engine.fork(&Fork { rewind: true, ..fork.clone() }).unwrap();
    assert!(!world.engine.fork(&Fork { rewind: true, ..fork }).unwrap().recorded);
    world.fork("a", "turn:1", "unrecorded");
    let one = &summaries(world)[..];
    assert_eq!((one.len(), one[0].kind), (1, OperationKind::Rewind));
    let undone = world.engine.undo(&Undo::default()).unwrap();
    assert_eq!(undone.outcomes, [Outcome::Deleted { session_id: id("back") }]);
    assert_eq!(world.header("a"), before);
    undo(world, 2).unwrap();
    world.write("back", "u3");
    let refused = undo(world, 1).unwrap_err();
    let expected = "operation 1 cannot be undone any more: session back has gained 1 event since";
    assert_eq!(refused.to_string(), expected);
}

fn what_changed_since_is_named_and_left(world: &World) {
    for name in ["a", "b", "c"] {
        world.session(name, "u1 a1");
    }
    for name in ["a", "b", "c"] {
        delete(world, name, DeleteMode::Refuse, false);
    }
    // One operation that deleted three sessions: the redo of an undo.
    let undelete = Undelete { session: id("b"), cascade: false };
    family_of_deletes(world);
    world.engine.undelete(&undelete).unwrap();
    delete(world, "r3", DeleteMode::Refuse, true);
    let cascade = summaries(world).iter().find(|one| one.sessions == 4).unwrap().id;
    world.engine.undelete(&Undelete { session: id("r2"), cascade: false }).unwrap();
    let refused = world.engine.undo(&Undo::of(cascade)).unwrap_err();
    let left = |name: &str, obstacle| LeftAlone { session_id: id(name), obstacle };
    let expected = vec![left("r2", Obstacle::BroughtBack), left("r3", Obstacle::Erased)];
    let Error::ChangedSince { operation, left: mut found, rest: true } = refused else {
        panic!("{refused}");
    };
    found.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    assert_eq!((operation, found), (cascade, expected));
    let undone = world.engine.undo(&Undo { partial: true, ..Undo::of(cascade) }).unwrap();
    let back: Vec<_> = undone.outcomes.iter().map(|one| one.session().to_string()).collect();
    assert_eq!((back, undone.left.len()), (vec!["r".to_owned(), "r1".to_owned()], 2));
    assert!(world.engine.show(&id("r1")).is_ok());
}

/// Deletes a root `r` with three branches in one step.
fn family_of_deletes(world: &World) {
    world.session("r", "u1 a1");
    for name in ["r1", "r2", "r3"] {
        world.fork("r", "", name);
    }
    delete(world, "r", DeleteMode::Cascade, false);
}

fn what_is_erased_or_detached_cannot_be_undone(world: &World) {
    family(world);
    world.engine.rename(&id("c"), Some("secret")).unwrap();
    world.engine.detach(&id("b")).unwrap();
    delete(world, "c", DeleteMode::Refuse, false);
    world.engine.collect(&Gc::all()).unwrap();
    delete(world, "a", DeleteMode::DetachChildren, true);
    let answers: Vec<_> = (1..=4).map(|operation| undo(world, operation).unwrap_err()).collect();
    let texts: Vec<_> = answers.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "operation 1 cannot be undone: session c was erased",
            "operation 2 cannot be undone: session b keeps its own copy of its history",
            "operation 3 cannot be undone any more: session c was erased",
            "operation 4 cannot be undone: session a was erased",
        ]
    );
    let kinds: Vec<_> = answers.iter().map(Error::kind).collect();
    let (never, changed) = (ErrorKind::Unsupported, ErrorKind::Conflict);
    assert_eq!(kinds, [never, never, changed, never]);
    let impossible = |id| (id, UndoState::Impossible);
    assert_eq!(states(world), [4, 3, 2, 1].map(impossible));
    let nothing = world.engine.undo(&Undo::default()).unwrap_err();
    assert_eq!(
        (nothing.to_string(), nothing.kind()),
        ("nothing can be undone".into(), ErrorKind::NotFound)
    );
    assert_eq!(refusal(undo(world, 9)).0, ErrorKind::NotFound);
    let shown = world.engine.operation(OperationId(1)).unwrap();
    assert_eq!(shown.outcomes, [Outcome::Forgotten { session_id: id("c") }]);
}

fn a_label_in_use_is_left(world: &World) {
    family(world);
    let former = world.header("b").label;
    world.engine.label(&id("b"), &"other".parse().unwrap()).unwrap();
    world.engine.label(&id("c"), &former).unwrap();
    let refused = undo(world, 1).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "operation 1 cannot be undone any more: session b cannot have its former label, which is \
         in use"
    );
    undo(world, 2).unwrap();
    undo(world, 1).unwrap();
    assert_eq!(world.header("b").label, former);
}

fn a_branch_made_since_keeps_its_parent(world: &World) {
    world.session("a", "u1 a1");
    delete(world, "a", DeleteMode::Refuse, false);
    undo(world, 1).unwrap();
    world.fork("a", "", "b");
    let refused = undo(world, 2).unwrap_err();
    let expected =
        "operation 2 cannot be undone any more: session a has a branch that builds on it";
    assert_eq!(refused.to_string(), expected);
    world.engine.detach(&id("b")).unwrap();
    undo(world, 2).unwrap();
    assert!(world.engine.show(&id("a")).is_err());
}

fn a_running_session_is_not_deleted(world: &World) {
    world.session("a", "u1 a1");
    let fork = Fork { id: Some(id("back")), rewind: true, ..Fork::of(id("a")) };
    world.engine.fork(&fork).unwrap();
    world.engine.take_lease(&id("back"), "runtime").unwrap();
    let refused = undo(world, 1).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "operation 1 cannot be undone any more: session back is running"
    );
    world.engine.release(&id("back"), "runtime").unwrap();
    undo(world, 1).unwrap();
}

fn the_latest_that_can_be_undone_is_undone(world: &World) {
    family(world);
    world.engine.rename(&id("a"), Some("title")).unwrap();
    world.engine.label(&id("b"), &"other".parse().unwrap()).unwrap();
    world.engine.detach(&id("b")).unwrap();
    let latest = || world.engine.undo(&Undo::default()).unwrap().operation.0;
    assert_eq!([latest(), latest()], [2, 1]);
    assert!(matches!(world.engine.undo(&Undo::default()), Err(Error::NothingToUndo)));
}

fn a_list_says_what_was_done_by_whom(world: &World) {
    family(world);
    let engine = world.engine.clone().with_program("a program").with_principal("did:me");
    world.engine.rename(&id("a"), Some("Plan")).unwrap();
    engine.label(&id("b"), &"other".parse().unwrap()).unwrap();
    let request =
        Delete { session: id("a"), mode: DeleteMode::Cascade, dry_run: false, erase: false };
    engine.delete(&request).unwrap();
    let page = |before: Option<u64>| {
        let before = before.map(OperationId);
        engine.operations(&OperationsRequest { before, limit: 2 }).unwrap()
    };
    let first = page(None);
    assert_eq!(first.next, Some(OperationId(2)));
    let names = |one: &OperationSummary| {
        let names = one.first.iter().map(|one| one.name.clone().unwrap_or_default());
        (one.sessions, names.collect::<Vec<_>>())
    };
    // What is in the trash is named by its title or its first words, as in the list of the trash.
    let named = ["u4", "u3", "Plan"].map(str::to_owned).to_vec();
    assert_eq!(names(&first.operations[0]), (3, named));
    assert_eq!(first.operations[0].program.as_deref(), Some("a program"));
    assert_eq!(first.operations[1].principal.as_deref(), Some("did:me"));
    engine.undo(&Undo::default()).unwrap();
    let names_now = names(&engine.operation(OperationId(3)).unwrap().summary);
    assert_eq!(names_now, (3, ["u4", "u3", "Plan"].map(str::to_owned).to_vec()));
    assert_eq!(first.operations[1].after.as_deref(), Some("other"));
    let last = page(Some(2));
    assert_eq!((last.next, last.operations.len()), (None, 1));
    let one = &last.operations[0];
    assert_eq!((&one.program, &one.before, &one.after), (&None, &None, &Some("Plan".into())));
}

#[test]
fn a_store_without_a_log_says_so_and_does_everything_else() {
    let world = World::memory();
    world.session("a", "u1");
    let engine = world.engine.on_store(Arc::new(Preview::over(world.engine.shared_store())));
    assert_eq!(engine.rename(&id("a"), Some("title")).unwrap().title.as_deref(), Some("title"));
    let refused = engine.undo(&Undo::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "this store keeps no log of operations, so nothing can be undone"
    );
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert_eq!(refusal(engine.operations(&OperationsRequest::default())).0, ErrorKind::Unsupported);
    assert_eq!(summaries(&world), []);
}

fn newest(world: &World) -> Option<OperationId> {
    let page = world.engine.store().operations(None, 1).unwrap();
    page.found.first().map(|operation| operation.id)
}

/// A random operation on one of the sessions.
#[derive(Clone, Copy, Debug)]
enum Step {
    Delete(usize, bool),
    Undelete(usize, bool),
    Label(usize),
    Rename(usize, usize),
    Rewind(usize),
    /// Undoes the operation that is this far back.
    Undo(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (session, name) = (0..5_usize, 0..3_usize);
    let step = prop_oneof![
        (session.clone(), any::<bool>()).prop_map(|(at, all)| Step::Delete(at, all)),
        (session.clone(), any::<bool>()).prop_map(|(at, all)| Step::Undelete(at, all)),
        session.clone().prop_map(Step::Label),
        (session.clone(), name).prop_map(|(at, name)| Step::Rename(at, name)),
        session.prop_map(Step::Rewind),
        (0..4_usize).prop_map(Step::Undo),
    ];
    proptest::collection::vec(step, 1..12)
}

/// Executes a step, and returns whether it was recorded. A step that is refused changes nothing.
fn execute(world: &World, prefix: &str, step: Step) -> bool {
    let session = |at: usize| id(&format!("{prefix}{at}"));
    let newest = || newest(world).map_or(0, |newest| newest.0);
    let engine = &world.engine;
    let before = newest();
    let done = match step {
        Step::Delete(at, all) => {
            let mode = if all { DeleteMode::Cascade } else { DeleteMode::Refuse };
            let request = Delete { session: session(at), mode, dry_run: false, erase: false };
            engine.delete(&request).map(drop)
        }
        Step::Undelete(at, cascade) => {
            engine.undelete(&Undelete { session: session(at), cascade }).map(drop)
        }
        Step::Label(at) => {
            // A label that was in use meanwhile does not come back with its session.
            engine.label(&session(at), &format!("label-{before}").parse().unwrap()).map(drop)
        }
        Step::Rename(at, name) => {
            engine.rename(&session(at), Some(&format!("title {name}"))).map(drop)
        }
        Step::Rewind(at) => engine.fork(&Fork { rewind: true, ..Fork::of(session(at)) }).map(drop),
        Step::Undo(back) => {
            let operation = OperationId(newest().saturating_sub(back as u64));
            engine.undo(&Undo { partial: true, ..Undo::of(operation) }).map(drop)
        }
    };
    let recorded = newest();
    assert!(done.is_ok() || recorded == before, "{step:?}: what is refused is not recorded");
    recorded > before
}

/// Returns the living sessions of the families of a case. A session that an undo put into the trash
/// stays there.
fn living(world: &World, roots: &[String]) -> BTreeMap<String, (Header, String)> {
    let mut living = BTreeMap::new();
    for root in roots {
        let filter = Filter { family: Some(id(root)), ..Filter::default() };
        let headers = world.engine.store().sessions(&filter, None, 0).unwrap().all().unwrap();
        living.extend(headers.into_iter().map(|header| {
            let log = world.printed(header.id.as_str());
            (header.id.to_string(), (header, log))
        }));
    }
    living
}

#[allow(clippy::print_stdout, reason = "a failed test shows how to repeat it")]
fn random_operations_and_their_undos_give_back_the_state_before(world: &World) {
    let seed = std::env::var("FORKLORE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("FORKLORE_SEED={seed}");
    let mut runner =
        TestRunner::new(Config { rng_seed: RngSeed::Fixed(seed), ..Config::default() });
    for case in 0..24 {
        let steps = steps().new_tree(&mut runner).unwrap().current();
        println!("case {case}: {steps:?}");
        back_and_forth(world, &format!("s{case}-"), &steps);
    }
}

/// Executes the steps, and undoes them from the last to the first. Each undo must give back the
/// state before its operation.
fn back_and_forth(world: &World, prefix: &str, steps: &[Step]) {
    let name = |at: usize| format!("{prefix}{at}");
    world.session(&name(0), "u1 a1");
    world.fork(&name(0), "", &name(1));
    world.fork(&name(1), "", &name(2));
    world.session(&name(3), "u2 a2");
    world.fork(&name(3), "", &name(4));
    let roots = [name(0), name(3)];
    let mut states = vec![living(world, &roots)];
    let mut recorded = Vec::new();
    for step in steps {
        if execute(world, prefix, *step) {
            recorded.push(newest(world).unwrap());
            states.push(living(world, &roots));
        }
    }
    while let Some(operation) = recorded.pop() {
        assert_eq!(states.pop(), Some(living(world, &roots)));
        world.engine.undo(&Undo::of(operation)).unwrap();
        let before = world.engine.operation(operation).unwrap().outcomes;
        assert_eq!(states.last(), Some(&living(world, &roots)), "{before:?}");
    }
}
