//! Tests of `bring`, which records a summary of a branch in another session.

use forklore_core::{Data, ErrorKind, EventType};
use forklore_engine::{Batch, Bring, BroughtMark, Error, Fork, NewEvent, Summarize, TreeRequest};
use forklore_store::Error as StoreError;
use serde_json::{Value, json};

use crate::world::{World, cut, id, on_every_store, refusal};

on_every_store!(
    the_outcome_stands_behind_the_head_and_changes_no_history,
    the_model_reads_prose_with_the_answer_once,
    to_bring_the_same_again_is_harmless,
    a_branch_that_went_on_is_brought_from_where_it_was,
    a_branch_with_nothing_new_is_refused,
    a_running_session_is_busy_but_for_its_owner,
    of_two_at_once_one_is_recorded,
    a_model_may_tell_it,
    the_cost_of_a_models_summary_follows_it_in_the_target_session,
    the_summarised_part_is_the_recorded_part,
    a_fork_of_the_target_session_inherits_the_brought_mark,
    a_dry_run_writes_nothing_and_agrees,
    a_tree_names_who_brought_what_to_whom,
    large_trees_are_not_looked_through,
);

/// Creates the session `m` with two branches `a` and `b`. Both branches have own events.
fn family(world: &World) {
    world.session("m", "u1 a1 u2 a2");
    world.fork("m", "turn:1", "a");
    world.write("a", "u3 c:x r:x $ a3");
    world.fork("m", "turn:1", "b");
    world.write("b", "u4");
}

fn bring(from: &str, into: &str) -> Bring {
    Bring::new(id(from), id(into))
}

fn last_data(world: &World, session: &str) -> Value {
    world.log(session).last().unwrap().event.data.read().unwrap()
}

fn the_outcome_stands_behind_the_head_and_changes_no_history(world: &World) {
    family(world);
    let (before, parent) = (world.printed("b"), world.printed("a"));
    let brought = world.engine.bring(&bring("a", "b")).unwrap();
    assert!(brought.recorded && !brought.existing);
    assert_eq!((brought.from_index, brought.to_index), (2, 6));
    assert_eq!(brought.answer.as_deref(), Some("a3"));
    assert_eq!((brought.seq, brought.head_seq), (4, 4));
    assert_eq!(world.shape("b"), "F u1 a1 u4 S");
    assert!(world.printed("b").starts_with(&before));
    assert_eq!(world.printed("a"), parent);
    let data = last_data(world, "b");
    assert_eq!(data["of"], json!({"session_id": "a", "from_index": 2, "to_index": 6}));
    assert_eq!(data["brought_from"], json!(brought.label));
    assert_eq!(data["answer"], "a3");
    assert_eq!(
        data["summary"]["counts"],
        json!({"assistant_message": 1, "tool_call": 1, "tool_result": 1, "user_message": 1})
    );
    assert_eq!(data["summary"]["facts"][0], json!({"index": 2, "role": "user", "text": "u3"}));
    // The model receives the summary at the position of its event. No conversation index changes.
    let header = world.header("b");
    assert_eq!(header.counts.index, 3);
    let messages = world.engine.inspect(&id("b")).unwrap().messages;
    let outcome = messages.last().unwrap().plain_text();
    assert!(outcome.starts_with(&format!("[What was done on the branch {}]\n", brought.label)));
    assert!(outcome.ends_with("[Its last answer]\na3"), "{outcome}");
}

fn the_model_reads_prose_with_the_answer_once(world: &World) {
    family(world);
    world.engine.bring(&bring("a", "b")).unwrap();
    let messages = world.engine.inspect(&id("b")).unwrap().messages;
    let read = messages.last().unwrap().plain_text();
    let begin = "Gathered from the log without a model: counts and excerpts.\n";
    assert!(read.contains(begin) && read.contains("\nuser: u3\n"), "{read}");
    assert!(!read.contains(['{', '}', '"']), "{read}");
    assert_eq!(read.matches("a3").count(), 1, "{read}");
    // A summary at a fork has the same form, but no last answer.
    let summarize = Some(Summarize::Deterministic);
    let fork = Fork { id: Some(id("d")), summarize, ..Fork::of(id("a")) };
    world.engine.fork(&fork).unwrap();
    let messages = world.engine.inspect(&id("d")).unwrap().messages;
    let read = messages.last().unwrap().plain_text();
    assert!(read.starts_with(&format!("[Summary of the history above]\n{begin}")), "{read}");
    assert!(read.ends_with("\nassistant: a3") && !read.contains('{'), "{read}");
}

fn to_bring_the_same_again_is_harmless(world: &World) {
    family(world);
    let first = world.engine.bring(&bring("a", "b")).unwrap();
    world.write("b", "a4");
    let before = world.printed("b");
    let again = world.engine.bring(&bring("a", "b")).unwrap();
    assert!(again.existing && !again.recorded);
    assert_eq!((again.seq, &again.event_id), (first.seq, &first.event_id));
    assert_eq!((again.answer, again.head_seq), (first.answer, 5));
    assert_eq!(world.printed("b"), before);
}

fn a_branch_that_went_on_is_brought_from_where_it_was(world: &World) {
    family(world);
    world.engine.bring(&bring("a", "b")).unwrap();
    world.write("a", "u5 a5");
    let more = world.engine.bring(&bring("a", "b")).unwrap();
    assert_eq!((more.recorded, more.from_index, more.to_index), (true, 6, 8));
    assert_eq!(more.answer.as_deref(), Some("a5"));
    assert_eq!(world.shape("b"), "F u1 a1 u4 S S");
    assert!(world.engine.bring(&bring("a", "b")).unwrap().existing);
}

fn a_branch_with_nothing_new_is_refused(world: &World) {
    family(world);
    world.fork("m", "end", "same");
    let nothing = (ErrorKind::InvalidArgs, "nothing_to_bring".to_owned());
    assert_eq!(refusal(world.engine.bring(&bring("same", "m"))), nothing);
    // In the other direction, there is something to bring as soon as the parent has new events.
    assert_eq!(refusal(world.engine.bring(&bring("m", "same"))), nothing);
    world.write("m", "u9");
    assert_eq!(world.engine.bring(&bring("m", "same")).unwrap().from_index, 4);
    let itself = (ErrorKind::InvalidArgs, "same_session".to_owned());
    assert_eq!(refusal(world.engine.bring(&bring("m", "m"))), itself);
    assert_eq!(refusal(world.engine.bring(&bring("gone", "m"))).0, ErrorKind::NotFound);
    assert_eq!(refusal(world.engine.bring(&bring("m", "gone"))).0, ErrorKind::NotFound);
}

fn a_running_session_is_busy_but_for_its_owner(world: &World) {
    family(world);
    world.engine.take_lease(&id("b"), "somebody").unwrap();
    let before = world.printed("b");
    assert_eq!(refusal(world.engine.bring(&bring("a", "b"))).0, ErrorKind::Busy);
    assert_eq!(world.printed("b"), before);
    let owned = Bring { owner: Some("somebody".into()), ..bring("a", "b") };
    assert!(world.engine.bring(&owned).unwrap().recorded);
    // A turn may run in the branch `a` meanwhile, because `bring` only reads the branch.
    world.engine.take_lease(&id("a"), "somebody").unwrap();
    assert!(world.engine.bring(&bring("a", "m")).unwrap().recorded);
}

fn of_two_at_once_one_is_recorded(world: &World) {
    family(world);
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..6).map(|_| scope.spawn(|| world.engine.bring(&bring("a", "b")))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for outcome in outcomes {
        match outcome {
            Ok(brought) => assert_eq!(brought.seq, 4),
            Err(error) => {
                assert!(matches!(error, Error::Store(StoreError::Conflict { .. })), "{error}");
            }
        }
    }
    assert_eq!(world.shape("b"), "F u1 a1 u4 S");
}

fn a_model_may_tell_it(world: &World) {
    family(world);
    let reported = by_model("it took winnow", &[]);
    let brought = world.engine.bring(&Bring { summarize: reported, ..bring("a", "b") }).unwrap();
    assert_eq!(brought.strategy, "model_summary_v1");
    let data = last_data(world, "b");
    assert_eq!((&data["summary"], &data["model"]), (&json!("it took winnow"), &json!("small")));
    let why = Summarize::fallback("the model cannot be reached");
    let brought = world.engine.bring(&Bring { summarize: why, ..bring("a", "m") }).unwrap();
    assert_eq!(brought.strategy, "deterministic_operational_summary_v2");
    let data = last_data(world, "m");
    assert_eq!(
        data["limitations"][1],
        "the model cannot be reached, so this is the deterministic summary"
    );
    let log = world.log("m");
    assert_eq!(log.last().unwrap().event.kind, EventType::BRANCH_SUMMARY);
}

fn by_model(text: &str, usage: &[&str]) -> Summarize {
    let usage = usage.iter().map(|data| Data::parse(data).unwrap()).collect();
    Summarize::ByModel { text: text.into(), model: "small".into(), usage }
}

fn the_cost_of_a_models_summary_follows_it_in_the_target_session(world: &World) {
    family(world);
    let branch = (world.printed("a"), world.engine.show(&id("a")).unwrap());
    let summarize = by_model("it took winnow", &[r#"{"input":7}"#, r#"{"input":5,"output":2}"#]);
    let request = Bring { summarize, ..bring("a", "b") };
    let brought = world.engine.bring(&request).unwrap();
    let log = world.log("b");
    let kinds: Vec<_> = log.iter().rev().take(3).map(|it| it.event.kind.as_str()).collect();
    assert_eq!(kinds, ["provider_usage", "provider_usage", "branch_summary"]);
    assert_eq!(i64::try_from(brought.seq).unwrap() + 2, brought.head_seq);
    let usage = world.engine.show(&id("b")).unwrap().usage;
    assert_eq!((usage.input, usage.output), (12, 2));
    assert_eq!((world.printed("a"), world.engine.show(&id("a")).unwrap()), branch);
    let again = world.engine.bring(&request).unwrap();
    assert!(again.existing && !again.recorded);
    assert_eq!(world.log("b").len(), log.len());
}

fn a_fork_of_the_target_session_inherits_the_brought_mark(world: &World) {
    family(world);
    world.engine.bring(&bring("a", "b")).unwrap();
    let child = Fork { id: Some(id("c")), ..Fork::of(id("b")).at(cut("end")) };
    world.engine.fork(&child).unwrap();
    assert_eq!(world.shape("c"), "F u1 a1 u4 S");
    assert!(world.engine.bring(&bring("a", "c")).unwrap().existing);
    // A request of the child begins with the same messages as one of its parent.
    let of = |session: &str| world.engine.inspect(&id(session)).unwrap().messages;
    assert_eq!(of("c"), of("b"));
}

fn a_dry_run_writes_nothing_and_agrees(world: &World) {
    family(world);
    let before = world.printed("b");
    let planned = world.engine.bring(&Bring { dry_run: true, ..bring("a", "b") }).unwrap();
    assert!(planned.dry_run && !planned.recorded);
    assert_eq!(world.printed("b"), before);
    let made = world.engine.bring(&bring("a", "b")).unwrap();
    assert_eq!((planned.seq, planned.event_id), (made.seq, made.event_id));
}

fn the_summarised_part_is_the_recorded_part(world: &World) {
    family(world);
    let part = |part| Bring { part: Some(part), ..bring("a", "b") };
    let message = |request: Bring| Bring { summarize: by_model("it tried x", &[]), ..request };
    // The branch gets new events after the caller has chosen the part to bring.
    world.write("a", "u5 a5");
    let outcome = world.engine.bring(&message(part(2..6))).unwrap();
    assert_eq!((outcome.recorded, outcome.from_index, outcome.to_index), (true, 2, 6));
    assert_eq!(
        (outcome.strategy.as_str(), outcome.answer.as_deref()),
        ("model_summary_v1", Some("a3"))
    );
    // A part that was already brought is not brought again, even with another strategy.
    let again = world.engine.bring(&part(2..6)).unwrap();
    assert_eq!(
        (again.existing, again.strategy.as_str(), &again.event_id),
        (true, "model_summary_v1", &outcome.event_id)
    );
    let rest = world.engine.bring(&bring("a", "b")).unwrap();
    assert_eq!((rest.recorded, rest.from_index, rest.to_index), (true, 6, 8));
    assert_eq!(world.shape("b"), "F u1 a1 u4 S S");
    for wrong in [1..6, 3..3, 6..9] {
        let refused = refusal(world.engine.bring(&part(wrong)));
        assert_eq!(refused, (ErrorKind::InvalidArgs, "part".to_owned()));
    }
    let records = world.engine.replay_part(&id("a"), &(4..99)).unwrap();
    let indexes: Vec<u64> = records.map(|record| record.unwrap().index).collect();
    assert_eq!(indexes, [4, 5, 6, 7]);
}

/// Returns whether the engine computed marks, and the marks of each session that has marks.
fn marks(world: &World) -> (bool, Vec<(String, Vec<BroughtMark>)>) {
    let mut trees = world.engine.tree(&TreeRequest::default()).unwrap();
    let looked = world.engine.mark_brought(&mut trees);
    let reported = trees.nodes.into_iter().map(|node| (node.session_id.to_string(), node.brought));
    (looked, reported.filter(|(_, brought)| !brought.is_empty()).collect())
}

fn a_tree_names_who_brought_what_to_whom(world: &World) {
    family(world);
    // A summary at a fork is not a mark, and neither is an inherited summary.
    let summed = Fork { summarize: Some(Summarize::Deterministic), ..Fork::of(id("m")) };
    world.engine.fork(&summed).unwrap();
    assert_eq!(marks(world), (true, vec![]));
    let first = world.engine.bring(&bring("a", "b")).unwrap();
    world.fork("b", "", "c");
    let second = world.engine.bring(&bring("a", "m")).unwrap();
    let of_a = |seq| vec![BroughtMark { seq, session_id: id("a"), label: first.label.to_string() }];
    let mut expected = vec![("b".to_owned(), of_a(first.seq)), ("m".to_owned(), of_a(second.seq))];
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    let (looked, mut found) = marks(world);
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!((looked, found), (true, expected));
}

fn large_trees_are_not_looked_through(world: &World) {
    family(world);
    world.engine.bring(&bring("a", "b")).unwrap();
    let many = || (0..10_000).map(|_| NewEvent::user("x").unwrap()).collect();
    for _ in 0..2 {
        world.engine.append(&id("m"), &Batch { events: many(), ..Default::default() }).unwrap();
    }
    assert_eq!(marks(world), (false, vec![]));
}
