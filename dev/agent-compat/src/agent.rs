//! The agents under test: how to set up each without a network, and how to start it with a session.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod pi;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::atoms::Atom;
use crate::error::{Error, Result};
use crate::run::Setting;

/// All agents whose continuation of sessions can be tested.
pub(crate) static ALL: &[Agent] =
    &[pi::AGENT, claude::AGENT, codex::AGENT, gemini::AGENT, opencode::AGENT];

/// An agent under test: how to run it, and how to interpret its requests.
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    /// The name of another agent. The agent under test must also be able to continue sessions that
    /// the other agent wrote.
    pub(crate) other: &'static str,
    /// Writes the agent's settings, which make the agent use a fake model on this machine.
    pub(crate) prepare: fn(&Site) -> Result<()>,
    /// Returns the commands that make the agent continue a session with the test prompt. The last
    /// two arguments are the path of the session's file and the name that the agent uses for the
    /// session.
    pub(crate) commands: fn(&Site, &Path, &str) -> Vec<Command>,
    /// Checks whether a text with the role `user` is part of the conversation. Texts about the
    /// machine and the date are not part of it: the agent generates them for every request.
    pub(crate) is_spoken: fn(&str) -> bool,
    /// Converts the expected conversation into what this agent sends. The input is the conversation
    /// according to forklore, as a list of pieces; the agent words some pieces differently.
    pub(crate) expected: fn(Vec<Atom>) -> Vec<Atom>,
    /// Removes what this agent adds to a conversation when it sends a request. The input is the
    /// conversation in the agent's request, as a list of pieces.
    pub(crate) received: fn(Vec<Atom>) -> Vec<Atom>,
}

/// The directories, programs and port with which an agent runs.
pub(crate) struct Site {
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) agents: PathBuf,
    pub(crate) node: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) port: u16,
}

impl Site {
    pub(crate) fn new(folder: &Path, setting: &Setting, port: u16) -> Result<Self> {
        let folder = folder.canonicalize().map_err(Error::file(folder))?;
        let (home, project) = (folder.join("home"), folder.join("project"));
        for folder in [&home, &project] {
            fs::create_dir_all(folder).map_err(Error::file(folder))?;
        }
        let agents = setting.agents.join("node_modules");
        let (node, python) = (setting.node.clone(), setting.python.clone());
        Ok(Self { home, project, agents, node, python, port })
    }

    /// Writes a file at `path`, relative to the agent's home directory.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.home.join(path);
        let folder = path.parent().unwrap_or(&self.home);
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        fs::write(&path, text).map_err(Error::file(&path))
    }

    /// Returns the URL of the fake model that the agents use.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Creates a command for a program that can reach no server except the fake model.
    pub(crate) fn offline(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().current_dir(&self.project).env("HOME", &self.home);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            // Nothing listens on port 9, the `discard` port.
            command.env(name, "http://127.0.0.1:9");
        }
        command.env("NO_PROXY", "127.0.0.1,localhost");
        command
    }

    /// Creates a command that runs `script`, a file of the installed npm packages, with Node.js.
    pub(crate) fn script(&self, script: &str) -> Command {
        let mut command = self.offline(&self.node);
        command.arg(self.agents.join(script));
        command
    }
}

/// Returns the pieces of a conversation unchanged. For agents that send a conversation exactly as
/// forklore expects it.
fn as_it_is(atoms: Vec<Atom>) -> Vec<Atom> {
    atoms
}
