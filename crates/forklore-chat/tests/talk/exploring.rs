//! Several continuations at once.

use std::sync::Mutex;

use forklore_chat::explore::{Explore, Judge, Row, State, Try, explore};
use forklore_model::{ErrorKind, Header, Selector};
use tokio_util::sync::CancellationToken;

use crate::world::World;

fn said(world: &mut World) -> Header {
    world.talk(World::start(), &["one", "two"]);
    let listing = world.engine().list(&forklore_engine::ListRequest::default()).unwrap();
    listing.sessions[0].clone()
}

fn request(session: &Header, prompts: &[&str]) -> Explore {
    let tried = |prompt: &&str| Try { model: "one".into(), prompt: (*prompt).to_owned() };
    Explore {
        session: session.clone(),
        at: Some("turn:1".parse::<Selector>().unwrap()),
        tries: prompts.iter().map(tried).collect(),
        judge: None,
        label: "try".into(),
        jobs: 8,
    }
}

fn run(world: &World, request: &Explore) -> Vec<Row> {
    explore(&world.supplies, request, &CancellationToken::new(), &mut |_, _| {}).unwrap()
}

#[test]
fn all_begin_with_the_same_messages_and_one_goes_ahead() {
    let mut world = World::new();
    let session = said(&mut world);
    world.heard.lock().unwrap().clear();
    let seen = Mutex::new(Vec::new());
    let asked = request(&session, &["a", "b", "c"]);
    let rows = explore(&world.supplies, &asked, &CancellationToken::new(), &mut |at, row| {
        seen.lock().unwrap().push((at, row.state));
    })
    .unwrap();
    let labels: Vec<_> = rows.iter().map(|row| row.label.as_ref().unwrap().as_str()).collect();
    assert_eq!(labels, ["try-1", "try-2", "try-3"]);
    for (row, prompt) in rows.iter().zip(["a", "b", "c"]) {
        assert_eq!(
            (row.state, row.answer.as_str()),
            (State::Done, &*format!("m1 heard: {prompt}"))
        );
        assert_eq!((row.usage.input, row.usage.cached, row.usage.output), (100, 80, 5));
        let child = world.engine().show(row.session_id.as_ref().unwrap()).unwrap();
        assert_eq!(child.counts.index, 4);
    }
    let heard = world.heard.lock().unwrap();
    assert_eq!(heard.len(), 3);
    for request in heard.iter() {
        assert_eq!(request.messages[..2], heard[0].messages[..2]);
        assert_eq!(request.cache_key, heard[0].cache_key);
    }
    // Nobody is asked before the first one answers.
    let seen = seen.into_inner().unwrap();
    let first_answer = seen.iter().position(|told| *told == (0, State::Answering)).unwrap();
    let others = seen.iter().position(|(at, state)| *at > 0 && *state == State::Asked).unwrap();
    assert!(first_answer < others, "{seen:?}");
}

#[test]
fn one_that_fails_is_a_row_with_its_error() {
    let mut world = World::new();
    let session = said(&mut world);
    let rows = run(&world, &request(&session, &["fail", "b"]));
    assert_eq!((rows[0].state, rows[1].state), (State::Failed, State::Done));
    assert!(rows[0].error.as_ref().unwrap().contains("it does not want to"), "{rows:?}");
    // The next exploration counts on.
    let again = run(&world, &request(&session, &["c"]));
    assert_eq!(again[0].label.as_ref().unwrap().as_str(), "try-3");
}

#[test]
fn a_judge_gives_marks_and_may_be_wrong() {
    let mut world = World::new();
    let session = said(&mut world);
    let judged = |line: &str| {
        let judge = Some(Judge::parse(line).unwrap());
        let row = run(&world, &Explore { judge, ..request(&session, &["abc"]) }).remove(0);
        (row.state, row.score, row.error)
    };
    assert_eq!(judged("wc -c"), (State::Done, Some(13.0), None));
    let (state, score, error) = judged("echo no number");
    assert_eq!((state, score), (State::Done, None));
    assert_eq!(error.unwrap(), "the judge printed no number");
    assert!(judged("false").2.unwrap().starts_with("the judge ended with"));
    assert!(judged("/no/such/judge").2.unwrap().starts_with("the judge /no/such/judge: "));
    // No shell reads the line.
    assert_eq!(judged("echo 7 ; echo 8").1, Some(7.0));
    assert_eq!(judged("printf '%s' '$((1+1))'").2.unwrap(), "the judge printed no number");
    assert_eq!(Judge::parse(" ").unwrap_err().kind(), ErrorKind::InvalidArgs);
}

#[test]
fn what_is_interrupted_can_be_resumed() {
    let mut world = World::new();
    let session = said(&mut world);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let asked = request(&session, &["a", "b"]);
    let rows = explore(&world.supplies, &asked, &cancel, &mut |_, _| {}).unwrap();
    for row in &rows {
        assert_eq!(row.state, State::Interrupted);
        let child = world.engine().show(row.session_id.as_ref().unwrap()).unwrap();
        assert!(child.lease.is_none());
    }
}

#[test]
fn nothing_is_forked_where_the_place_or_the_model_is_not_there() {
    let mut world = World::new();
    let session = said(&mut world);
    let count = |world: &World| world.engine().branches(&session.id).unwrap().branches.len();
    let wrong = Explore { at: Some("turn:9".parse().unwrap()), ..request(&session, &["a"]) };
    let mut unknown = request(&session, &["a", "b"]);
    unknown.tries[1].model = "nobody".into();
    for request in [wrong, unknown] {
        let refused = explore(&world.supplies, &request, &CancellationToken::new(), &mut |_, _| {});
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgs);
        assert_eq!(count(&world), 1);
    }
}

#[test]
fn one_after_the_other_where_that_is_asked() {
    let mut world = World::new();
    let session = said(&mut world);
    let mut running = 0_i32;
    let mut most = 0;
    let asked = Explore { jobs: 1, ..request(&session, &["a", "b", "c"]) };
    explore(&world.supplies, &asked, &CancellationToken::new(), &mut |_, row| {
        match row.state {
            State::Asked => running += 1,
            State::Done => running -= 1,
            _ => {}
        }
        most = most.max(running);
    })
    .unwrap();
    assert_eq!((running, most), (0, 1));
}
