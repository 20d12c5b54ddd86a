//! Runs cases with several processes: the test program starts itself again, and the new process
//! runs the same case.

use std::env;
use std::process::{Child, Command, Stdio};

use super::factory::Factory;
use super::scene::Scene;

/// The role of this process in a conformance test that uses several processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// This process created the store and starts the others.
    First,
    /// The first process of the test started this process. The string says what this process must
    /// do: it is the argument `role` of [`Scene::start`].
    Other(String),
}

const CASE: &str = "FORKLORE_CONFORMANCE_CASE";
const ROLE: &str = "FORKLORE_CONFORMANCE_ROLE";
const ADDRESS: &str = "FORKLORE_CONFORMANCE_ADDRESS";

/// Opens the shared store if another process started this one for the conformance test `number`.
/// Returns `None` otherwise.
pub(super) fn joined(factory: &dyn Factory, number: u16) -> Option<Scene<'_>> {
    let started_for = env::var(CASE).ok()?;
    let role = Role::Other(env::var(ROLE).expect("a role"));
    let address = env::var(ADDRESS).expect("an address");
    (started_for == number.to_string()).then(|| Scene::joined(factory, role, &address))
}

/// Checks whether another process started this one, to run a part of a conformance test.
pub(super) fn is_other() -> bool {
    env::var_os(CASE).is_some()
}

impl Scene<'_> {
    /// Returns the argument `role` of the call of [`Scene::start`] that started this process.
    /// Returns `None` in the first process.
    pub fn argument(&self) -> Option<&str> {
        match &self.role {
            Role::First => None,
            Role::Other(reported) => Some(reported),
        }
    }

    /// Starts another process, which runs the conformance test `number` on the same store. In that
    /// process, [`Scene::argument`] returns `role`.
    ///
    /// # Panics
    /// If the process cannot be started.
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

    /// Waits until a process that [`Scene::start`] started ends.
    ///
    /// # Panics
    /// If the process failed.
    pub fn finish(&self, child: Child) {
        let output = child.wait_with_output().expect("the end of the process");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "the other process failed: {message}");
    }
}

/// Returns the arguments with which the test program runs only the current test. They contain the
/// name of the current thread, which is the test's name. On the main thread, returns the program's
/// own arguments, because the program was already started for this test alone.
fn test_arguments() -> Vec<String> {
    let thread = std::thread::current();
    match thread.name() {
        Some(name) if name != "main" => {
            vec![name.to_owned(), "--exact".into(), "--nocapture".into()]
        }
        _ => env::args().skip(1).collect(),
    }
}
