//! The agents that can call forklore at the begin or end of a turn, and how each is asked to.

use std::path::{Path, PathBuf};

use forklore_sanitize::shell;
use serde_json::{Value, json};

use super::{json_text, notify, script};
use crate::agent_config::or_home;
use crate::failure::{Failure, Result};

/// What the command line of each hook contains, by which it is recognised.
const MARK: &str = "snapshot --hook ";
/// The seconds after which an agent need not wait longer for a snapshot.
const SECONDS: u32 = 60;

/// An agent that can call forklore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Pi,
}

impl Agent {
    pub(super) const ALL: [Self; 5] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Pi];
    /// The names of all agents.
    pub(super) const NAMES: [&str; 5] = ["claude", "codex", "gemini", "opencode", "pi"];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// Returns the file that gets the hooks: for this user, or for the folder of a project.
    ///
    /// # Errors
    /// When there is no home directory, or the agent reads no hooks from a project.
    pub(super) fn file(self, project: Option<&Path>) -> Result<PathBuf> {
        if let Some(project) = project {
            let below = match self {
                Self::Claude => ".claude/settings.local.json",
                Self::Gemini => ".gemini/settings.json",
                Self::Opencode => ".opencode/plugin/forklore.js",
                Self::Pi => ".pi/extensions/forklore.js",
                Self::Codex => {
                    let message = "codex reads notify from the user's configuration only";
                    return Err(Failure::invalid(message).or_try("forklore hooks install codex"));
                }
            };
            return Ok(project.join(below));
        }
        Ok(match self {
            Self::Claude => or_home("CLAUDE_CONFIG_DIR", ".claude")?.join("settings.json"),
            Self::Codex => or_home("CODEX_HOME", ".codex")?.join("config.toml"),
            Self::Gemini => or_home("GEMINI_CLI_HOME", "")?.join(".gemini/settings.json"),
            Self::Opencode => {
                or_home("XDG_CONFIG_HOME", ".config")?.join("opencode/plugin/forklore.js")
            }
            Self::Pi => or_home("PI_CODING_AGENT_DIR", ".pi/agent")?.join("extensions/forklore.js"),
        })
    }

    /// Returns the arrays of the agent's settings that have the hooks.
    fn events(self) -> [[&'static str; 2]; 2] {
        match self {
            Self::Gemini => [["hooks", "BeforeAgent"], ["hooks", "AfterAgent"]],
            _ => [["hooks", "UserPromptSubmit"], ["hooks", "Stop"]],
        }
    }

    /// Returns the text of the agent's file with the hooks. `program` is the command that they run,
    /// without its last options.
    ///
    /// # Errors
    /// If the text is not what the file must be, or has something else there.
    pub(super) fn with(self, text: &str, program: &[String]) -> Result<String, String> {
        let words = self.words(program);
        match self {
            Self::Codex => notify::with(text, &words),
            Self::Opencode | Self::Pi => script::with(text, self, &words),
            Self::Claude | Self::Gemini => {
                if self.has(text, program)? {
                    return Ok(text.to_owned());
                }
                let text = self.without(text)?.unwrap_or_else(|| text.to_owned());
                let value = self.value(&words).to_string();
                let add = |text: String, path: &[&str; 2]| json_text::with(&text, path, &value);
                self.events().iter().try_fold(text, add)
            }
        }
    }

    /// Returns the text of the agent's file without the hooks, or `None` if it has none.
    ///
    /// # Errors
    /// If the text is not what the file must be.
    pub(super) fn without(self, text: &str) -> Result<Option<String>, String> {
        match self {
            Self::Codex => notify::without(text),
            Self::Opencode | Self::Pi => Ok(script::is_ours(text).then(String::new)),
            Self::Claude | Self::Gemini => {
                let is_ours = |value: &str| value.contains(&self.mark());
                let mut rest = None;
                for path in self.events() {
                    let from = rest.as_deref().unwrap_or(text);
                    rest = json_text::without(from, &path, "hooks", &is_ours)?.or(rest);
                }
                Ok(rest)
            }
        }
    }

    /// Returns whether the text has exactly the hooks that [`with`](Self::with) adds.
    fn has(self, text: &str, program: &[String]) -> Result<bool, String> {
        let expected = self.value(&self.words(program));
        for path in self.events() {
            let values = json_text::values(text, &path)?.into_iter();
            let mut ours = values.filter(|value| value.contains(&self.mark()));
            let (first, second) = (ours.next(), ours.next());
            let first = first.and_then(|value| serde_json::from_str::<Value>(value).ok());
            if first.as_ref() != Some(&expected) || second.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns what is added, as text for people.
    pub(super) fn entry(self, program: &[String]) -> String {
        self.with("", program).unwrap_or_default()
    }

    fn words(self, program: &[String]) -> Vec<String> {
        let mut words = program.to_vec();
        words.extend(["snapshot", "--hook", self.name()].map(str::to_owned));
        words
    }

    fn mark(self) -> String {
        format!("{MARK}{}", self.name())
    }

    /// Returns the hook of an agent with a settings file. Whatever happens to the command, the agent
    /// sees that it went well, and no output.
    fn value(self, words: &[String]) -> Value {
        let words: Vec<_> = words.iter().map(|word| shell::quoted(word)).collect();
        let command = format!("{} >/dev/null 2>&1 || true", words.join(" "));
        let timeout = if self == Self::Gemini { SECONDS * 1000 } else { SECONDS };
        json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_its_name_and_gives_the_file_back() {
        let program = ["/opt/my tools/forklore".to_owned()];
        let other = ["/bin/forklore".to_owned(), "--store".to_owned(), "files:/x".to_owned()];
        for (agent, name) in Agent::ALL.into_iter().zip(Agent::NAMES) {
            assert_eq!(Agent::named(name), Some(agent));
            let before = match agent {
                Agent::Claude | Agent::Gemini => {
                    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [] }\n    ]\n  }\n}\n"
                }
                Agent::Codex => "# mine\nmodel = \"m\" # why\n\n[mcp_servers.a]\ncommand = 'a'\n",
                Agent::Opencode | Agent::Pi => "",
            };
            let after = agent.with(before, &program).unwrap();
            assert!(after.contains(before.trim_end_matches(['\n', '}', ' ', ']'])), "{after}");
            assert_eq!(agent.with(&after, &program).unwrap(), after, "{name}");
            assert_eq!(agent.without(&after).unwrap().unwrap(), before, "{name}");
            let changed = agent.with(&after, &other).unwrap();
            assert!(changed.contains("files:/x") && !changed.contains("my tools"), "{changed}");
            assert_eq!(agent.without(&changed).unwrap().unwrap(), before, "{name}");
            assert_eq!(agent.without(before).unwrap(), None, "{name}");
        }
    }
}
