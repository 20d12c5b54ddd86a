//! Performs random histories of operations on a store, and compares the store with a simple model
//! after every step.

mod call;
mod compare;
mod history;
mod model;
mod step;

use proptest::collection::vec;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use self::history::History;
use self::step::{Step, plain_step, racing_step, reopening_step};
use super::scene::Scene;
use proptest::strategy::{BoxedStrategy, Strategy};

/// Maximum number of random operations in one history, i.e. one test run against a store. A history
/// has on average half as many.
const STEPS: usize = 100;
/// How long proptest may search for a shorter failing sequence of operations, in milliseconds.
const SHRINKING: u32 = 20_000;

pub(super) fn histories_agree_with_a_plain_model(scene: &Scene<'_>) {
    run(scene, plain_step().boxed(), 1);
}

pub(super) fn racing_pairs_agree_with_one_of_both_orders(scene: &Scene<'_>) {
    run(scene, racing_step().boxed(), 2);
}

pub(super) fn histories_agree_over_reopening(scene: &Scene<'_>) {
    run(scene, reopening_step().boxed(), 2);
}

/// Runs the factory's number of histories, or the `part`th part of it. `FORKLORE_CASES` sets the
/// same number for all cases.
fn run(scene: &Scene<'_>, step: BoxedStrategy<Step>, part: u32) {
    let histories = scene.factory.histories().div_ceil(part);
    let seed = number("FORKLORE_SEED").unwrap_or_else(any_seed);
    let cases = number("FORKLORE_CASES").map_or(histories, |cases| cases.try_into().unwrap());
    println!("{cases} histories; FORKLORE_SEED={seed} repeats them");
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_time: SHRINKING,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let tried = TestRunner::new_with_rng(config, rng).run(&vec(step, 1..=STEPS), |steps| {
        let mut history = History::new(scene.factory).map_err(TestCaseError::fail)?;
        let result = steps.iter().try_for_each(|step| history.take(step));
        result.and_then(|()| history.finish()).map_err(TestCaseError::fail)
    });
    match tried {
        Ok(()) => {}
        Err(TestError::Fail(why, steps)) => {
            panic!("FORKLORE_SEED={seed}: {why}\nafter these steps: {steps:#?}")
        }
        Err(TestError::Abort(why)) => panic!("FORKLORE_SEED={seed}: {why}"),
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn any_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}
