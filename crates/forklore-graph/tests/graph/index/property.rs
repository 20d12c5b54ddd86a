//! After any history of a store, its index contains the quads of a graph that is built anew.

use forklore_core::workspace::Workspace;
use forklore_core::{EventType, SessionId, SessionKind, Strategy as Copying};
use forklore_engine::{Create, Delete, DeleteMode, Engine, Fork, Undelete};
use forklore_graph::Scope;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::json;

use super::{KINDS, assert_in_step};
use crate::family::{self, say};

/// A step in the history of a store. The numbers choose a session of those that there are.
#[derive(Clone, Debug)]
enum Step {
    Create,
    Append(usize, u8),
    Fork(usize, u8),
    Label(usize),
    Detach(usize),
    Delete(usize, u8),
    Undelete(usize),
    Gc,
    Check,
    CheckFamily(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let any = 0..64_usize;
    prop_oneof![
        1 => Just(Step::Create),
        6 => (any.clone(), 0..6_u8).prop_map(|(of, what)| Step::Append(of, what)),
        5 => (any.clone(), 0..6_u8).prop_map(|(of, how)| Step::Fork(of, how)),
        1 => any.clone().prop_map(Step::Label),
        1 => any.clone().prop_map(Step::Detach),
        2 => (any.clone(), 0..6_u8).prop_map(|(of, mode)| Step::Delete(of, mode)),
        2 => any.clone().prop_map(Step::Undelete),
        1 => Just(Step::Gc),
        3 => Just(Step::Check),
        2 => any.prop_map(Step::CheckFamily),
    ]
}

struct World {
    engine: Engine,
    sessions: Vec<SessionId>,
}

impl World {
    fn next(&self) -> SessionId {
        format!("s{}", self.sessions.len()).parse().unwrap()
    }

    fn pick(&self, number: usize) -> SessionId {
        self.sessions[number % self.sessions.len()].clone()
    }

    fn append(&self, session: &SessionId, what: u8) {
        let (kind, data) = match what {
            0 => (EventType::USER_MESSAGE, json!({"content": "why?"})),
            1 => (EventType::ASSISTANT_MESSAGE, json!({"content": "so \u{1} that"})),
            2 => (EventType::TOOL_CALL, json!({"id": "c", "name": "shell", "arguments": {}})),
            3 => (EventType::TOOL_RESULT, json!({"call_id": "c", "content": "x"})),
            4 => (EventType::PROVIDER_USAGE, json!({"input": 10, "output": 5, "cost": 0.25})),
            _ => (EventType::SYSTEM_MESSAGE, json!({"content": "be brief"})),
        };
        say(&self.engine, session.as_str(), kind, &data);
    }

    /// Takes a step. A step that the store refuses changes nothing.
    fn take(&mut self, step: &Step) {
        let engine = &self.engine;
        match *step {
            Step::Create => {
                let workspace = Workspace::new(&format!("/w{}", self.sessions.len() % 2));
                let mut create = Create::in_workspace(workspace);
                create.id = Some(self.next());
                create.principal = (self.sessions.len() % 2 == 1).then(|| "Bo".to_owned());
                self.sessions.push(engine.create(&create).unwrap().id);
            }
            Step::Append(of, what) => {
                let session = self.pick(of);
                if engine.show(&session).is_ok() {
                    self.append(&session, what);
                }
            }
            Step::Fork(of, how) => {
                let mut fork = Fork::of(self.pick(of));
                fork.id = Some(self.next());
                match how {
                    0 => fork.kind = SessionKind::Delegate,
                    1 => fork.strategy = Copying::ReplayV1,
                    2 => fork = fork.at("start".parse().unwrap()),
                    3 => fork = fork.at("index:1".parse().unwrap()),
                    _ => {}
                }
                if let Ok(forked) = engine.fork(&fork) {
                    self.sessions.push(forked.child_session_id);
                }
            }
            Step::Label(of) => {
                let label = format!("label-{}", self.sessions.len()).parse().unwrap();
                let _ = engine.label(&self.pick(of), &label);
            }
            Step::Detach(of) => drop(engine.detach(&self.pick(of))),
            Step::Delete(of, how) => {
                let mode = match how % 3 {
                    0 => DeleteMode::Refuse,
                    1 => DeleteMode::Cascade,
                    _ => DeleteMode::DetachChildren,
                };
                let _ = engine.delete(&Delete {
                    session: self.pick(of),
                    mode,
                    dry_run: false,
                    erase: how < 3,
                });
            }
            Step::Undelete(of) => {
                let cascade = of % 2 == 0;
                let _ = engine.undelete(&Undelete { session: self.pick(of), cascade });
            }
            Step::Gc => drop(engine.gc().unwrap()),
            Step::Check => drop(assert_in_step(engine, &Scope::Everything)),
            Step::CheckFamily(of) => {
                let session = self.pick(of);
                if engine.show(&session).is_ok() {
                    assert_in_step(engine, &Scope::Family(session));
                }
            }
        }
    }
}

#[test]
fn the_index_equals_a_new_graph_after_any_history() {
    let seed = std::env::var("FORKLORE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("FORKLORE_SEED={seed}");
    let cases = 24;
    let config = Config {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        ..Config::default()
    };
    for kind in KINDS {
        let steps = prop::collection::vec(step(), 1..40);
        TestRunner::new(config.clone())
            .run(&steps, |steps| {
                let folder = tempfile::tempdir().unwrap();
                let engine = family::clocked(kind.open(folder.path()));
                let mut world = World { engine, sessions: Vec::new() };
                world.take(&Step::Create);
                steps.iter().for_each(|step| world.take(step));
                world.take(&Step::Check);
                Ok(())
            })
            .unwrap();
    }
}
