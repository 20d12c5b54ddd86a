//! Runs cases one after the other, and prints the results as a table.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::cases::{CASES, Case};
use super::factory::Factory;
use super::process;
use super::scene::Scene;

/// The outcome of a conformance test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The store fulfils the requirement.
    Pass,
    /// The store violates the requirement. The string is the failure message.
    Fail(String),
    /// The test did not run, because it needs a capability that the store does not offer.
    NotOffered,
}

/// The results of a run of conformance tests.
#[derive(Clone, Debug)]
pub struct Report {
    /// Each conformance test with its outcome, in the order in which the tests ran.
    pub outcomes: Vec<(&'static Case, Outcome)>,
}

/// Runs the conformance tests `cases`, which are usually [`super::CASES`]. Skips a test that needs
/// a capability that the store does not offer. The outcome of such a test is
/// [`Outcome::NotOffered`].
pub fn run(factory: &dyn Factory, cases: &'static [Case]) -> Report {
    let test_store = factory.fresh();
    let outcome = |case: &'static Case| {
        if !case.needs.is_offered(&*test_store) {
            return (case, Outcome::NotOffered);
        }
        let ran = catch_unwind(AssertUnwindSafe(|| run_one(factory, case.number)));
        (case, ran.map_or_else(|panic| Outcome::Fail(message(&*panic)), |()| Outcome::Pass))
    };
    Report { outcomes: cases.iter().map(outcome).collect() }
}

/// Runs the conformance test with this number.
///
/// # Panics
/// If the store violates the requirement or does not offer the capability that the test needs, or
/// if no test has this number.
pub fn run_one(factory: &dyn Factory, number: u16) {
    let case = CASES.iter().find(|case| case.number == number).expect("a case of this number");
    if process::is_other() {
        // Another process started this one for a part of one case. Skip all other cases.
        if let Some(mut scene) = process::joined(factory, number) {
            (case.run)(&mut scene);
        }
        return;
    }
    let mut scene = Scene::new(factory);
    let needs = case.needs;
    assert!(
        needs.is_offered(scene.test_store()),
        "the store does not say that it offers {}",
        needs.name()
    );
    (case.run)(&mut scene);
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "it panicked without words".into())
}

impl Report {
    /// Returns the conformance tests that failed, with their failure messages.
    pub fn failures(&self) -> impl Iterator<Item = (&'static Case, &str)> {
        self.outcomes.iter().filter_map(|(case, outcome)| match outcome {
            Outcome::Fail(why) => Some((*case, &**why)),
            _ => None,
        })
    }

    /// Prints the results of all conformance tests as a table. If tests failed, panics with their
    /// messages.
    ///
    /// # Panics
    /// If a test failed.
    pub fn expect_pass(&self) {
        println!("{self}");
        let failures: Vec<_> =
            self.failures().map(|(case, why)| format!("{case}: {why}")).collect();
        assert!(failures.is_empty(), "{} cases failed\n{}", failures.len(), failures.join("\n"));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>4}  {:<12} {:<18} case", "no", "result", "needs")?;
        for (case, outcome) in &self.outcomes {
            let result = match outcome {
                Outcome::Pass => "pass",
                Outcome::Fail(_) => "FAIL",
                Outcome::NotOffered => "not offered",
            };
            let (number, needs) = (case.number, case.needs.name());
            writeln!(f, "{number:>4}  {result:<12} {needs:<18} {case}")?;
        }
        Ok(())
    }
}
