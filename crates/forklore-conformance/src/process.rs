//! Cases with several processes: the test program runs itself again with the same case.

use std::env;
use std::process::{Child, Command, Stdio};

use super::factory::Factory;
use super::scene::Scene;

/// Which process this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The one that made the store and watches the others.
    First,
    /// One that was started by the first, with what it was told to do.
    Other(String),
}

const CASE: &str = "FORKLORE_CONFORMANCE_CASE";
const ROLE: &str = "FORKLORE_CONFORMANCE_ROLE";
const ADDRESS: &str = "FORKLORE_CONFORMANCE_ADDRESS";

/// The scene of a process that was started for case `number`; none in any other process.
pub(super) fn joined(factory: &dyn Factory, number: u16) -> Option<Scene<'_>> {
    let started_for = env::var(CASE).ok()?;
    let role = Role::Other(env::var(ROLE).expect("a role"));
    let address = env::var(ADDRESS).expect("an address");
    (started_for == number.to_string()).then(|| Scene::joined(factory, role, &address))
}

/// Whether this process was started for some case.
pub(super) fn is_other() -> bool {
    env::var_os(CASE).is_some()
}

impl Scene<'_> {
    /// What this process was told to do; none for the first one.
    pub fn argument(&self) -> Option<&str> {
        match &self.role {
            Role::First => None,
            Role::Other(told) => Some(told),
        }
    }

    /// Starts another process that runs case `number` on the same store and is told `role`.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(&self, number: u16, role: &str) -> Child {
        let program = env::current_exe().expect("the path of this program");
        Command::new(program)
            .args(test_arguments())
            .env(CASE, number.to_string())
            .env(ROLE, role)
            .env(ADDRESS, self.test_store().address())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("another process")
    }

    /// Waits for a process that [`Scene::start`] started.
    ///
    /// # Panics
    /// When it failed.
    pub fn finish(&self, child: Child) {
        let output = child.wait_with_output().expect("the end of the process");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "the other process failed: {said}");
    }
}

/// What makes the test program run this test alone. The test's thread bears its name, unless the
/// program was asked for this test alone already.
fn test_arguments() -> Vec<String> {
    let thread = std::thread::current();
    match thread.name() {
        Some(name) if name != "main" => {
            vec![name.to_owned(), "--exact".into(), "--nocapture".into()]
        }
        _ => env::args().skip(1).collect(),
    }
}
