//! The agents whose configuration can have MCP servers: where it is, and what an entry looks like.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{json_entry, toml_entry};
use crate::failure::{Failure, Result};

/// The name of the entry.
const NAME: &str = "forklore";

/// An agent with a configuration that can have MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// The command that an agent starts.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) program: String,
    pub(super) words: Vec<String>,
}

impl Agent {
    /// The names of all agents.
    pub(super) const NAMES: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "claude" => Some(Self::Claude),
            "codex" => Some(Self::Codex),
            "gemini" => Some(Self::Gemini),
            "opencode" => Some(Self::Opencode),
            _ => None,
        }
    }

    /// Returns the agent's configuration file for this user.
    ///
    /// # Errors
    /// When there is no home directory.
    pub(super) fn file(self) -> Result<PathBuf> {
        let home = || {
            let found = etcetera::home_dir();
            found.map_err(|_| Failure::invalid("there is no home directory"))
        };
        let set = |variable: &str| {
            let value = std::env::var_os(variable).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let or_home = |variable: &str, below: &str| -> Result<PathBuf> {
            set(variable).map_or_else(|| Ok(home()?.join(below)), Ok)
        };
        Ok(match self {
            Self::Claude => or_home("CLAUDE_CONFIG_DIR", "")?.join(".claude.json"),
            Self::Codex => or_home("CODEX_HOME", ".codex")?.join("config.toml"),
            Self::Gemini => or_home("GEMINI_CLI_HOME", "")?.join(".gemini/settings.json"),
            Self::Opencode => match set("OPENCODE_CONFIG") {
                Some(file) => file,
                None => or_home("XDG_CONFIG_HOME", ".config")?.join("opencode/opencode.json"),
            },
        })
    }

    /// Returns the configuration `text` with the entry for `server`. Every other entry stays as it
    /// is.
    ///
    /// # Errors
    /// If the text is not what the agent's configuration must be. The error says why.
    pub(super) fn with(self, text: &str, server: &Server) -> Result<String, String> {
        match self {
            Self::Codex => toml_entry::with(text, NAME, server),
            _ => json_entry::with(text, self.table(), NAME, &self.value(server)),
        }
    }

    /// Returns the entry as text for people, with the table in which it is.
    pub(super) fn entry(self, server: &Server) -> String {
        match self {
            Self::Codex => toml_entry::with("", NAME, server).unwrap_or_default(),
            _ => {
                let entry = json!({ self.table(): { NAME: self.value(server) } });
                serde_json::to_string_pretty(&entry).unwrap_or_default() + "\n"
            }
        }
    }

    /// Returns the field of the configuration that has the servers.
    fn table(self) -> &'static str {
        if self == Self::Opencode { "mcp" } else { "mcpServers" }
    }

    fn value(self, Server { program, words }: &Server) -> Value {
        match self {
            Self::Claude => json!({ "type": "stdio", "command": program, "args": words }),
            Self::Gemini | Self::Codex => json!({ "command": program, "args": words }),
            Self::Opencode => {
                let command: Vec<_> = std::iter::once(program).chain(words).collect();
                json!({ "type": "local", "command": command, "enabled": true })
            }
        }
    }
}
