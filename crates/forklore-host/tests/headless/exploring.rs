//! Tests of explorations: several concurrent continuations.

use std::num::NonZeroU16;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use forklore_core::{ErrorKind, EventType, Header, Selector, Strategy};
use forklore_engine::{Fork, Summarize};
use forklore_host::CancellationToken;
use forklore_host::explore::{Explore, Judge, Plan, Row, State, Try, tries};
use forklore_store::port::At;
use serde_json::{Value, json};

use crate::world::Blocking;

fn two_turns(world: &Blocking) -> Header {
    world.talk(&["one", "two"])
}

fn plan(session: &Header, prompts: &[&str]) -> Plan {
    let tried = |prompt: &&str| Try { model: "one".into(), prompt: (*prompt).to_owned() };
    Plan {
        session: session.clone(),
        at: Some("turn:1".parse::<Selector>().unwrap()),
        tries: prompts.iter().map(tried).collect(),
        judge: None,
        label: None,
        jobs: 8,
    }
}

fn run(world: &Blocking, plan: &Plan) -> Vec<Row> {
    world.explore(plan, &CancellationToken::new(), &mut |_, _| {}).unwrap()
}

#[test]
fn all_begin_with_the_same_messages_and_the_first_leads() {
    let world = Blocking::new();
    let session = two_turns(&world);
    world.requests().clear();
    let seen = Mutex::new(Vec::new());
    let wanted = plan(&session, &["a", "b", "c"]);
    let rows = world
        .explore(&wanted, &CancellationToken::new(), &mut |at, row| {
            seen.lock().unwrap().push((at, row.state));
        })
        .unwrap();
    let labels: Vec<_> = rows.iter().map(|row| row.label.as_ref().unwrap().as_str()).collect();
    assert_eq!(labels, ["try-1", "try-2", "try-3"]);
    for (row, prompt) in rows.iter().zip(["a", "b", "c"]) {
        assert_eq!((row.state, row.answer.as_str()), (State::Done, &*format!("m1 read: {prompt}")));
        assert_eq!((row.usage.input, row.usage.cached, row.usage.output), (100, 80, 5));
        let child = world.engine().show(row.session_id.as_ref().unwrap()).unwrap();
        assert_eq!(child.counts.index, 4);
    }
    let requests = world.requests();
    assert_eq!(requests.len(), 3);
    for request in requests.iter() {
        assert_eq!(request.messages[..2], requests[0].messages[..2]);
        assert_eq!(request.cache_key, requests[0].cache_key);
    }
    // No other request is sent before the answer of the first continuation begins.
    let seen = seen.into_inner().unwrap();
    let first_answer = seen.iter().position(|row| *row == (0, State::Answering)).unwrap();
    let others = seen.iter().position(|(at, state)| *at > 0 && *state == State::Requested).unwrap();
    assert!(first_answer < others, "{seen:?}");
}

/// Creates a session that is as deep as the Trails profile permits.
fn as_deep_as_can_be(world: &Blocking) -> Header {
    let engine = world.engine();
    let mut session = two_turns(world);
    for _ in 0..32 {
        let forked = engine.fork(&Fork::of(session.id)).unwrap();
        session = engine.show(&forked.child_session_id).unwrap();
    }
    let refused = engine.fork(&Fork::of(session.id.clone())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    session
}

#[test]
fn at_the_limit_of_depth_continuations_are_copies() {
    let world = Blocking::limited(32);
    let session = as_deep_as_can_be(&world);
    for row in run(&world, &plan(&session, &["a", "b"])) {
        assert_eq!((row.state, row.error), (State::Done, None));
        let child = world.engine().show(row.session_id.as_ref().unwrap()).unwrap();
        assert_eq!((child.counts.index, child.strategy), (4, Some(Strategy::ReplayV1)));
    }
}

#[test]
fn at_the_limit_of_depth_a_summarized_fork_is_a_copy_with_and_without_its_model() {
    let world = Blocking::limited(32);
    let session = as_deep_as_can_be(&world);
    for (model, strategy) in
        [("one", "model_summary_v1"), ("nobody", "deterministic_operational_summary_v2")]
    {
        let (forked, summary) = world.fork_with_summary(model, Fork::of(session.id.clone()));
        assert_eq!(summary.strategy(), strategy);
        assert_eq!(matches!(summary, Summarize::Fallback { .. }), model == "nobody");
        let child = world.engine().show(&forked.child_session_id).unwrap();
        assert_eq!((child.counts.index, child.strategy), (4, Some(Strategy::ReplayV1)), "{model}");
    }
}

#[test]
fn a_request_is_planned_with_the_configured_models() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let wanted = Explore {
        at: Some("turn:1".parse().unwrap()),
        models: vec!["one".into()],
        judge: Some("wc -c".into()),
        judge_timeout_seconds: 5,
        jobs: NonZeroU16::new(2),
        ..Explore::of(session.id.clone(), vec!["a".into(), "b".into()])
    };
    let planned = |wanted: &Explore| Plan::of(world.host(), session.clone(), wanted);
    let Plan { at, tries, judge, label, jobs, .. } = planned(&wanted).unwrap();
    let judging = Judge::parse("wc -c").unwrap().within(Duration::from_secs(5));
    assert_eq!((judge, label, jobs), (Some(judging), None, 2));
    let expected = plan(&session, &["a", "b"]);
    assert_eq!((at, tries), (expected.at, expected.tries));
    let kind = |wanted: &Explore| planned(wanted).unwrap_err().kind();
    assert_eq!(kind(&Explore { n: Some(0), ..wanted.clone() }), ErrorKind::InvalidArgs);
    assert_eq!(
        kind(&Explore { judge: Some("'".into()), ..wanted.clone() }),
        ErrorKind::InvalidArgs
    );
    assert_eq!(kind(&Explore { models: vec!["none".into()], ..wanted }), ErrorKind::InvalidArgs);
}

#[test]
fn a_request_with_only_a_prompt_is_planned_with_the_defaults() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let request = Explore::of(session.id.clone(), vec!["a".into()]);
    let planned = Plan::of(world.host(), session.clone(), &request).unwrap();
    let expected = Plan { at: None, jobs: 64, ..plan(&session, &["a", "a", "a", "a"]) };
    assert_eq!(planned, expected);
}

#[test]
fn a_request_with_values_out_of_range_is_refused() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let request = Explore::of(session.id.clone(), vec!["a".into()]);
    let planned = |wanted: &Explore| Plan::of(world.host(), session.clone(), wanted);
    let judged = |judge_timeout_seconds| Explore { judge_timeout_seconds, ..request.clone() };
    for seconds in [1, 86_400] {
        planned(&judged(seconds)).unwrap();
    }
    let prompts = vec!["a".into(), " \n".into()];
    let other = Explore { session_id: "other".parse().unwrap(), ..request.clone() };
    let wrong = [
        (judged(0), "0 seconds for the judge: between 1 and 86400 are allowed".to_owned()),
        (judged(86_401), "86401 seconds for the judge: between 1 and 86400 are allowed".to_owned()),
        (Explore { prompts, ..request.clone() }, "a prompt is empty".to_owned()),
        (other, format!("the request is about session other, not {}", session.id)),
    ];
    for (request, message) in wrong {
        let error = planned(&request).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidArgs, message));
    }
}

#[test]
fn one_that_fails_is_a_row_with_its_error() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let rows = run(&world, &plan(&session, &["fail", "b"]));
    assert_eq!((rows[0].state, rows[1].state), (State::Failed, State::Done));
    assert!(rows[0].error.as_ref().unwrap().contains("it fails"), "{rows:?}");
    // The next exploration continues the numbers.
    let again = run(&world, &plan(&session, &["c"]));
    assert_eq!(again[0].label.as_ref().unwrap().as_str(), "try-3");
}

#[test]
fn labels_say_from_where_and_count_on() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let labels = |world: &Blocking, wanted: &Plan| -> Vec<String> {
        let rows = run(world, wanted);
        rows.iter().map(|row| row.label.as_ref().unwrap().to_string()).collect()
    };
    let two = plan(&session, &["a", "b"]);
    assert_eq!(labels(&world, &two), ["try-1", "try-2"]);
    assert_eq!(labels(&world, &two), ["try-3", "try-4"]);
    let named = Plan { label: Some("plan".into()), ..two };
    assert_eq!(labels(&world, &named), ["plan-1", "plan-2"]);
    let header = |label: &str| {
        let scope = forklore_engine::Scope::default();
        world.engine().resolve(&format!("@{label}"), &scope).unwrap()
    };
    let from = |label: &str| Plan { session: header(label), at: None, ..plan(&session, &["a"]) };
    assert_eq!(labels(&world, &from("try-2")), ["try-2.1"]);
    assert_eq!(labels(&world, &from("try-2")), ["try-2.2"]);
    assert_eq!(labels(&world, &from("try-2.1")), ["try-2.1.1"]);
    // If the session's label is too long, the prefix is `try-`, as for a root.
    world.engine().label(&header("plan-1").id, &"p".repeat(64).parse().unwrap()).unwrap();
    assert_eq!(labels(&world, &from(&"p".repeat(64))), ["try-5"]);
    let wrong = Plan { label: Some("no name".into()), ..plan(&session, &["a"]) };
    let refused = world.explore(&wrong, &CancellationToken::new(), &mut |_, _| {});
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgs);
}

#[test]
fn a_label_that_another_program_takes_is_passed_over() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let names: Vec<_> = (0..8).map(|number| format!("p{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let wanted = plan(&session, &names);
    let rows: Vec<Row> = thread::scope(|scope| {
        let (world, wanted) = (&world, &wanted);
        let running: Vec<_> = (0..4).map(|_| scope.spawn(|| run(world, wanted))).collect();
        running.into_iter().flat_map(|running| running.join().unwrap()).collect()
    });
    assert!(rows.iter().all(|row| row.state == State::Done), "{rows:#?}");
    let mut labels: Vec<_> = rows.iter().map(|row| row.label.clone().unwrap()).collect();
    labels.sort();
    labels.dedup();
    assert_eq!(labels.len(), 32);
}

#[test]
fn a_judge_scores_and_may_be_wrong() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let judged = |line: &str| {
        let judge = Some(Judge::parse(line).unwrap());
        let row = run(&world, &Plan { judge, ..plan(&session, &["abc"]) }).remove(0);
        // Whatever the judge does, the answer is stored.
        assert_eq!((row.state, row.answer.as_str()), (State::Done, "m1 read: abc"));
        // So is what the judge said.
        let id = row.session_id.unwrap();
        let log = world.engine().events(&id, At::Seq(0)).map(Result::unwrap);
        let mark = log.last().unwrap().event;
        let found: Value = mark.data.read().unwrap();
        let line = shlex::try_join(shlex::split(line).unwrap().iter().map(String::as_str));
        let expected = json!({"name": "judged", "judge": line.unwrap(), "score": row.score,
            "error": row.error});
        assert_eq!((mark.kind, found), (EventType::WORKFLOW_EVENT, expected));
        match (row.score, row.error) {
            (Some(score), None) => Ok(score),
            (None, Some(error)) => Err(error),
            both => panic!("{both:?}"),
        }
    };
    assert_eq!(judged("wc -c"), Ok(12.0));
    // No shell interprets the command line of the judge.
    assert_eq!(judged("echo 7 ; echo 8"), Ok(7.0));
    let wrong = [
        "echo no number",
        "printf '%s' '$((1+1))'",
        "true",
        "echo inf",
        "false",
        "sh -c 'echo 3; echo it has no opinion >&2; exit 4'",
    ];
    let errors: Vec<String> = wrong.iter().map(|line| judged(line).unwrap_err()).collect();
    insta::assert_snapshot!(errors.join("\n"));
    assert_eq!(Judge::parse(" ").unwrap_err().kind(), ErrorKind::InvalidArgs);
}

#[test]
fn a_judge_has_its_time_and_leaves_nothing_behind() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let judged = |line: &str, seconds| {
        let judge = Judge::parse(line).unwrap().within(Duration::from_secs(seconds));
        let wanted = Plan { judge: Some(judge), ..plan(&session, &["abc"]) };
        run(&world, &wanted).remove(0)
    };
    // If a judge never ends or never stops printing, there is no score, but the answer is stored.
    for line in ["sleep 1000", "yes"] {
        let row = judged(line, 1);
        let late = "the judge took over 1 s";
        assert_eq!((row.error.as_deref(), row.score), (Some(late), None));
        assert_eq!(row.answer, "m1 read: abc");
    }
    // A judge is done when it has exited, even if processes that it started still run.
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
    let world = Blocking::new();
    let session = two_turns(&world);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let wanted = plan(&session, &["a", "b"]);
    let rows = world.explore(&wanted, &cancel, &mut |_, _| {}).unwrap();
    for row in &rows {
        assert_eq!(row.state, State::Interrupted);
        let child = world.engine().show(row.session_id.as_ref().unwrap()).unwrap();
        assert!(child.lease.is_none());
    }
}

#[test]
fn nothing_is_forked_if_the_cut_or_the_model_is_missing() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let count = |world: &Blocking| world.engine().branches(&session.id).unwrap().branches.len();
    let wrong = Plan { at: Some("turn:9".parse().unwrap()), ..plan(&session, &["a"]) };
    let mut unknown = plan(&session, &["a", "b"]);
    unknown.tries[1].model = "nobody".into();
    for request in [wrong, unknown] {
        let refused = world.explore(&request, &CancellationToken::new(), &mut |_, _| {});
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgs);
        assert_eq!(count(&world), 1);
    }
}

#[test]
fn branches_run_one_after_the_other_on_request() {
    let world = Blocking::new();
    let session = two_turns(&world);
    let mut running = 0_i32;
    let mut most = 0;
    let wanted = Plan { jobs: 1, ..plan(&session, &["a", "b", "c"]) };
    world
        .explore(&wanted, &CancellationToken::new(), &mut |_, row| {
            match row.state {
                State::Requested => running += 1,
                State::Done => running -= 1,
                _ => {}
            }
            most = most.max(running);
        })
        .unwrap();
    assert_eq!((running, most), (0, 1));
}

#[test]
fn prompts_and_models_are_paired() {
    let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let pairs = |prompts: &[&str], models: &[&str], n| {
        let tries = tries(&texts(prompts), &texts(models), n).unwrap();
        tries.into_iter().map(|tried| tried.prompt + &tried.model).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&["a"], &["1"], None), ["a1", "a1", "a1", "a1"]);
    assert_eq!(pairs(&["a", "b"], &["1", "2"], None), ["a1", "a2", "b1", "b2"]);
    assert_eq!(pairs(&["a", "b"], &["1"], Some(3)), ["a1", "b1", "a1"]);
    for n in [0, 65] {
        assert!(tries(&texts(&["a"]), &texts(&["1"]), Some(n)).is_err());
    }
    assert!(tries(&[], &texts(&["1"]), None).is_err());
}

#[test]
fn a_missing_judge_is_refused_before_any_call() {
    let world = Blocking::new();
    let session = two_turns(&world);
    world.requests().clear();
    for program in ["no-such-judge --fast", "/no/such/judge"] {
        let judge = Some(Judge::parse(program).unwrap());
        let request = Plan { judge, ..plan(&session, &["a"]) };
        let refused = world.explore(&request, &CancellationToken::new(), &mut |_, _| {});
        let name = program.split(' ').next().unwrap();
        let message = format!("there is no program {name} to judge the answers");
        assert_eq!(refused.unwrap_err().to_string(), message);
    }
    assert!(world.requests().is_empty());
    assert_eq!(world.engine().branches(&session.id).unwrap().branches.len(), 1);
}
