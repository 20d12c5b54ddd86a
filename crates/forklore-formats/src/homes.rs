//! Finds the directories in which agents store their session files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{AGENT_FORMATS, akcoder, amplifier, claude, codex, droid, gemini, opencode, pi, qwen};

/// An agent with the locations at which it stores session files on this computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentHome {
    /// The agent's display name.
    pub agent: &'static str,
    /// The name of the agent's record format. For Claude Code, it is `claude`.
    pub dialect: &'static str,
    /// The directories and single files in which the agent stores sessions. They may be missing.
    pub folders: Vec<PathBuf>,
}

/// The user's home directory, and a function that reads environment variables.
struct Machine<'a> {
    home: &'a Path,
    variable: &'a dyn Fn(&str) -> Option<OsString>,
}

/// An agent's display name, the name of its record format, and a function that returns the
/// locations of its sessions.
type Keeper = (&'static str, &'static str, fn(&Machine<'_>) -> Vec<PathBuf>);

const KEEPERS: &[Keeper] = &[
    ("Claude Code", claude::NAME, |machine| {
        vec![machine.named("CLAUDE_CONFIG_DIR", ".claude").join("projects")]
    }),
    ("Codex", codex::NAME, |machine| {
        let home = machine.named("CODEX_HOME", ".codex");
        vec![home.join("sessions"), home.join("archived_sessions")]
    }),
    ("Pi", pi::NAME, |machine| {
        let folder = || machine.named("PI_CODING_AGENT_DIR", ".pi/agent").join("sessions");
        vec![machine.set("PI_CODING_AGENT_SESSION_DIR").unwrap_or_else(folder)]
    }),
    ("Gemini CLI", gemini::NAME, |machine| {
        vec![machine.named("GEMINI_CLI_HOME", "").join(".gemini/tmp")]
    }),
    ("Qwen Code", qwen::NAME, |machine| vec![machine.named("QWEN_HOME", ".qwen").join("projects")]),
    ("Factory Droid", droid::NAME, |machine| vec![machine.home.join(".factory/sessions")]),
    ("opencode", opencode::NAME, |machine| {
        let data = machine.named("XDG_DATA_HOME", ".local/share").join("opencode");
        vec![data.join("opencode.db"), data.join("storage")]
    }),
    ("Amplifier", amplifier::NAME, |machine| vec![machine.home.join(".amplifier/projects")]),
    ("ak-coder", akcoder::NAME, |machine| vec![machine.home.join(".ak-coder/history")]),
];

/// Returns the supported agents with the locations of their session files. A location is below
/// `home`, unless an environment variable of the agent names another one. `variable` returns the
/// value of an environment variable.
///
/// ```
/// use std::path::Path;
///
/// let homes = forklore_formats::homes::of(Path::new("/home/me"), &|_| None);
/// let claude = homes.iter().find(|home| home.dialect == "claude").unwrap();
/// assert_eq!(claude.folders, [Path::new("/home/me/.claude/projects")]);
/// ```
#[must_use]
pub fn of(home: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<AgentHome> {
    let machine = Machine { home, variable };
    let read = |name: &str| AGENT_FORMATS.iter().any(|dialect| dialect.name() == name);
    let keepers = KEEPERS.iter().filter(|(_, dialect, _)| read(dialect));
    let homes = keepers.map(|(agent, dialect, folders)| AgentHome {
        agent,
        dialect,
        folders: folders(&machine),
    });
    homes.collect()
}

impl Machine<'_> {
    /// Returns the directory that an environment variable names. Returns `None` if the variable is
    /// not set or empty. Also returns `None` for a relative path, because it depends on the agent's
    /// working directory.
    fn set(&self, variable: &str) -> Option<PathBuf> {
        let path = PathBuf::from((self.variable)(variable)?);
        let path = match path.strip_prefix("~") {
            Ok(below) => self.home.join(below),
            Err(_) => path,
        };
        path.is_absolute().then_some(path)
    }

    fn named(&self, variable: &str, below_home: &str) -> PathBuf {
        self.set(variable).unwrap_or_else(|| self.home.join(below_home))
    }
}
