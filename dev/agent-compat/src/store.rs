//! The store of a test, and the program forklore.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::setting::Setting;
use crate::site::Site;

/// The store of one test, as the program sees it.
pub(crate) struct Store<'a> {
    pub(crate) site: &'a Site,
    pub(crate) setting: &'a Setting,
}

impl Store<'_> {
    /// Returns a command of forklore on the store.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let url = format!("sqlite:{}", self.site.home.with_file_name("recalled.db").display());
        let mut command = Command::new(&self.setting.forklore);
        command.env_clear().env("HOME", &self.site.home).current_dir(&self.site.project);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.args(["--store", &url]).args(words);
        command
    }

    /// Returns the JSON lines that a command prints.
    pub(crate) fn lines(&self, words: &[&str]) -> Result<Vec<Value>, String> {
        let printed = run(self.command(&[&["--json"], words].concat()));
        let printed = printed.map_err(|error| error.to_string())?;
        let lines = printed.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().map_err(|error| format!("{words:?}: {error}: {printed}"))
    }
}

/// Runs a command to its end, and returns what it printed.
pub(crate) fn run(mut command: Command) -> Result<String> {
    let program = command.get_program().into();
    let ended = command.stdin(Stdio::null()).output();
    let ended = ended.map_err(|source| Error::NotStarted { program, source })?;
    Ok(String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned())
}
