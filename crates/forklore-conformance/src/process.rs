//! Runs cases with several processes: the test program starts itself again, and the new process
//! runs the same case.

use std::env;
use std::process::{Child, Command, Stdio};

use super::factory::Factory;
use super::scene::Scene;

/// The role of this process in a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The process that created the store and starts the others.
    First,
    /// A process that the first one started. The string is the role that it got from
    /// [`Scene::start`].
    Other(String),
}

const CASE: &str = "FORKLORE_CONFORMANCE_CASE";
const ROLE: &str = "FORKLORE_CONFORMANCE_ROLE";
const ADDRESS: &str = "FORKLORE_CONFORMANCE_ADDRESS";

/// Returns a scene with the shared store if this process was started for the case `number`,
/// otherwise `None`.
pub(super) fn joined(factory: &dyn Factory, number: u16) -> Option<Scene<'_>> {
    let started_for = env::var(CASE).ok()?;
    let role = Role::Other(env::var(ROLE).expect("a role"));
    let address = env::var(ADDRESS).expect("an address");
    (started_for == number.to_string()).then(|| Scene::joined(factory, role, &address))
}

/// Checks whether another process started this one, to run a part of a case.
pub(super) fn is_other() -> bool {
    env::var_os(CASE).is_some()
}

impl Scene<'_> {
    /// Returns the role that this process got from [`Scene::start`], or `None` in the first
    /// process.
    pub fn argument(&self) -> Option<&str> {
        match &self.role {
            Role::First => None,
            Role::Other(reported) => Some(reported),
        }
    }

    /// Starts another process, which runs the case `number` on the same store. [`Scene::argument`]
    /// returns `role` there.
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

    /// Waits for the end of a process that [`Scene::start`] started.
    ///
    /// # Panics
    /// If the process failed.
    pub fn finish(&self, child: Child) {
        let output = child.wait_with_output().expect("the end of the process");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "the other process failed: {message}");
    }
}

/// Returns the arguments with which the test program runs only the current test. They come from the
/// name of the current thread, which is that of the test. If the thread is the main thread, the
/// program's own arguments are used: the program was already started for this test alone.
fn test_arguments() -> Vec<String> {
    let thread = std::thread::current();
    match thread.name() {
        Some(name) if name != "main" => {
            vec![name.to_owned(), "--exact".into(), "--nocapture".into()]
        }
        _ => env::args().skip(1).collect(),
    }
}
