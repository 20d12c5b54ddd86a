//! After any history of a store, a search finds what reading every history finds.

use forklore_core::workspace::Workspace;
use forklore_core::{EventType, SessionId, SessionKind, Strategy as Copying};
use forklore_engine::{Create, Delete, DeleteMode, Engine, Fork, Undelete};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::json;

use crate::world::{KINDS, Kind, found, say, scanned};

const WORDS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];

/// A step in the history of a store. The numbers choose a session of those that there are.
#[derive(Clone, Debug)]
enum Step {
    Create,
    Append(usize, u8, Vec<usize>),
    Fork(usize, u8),
    Detach(usize),
    Delete(usize, u8),
    Undelete(usize, bool),
    Gc,
    Check(Vec<usize>),
}

fn step() -> impl Strategy<Value = Step> {
    let of = 0..64_usize;
    let words = || prop::collection::vec(0..WORDS.len(), 1..5);
    prop_oneof![
        1 => Just(Step::Create),
        6 => (of.clone(), 0..7_u8, words()).prop_map(|(of, kind, words)| Step::Append(of, kind, words)),
        5 => (of.clone(), 0..6_u8).prop_map(|(of, how)| Step::Fork(of, how)),
        1 => of.clone().prop_map(Step::Detach),
        2 => (of.clone(), 0..6_u8).prop_map(|(of, mode)| Step::Delete(of, mode)),
        2 => (of.clone(), any::<bool>()).prop_map(|(of, cascade)| Step::Undelete(of, cascade)),
        1 => Just(Step::Gc),
        3 => words().prop_map(Step::Check),
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

    fn append(&self, session: &SessionId, kind: u8, words: &[usize]) {
        let text = words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join("-");
        let (kind, data) = match kind {
            0 => (EventType::ASSISTANT_MESSAGE, json!({"content": text})),
            1 => {
                let call = json!({"id": "c", "name": "sh", "arguments": {"in": [text]}});
                (EventType::TOOL_CALL, call)
            }
            2 => (EventType::TOOL_RESULT, json!({"call_id": "c", "content": text})),
            5 => {
                let index = self.engine.show(session).unwrap().counts.index;
                let data = json!({"from_index": 0, "to_index": index, "content": text});
                (EventType::HISTORY_COMPACTION, data)
            }
            3 => (EventType::PROVIDER_USAGE, json!({"input": 10, "output": 5, "model": text})),
            _ => (EventType::USER_MESSAGE, json!({"content": text})),
        };
        say(&self.engine, session.as_str(), kind, &data);
    }

    /// Takes a step. A step that the store refuses changes nothing.
    fn take(&mut self, step: &Step) {
        let engine = &self.engine;
        match step {
            Step::Create => {
                let mut create = Create::in_workspace(Workspace::new("/w"));
                create.id = Some(self.next());
                self.sessions.push(engine.create(&create).unwrap().id);
            }
            Step::Append(of, kind, words) => {
                let session = self.pick(*of);
                if engine.show(&session).is_ok() {
                    self.append(&session, *kind, words);
                }
            }
            Step::Fork(of, how) => {
                let mut fork = Fork::of(self.pick(*of));
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
            Step::Detach(of) => drop(engine.detach(&self.pick(*of))),
            Step::Delete(of, mode) => {
                let erase = *mode >= 3;
                let mode = match mode % 3 {
                    0 => DeleteMode::Refuse,
                    1 => DeleteMode::Cascade,
                    _ => DeleteMode::DetachChildren,
                };
                let session = self.pick(*of);
                let _ = engine.delete(&Delete { session, mode, dry_run: false, erase });
            }
            Step::Undelete(of, cascade) => {
                let _ = engine.undelete(&Undelete { session: self.pick(*of), cascade: *cascade });
            }
            Step::Gc => drop(engine.gc()),
            Step::Check(words) => {
                let words: Vec<_> = words.iter().map(|word| WORDS[*word]).collect();
                assert_eq!(found(engine, &words.join(" ")), scanned(engine, &words));
            }
        }
    }
}

#[test]
fn a_search_finds_what_a_scan_finds_after_any_history() {
    let seed = std::env::var("FORKLORE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("FORKLORE_SEED={seed}");
    let config = Config {
        cases: 32,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        ..Config::default()
    };
    for kind in KINDS {
        let steps = prop::collection::vec(step(), 1..40);
        TestRunner::new(config.clone())
            .run(&steps, |steps| {
                let folder = tempfile::tempdir().unwrap();
                let engine = Kind::open(kind, folder.path());
                let mut world = World { engine, sessions: Vec::new() };
                world.take(&Step::Create);
                steps.iter().for_each(|step| world.take(step));
                (0..WORDS.len()).for_each(|word| world.take(&Step::Check(vec![word])));
                Ok(())
            })
            .unwrap();
    }
}
