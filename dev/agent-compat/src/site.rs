//! The surroundings of an agent: its directories, its programs, and no network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::setting::Setting;

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

    /// Writes a file at `path`, relative to the agent's home directory. Returns its whole path.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<PathBuf> {
        let path = self.home.join(path);
        let folder = path.parent().unwrap_or(&self.home);
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        fs::write(&path, text).map_err(Error::file(&path))?;
        Ok(path)
    }

    /// Returns the URL of the fake model.
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

    /// Creates a command that runs a script with Node.js. `script` is a path in the directory of
    /// the agents' npm packages.
    pub(crate) fn script(&self, script: &str) -> Command {
        let mut command = self.offline(&self.node);
        command.arg(self.agents.join(script));
        command
    }

    /// Creates a command of git in the project.
    pub(crate) fn git(&self, words: &[&str]) -> Command {
        let mut command = self.offline("git");
        command.args(words);
        command
    }
}
