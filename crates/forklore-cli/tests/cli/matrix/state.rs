//! The states of the session `it` in which the matrix executes every command, and the environment
//! of such an execution.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use forklore::Engine;

use crate::sandbox::{Ran, Sandbox, WORKSPACE, copy_folder, ran};
use crate::scripted::Scripted;

/// The beginnings of the URLs of the two kinds of stores: SQLite and files.
pub(super) const KINDS: [&str; 2] = ["sqlite:", "files:"];

/// A state of the session `it`.
pub(super) struct State {
    pub(super) name: &'static str,
    /// The commands that bring a store into the state. Words are separated by spaces.
    commands: &'static [&'static str],
    /// The session that another runtime has leased, if any.
    running: Option<&'static str>,
}

const fn state(name: &'static str, commands: &'static [&'static str]) -> State {
    State { name, commands, running: None }
}

const fn running(
    session: &'static str,
    name: &'static str,
    commands: &'static [&'static str],
) -> State {
    State { name, commands, running: Some(session) }
}

/// The commands that create the session `it` as a branch of the root `parent`.
const BRANCH: &[&str] = &[
    "new --id parent",
    "append parent --text plan",
    "fork parent --id it",
    "append it --text own",
];

/// All states.
pub(super) const STATES: &[State] = &[
    state("a root with a branch", &["new --id it", "append it --text plan", "fork it --id branch"]),
    running("it", "a running root", &["new --id it", "append it --text plan"]),
    state("a branch", BRANCH),
    running("parent", "a branch of a running root", BRANCH),
    state(
        "a copied branch",
        &[
            "new --id parent",
            "append parent --text plan",
            "fork parent --id it --strategy replay_v1",
        ],
    ),
    state(
        "a detached branch of a deleted root",
        &[
            "new --id parent",
            "append parent --text plan",
            "fork parent --id it",
            "detach it",
            "delete parent --detach-children",
        ],
    ),
    state(
        "a delegate",
        &["new --id parent", "append parent --text plan", "fork parent --id it --kind delegate"],
    ),
    state(
        "a branch of an imported session",
        &["import pi.jsonl", "fork pi-8ce41ada7580aa44 --id it"],
    ),
];

/// The environment in which a command is executed: files, a configuration with a model, and a store
/// whose session `it` is in a state.
pub(super) struct Environment {
    sandbox: Sandbox,
    kind: &'static str,
    state: &'static State,
}

impl Environment {
    /// Creates an environment whose store is of this kind and has the session `it` in this state.
    /// The store also has the session `reader`.
    pub(super) fn new(kind: &'static str, state: &'static State) -> Self {
        let environment = Self::empty(kind, state);
        for command in state.commands.iter().chain(&["new --id reader"]) {
            let words: Vec<_> = command.split(' ').collect();
            let ran: Ran = ran(environment.command(&words));
            assert_eq!(ran.code, 0, "{command}: {ran:?}");
        }
        environment
    }

    fn empty(kind: &'static str, state: &'static State) -> Self {
        let sandbox = Sandbox::new();
        sandbox.file("config.toml", &Scripted::start(&[]).config());
        sandbox.file("note.txt", "a note");
        let pi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pi/demo.jsonl");
        fs::copy(pi, sandbox.path().join("pi.jsonl")).unwrap();
        fs::create_dir(sandbox.path().join("store")).unwrap();
        Self { sandbox, kind, state }
    }

    /// Creates an environment with a copy of the store. If the state names a session that is
    /// running, leases that session in the copy.
    pub(super) fn copy(&self) -> Self {
        let copy = Self::empty(self.kind, self.state);
        copy_folder(&self.folder(), &copy.folder());
        if let Some(session) = self.state.running {
            copy.engine().take_lease(&session.parse().unwrap(), "another program").unwrap();
        }
        copy
    }

    /// Returns the folder that contains the store.
    pub(super) fn folder(&self) -> PathBuf {
        self.sandbox.path().join("store")
    }

    pub(super) fn url(&self) -> String {
        format!("{}{}", self.kind, self.folder().join("store").display())
    }

    /// Opens the store in the process of the test, not in a process of the program.
    pub(super) fn engine(&self) -> Engine {
        forklore::blocking::open(&self.url()).unwrap()
    }

    /// Returns a command that runs the program on the store.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let url = self.url();
        let words = [&["--workspace", WORKSPACE, "--json", "--store", &url], words].concat();
        let mut command = self.sandbox.command(&words);
        command.env("FORKLORE_CONFIG", self.sandbox.path().join("config.toml"));
        command
    }
}
