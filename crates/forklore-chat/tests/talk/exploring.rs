//! Several continuations at once.

use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use forklore_chat::explore::{Explore, Judge, Row, State, Try, explore};
use forklore_core::{ErrorKind, Header, Selector};
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
        label: None,
        jobs: 8,
    }
}

fn run(world: &World, request: &Explore) -> Vec<Row> {
    explore(&world.supplies, request, &CancellationToken::new(), &mut |_, _| {}).unwrap().rows
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
    .unwrap()
    .rows;
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
fn labels_say_from_where_and_count_on() {
    let mut world = World::new();
    let session = said(&mut world);
    let labels = |world: &World, asked: &Explore| -> Vec<String> {
        let rows = run(world, asked);
        rows.iter().map(|row| row.label.as_ref().unwrap().to_string()).collect()
    };
    let two = request(&session, &["a", "b"]);
    assert_eq!(labels(&world, &two), ["try-1", "try-2"]);
    assert_eq!(labels(&world, &two), ["try-3", "try-4"]);
    let named = Explore { label: Some("plan".into()), ..two };
    assert_eq!(labels(&world, &named), ["plan-1", "plan-2"]);
    let header = |label: &str| {
        let scope = forklore_engine::Scope::default();
        world.engine().resolve(&format!("@{label}"), &scope).unwrap()
    };
    let from =
        |label: &str| Explore { session: header(label), at: None, ..request(&session, &["a"]) };
    assert_eq!(labels(&world, &from("try-2")), ["try-2.1"]);
    assert_eq!(labels(&world, &from("try-2")), ["try-2.2"]);
    assert_eq!(labels(&world, &from("try-2.1")), ["try-2.1.1"]);
    // Where the name would be too long, it is as from the root.
    world.engine().label(&header("plan-1").id, &"p".repeat(64).parse().unwrap()).unwrap();
    assert_eq!(labels(&world, &from(&"p".repeat(64))), ["try-5"]);
    let wrong = Explore { label: Some("no name".into()), ..request(&session, &["a"]) };
    let refused = explore(&world.supplies, &wrong, &CancellationToken::new(), &mut |_, _| {});
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgs);
}

#[test]
fn a_label_that_another_program_takes_is_passed_over() {
    let mut world = World::new();
    let session = said(&mut world);
    let names: Vec<_> = (0..8).map(|number| format!("p{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let asked = request(&session, &names);
    let rows: Vec<Row> = thread::scope(|scope| {
        let (world, asked) = (&world, &asked);
        let running: Vec<_> = (0..4).map(|_| scope.spawn(|| run(world, asked))).collect();
        running.into_iter().flat_map(|running| running.join().unwrap()).collect()
    });
    assert!(rows.iter().all(|row| row.state == State::Done), "{rows:#?}");
    let mut labels: Vec<_> = rows.iter().map(|row| row.label.clone().unwrap()).collect();
    labels.sort();
    labels.dedup();
    assert_eq!(labels.len(), 32);
}

#[test]
fn a_judge_gives_marks_and_may_be_wrong() {
    let mut world = World::new();
    let session = said(&mut world);
    let judged = |line: &str| {
        let judge = Some(Judge::parse(line).unwrap());
        let row = run(&world, &Explore { judge, ..request(&session, &["abc"]) }).remove(0);
        // Whatever the judge does, the answer is there.
        assert_eq!((row.state, row.answer.as_str()), (State::Done, "m1 heard: abc"));
        match (row.score, row.error) {
            (Some(score), None) => Ok(score),
            (None, Some(error)) => Err(error),
            both => panic!("{both:?}"),
        }
    };
    assert_eq!(judged("wc -c"), Ok(13.0));
    // No shell reads the line.
    assert_eq!(judged("echo 7 ; echo 8"), Ok(7.0));
    let wrong = [
        "echo no number",
        "printf '%s' '$((1+1))'",
        "true",
        "echo inf",
        "false",
        "sh -c 'echo 3; echo it has no opinion >&2; exit 4'",
        "/no/such/judge",
    ];
    let told: Vec<String> = wrong.iter().map(|line| judged(line).unwrap_err()).collect();
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(Judge::parse(" ").unwrap_err().kind(), ErrorKind::InvalidArgs);
}

#[test]
fn a_judge_has_its_time_and_leaves_nothing_behind() {
    let mut world = World::new();
    let session = said(&mut world);
    let judged = |line: &str, seconds| {
        let judge = Judge::parse(line).unwrap().within(Duration::from_secs(seconds));
        let asked = Explore { judge: Some(judge), ..request(&session, &["abc"]) };
        run(&world, &asked).remove(0)
    };
    // One that never ends, or talks without end, costs the mark and not the answer.
    for line in ["sleep 1000", "yes"] {
        let row = judged(line, 1);
        let told = "the judge took over 1 s (--judge-timeout sets how long it may)";
        assert_eq!((row.error.as_deref(), row.score), (Some(told), None));
        assert_eq!(row.answer, "m1 heard: abc");
    }
    // One that is done is done, whatever it has started.
    let dir = tempfile::tempdir().unwrap();
    let child = dir.path().join("child");
    let line = format!("sh -c 'sleep 1000 & echo $! > {}; echo 5'", child.display());
    assert_eq!(judged(&line, 3_600).score, Some(5.0));
    let child = std::fs::read_to_string(child).unwrap();
    let status = Path::new("/proc").join(child.trim()).join("status");
    while std::fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ")) {
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_is_interrupted_can_be_resumed() {
    let mut world = World::new();
    let session = said(&mut world);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let asked = request(&session, &["a", "b"]);
    let rows = explore(&world.supplies, &asked, &cancel, &mut |_, _| {}).unwrap().rows;
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
