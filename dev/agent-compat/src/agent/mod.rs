//! The agents: how each is set up without a network, and started with a session.

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

/// Every agent that can be started here.
pub(crate) static ALL: &[Agent] =
    &[pi::AGENT, claude::AGENT, codex::AGENT, gemini::AGENT, opencode::AGENT];

/// An agent.
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    /// The agent whose sessions it is handed besides its own.
    pub(crate) other: &'static str,
    /// Writes the settings that lead it to our model.
    pub(crate) prepare: fn(&Site) -> Result<()>,
    /// The commands that say the prompt in the session of this file and name.
    pub(crate) commands: fn(&Site, &Path, &str) -> Vec<Command>,
    /// Whether a text said in the person's name is part of the conversation: what the agent says
    /// of the machine and the day it writes anew.
    pub(crate) is_spoken: fn(&str) -> bool,
    /// What forklore expects, in the words that the agent uses for it.
    pub(crate) expected: fn(Vec<Atom>) -> Vec<Atom>,
    /// What the agent sent, without its own words around it.
    pub(crate) received: fn(Vec<Atom>) -> Vec<Atom>,
}

/// Where an agent runs.
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

    /// Writes a file below the home directory.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        let path = self.home.join(path);
        let folder = path.parent().unwrap_or(&self.home);
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        fs::write(&path, text).map_err(Error::file(&path))
    }

    /// The address of our model.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A program that reaches nothing but our model.
    pub(crate) fn offline(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().current_dir(&self.project).env("HOME", &self.home);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            // Nobody listens on the port of `discard`.
            command.env(name, "http://127.0.0.1:9");
        }
        command.env("NO_PROXY", "127.0.0.1,localhost");
        command
    }

    /// A script of an agent's package, run by node.
    pub(crate) fn script(&self, script: &str) -> Command {
        let mut command = self.offline(&self.node);
        command.arg(self.agents.join(script));
        command
    }
}

/// Nothing is said differently.
fn as_it_is(atoms: Vec<Atom>) -> Vec<Atom> {
    atoms
}
