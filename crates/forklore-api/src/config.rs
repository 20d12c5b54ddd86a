//! Types of `config`: the settings in force, the problems of the configuration file, and the file
//! that `config init` or `config edit` wrote.

use std::path::PathBuf;

use forklore_core::ErrorKind;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer of `config show`: all settings in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigSettings {
    /// The path of the configuration file.
    pub path: PathBuf,
    /// Whether the configuration file exists.
    pub exists: bool,
    /// The settings, each with its origin.
    pub settings: Vec<ConfigSetting>,
}

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigSetting {
    /// The key of the setting, with dots between its parts, such as `models.local.model`.
    pub key: String,
    /// The value. `null` if the setting has no value, or if the value is hidden.
    pub value: Value,
    /// Whether the value is hidden, because it is or may be a secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// Where the value comes from.
    pub from: SettingOrigin,
    /// The line of the setting in the configuration file, from 1. Only if the value comes from the
    /// file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The environment variable with the value. Only if the value comes from the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
}

/// Where the value of a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SettingOrigin {
    /// The configuration file.
    File,
    /// An option of the command line, such as `-c KEY=VALUE`.
    CommandLine,
    /// An environment variable.
    Environment,
    /// The program's own default.
    Default,
}

/// The answer of `config check`: the problems and warnings of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigCheck {
    /// The path of the configuration file.
    pub path: PathBuf,
    /// Whether the configuration file exists.
    pub exists: bool,
    /// What is wrong: problems first, in the order of their lines, and then warnings.
    pub problems: Vec<ConfigProblem>,
}

/// A problem or a warning of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigProblem {
    /// The file that the problem concerns.
    pub path: PathBuf,
    /// The line of the problem, from 1. `null` if the problem concerns no single line.
    pub line: Option<usize>,
    /// The key of the `-c` setting that is the cause. Absent if the file is the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// Whether this is only a warning: the configuration works, but not as it may be meant.
    pub warning: bool,
    /// The error kind, such as `invalid_args`.
    pub kind: ErrorKind,
    /// A description of what is wrong. It repeats no value of the configuration, because a value
    /// may be an API key in the wrong place.
    pub message: String,
    /// What the user can do about the problem.
    pub hint: String,
}

/// The answer of `config init`: the configuration file that was written, or that would be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigCreated {
    /// The path of the configuration file.
    pub path: PathBuf,
    /// Whether the file was only planned, and not written.
    pub dry_run: bool,
    /// Whether a configuration file exists, which this file replaces.
    pub replaces: bool,
    /// The content of the file.
    pub text: String,
    /// The model servers that run on this machine.
    pub servers: Vec<LocalServer>,
    /// The names of the environment variables that contain an API key.
    pub keys: Vec<String>,
}

/// A model server that runs on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LocalServer {
    /// The program whose usual port this is, such as `ollama`. `null` for another port.
    pub program: Option<String>,
    /// The base URL of the server's API.
    pub base_url: String,
    /// The models that the server offers.
    pub models: Vec<String>,
}

/// The answer of `config edit`: whether the file changed, and the problems that it has now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigEdited {
    /// The path of the configuration file.
    pub path: PathBuf,
    /// Whether the file changed.
    pub changed: bool,
    /// The problems and warnings of the file as it now is.
    pub problems: Vec<ConfigProblem>,
}

/// The answer of `install mcp`, `hooks install` and `hooks remove`: the entry of forklore in the
/// configuration of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Installed {
    /// The agent, such as `claude`.
    pub agent: String,
    /// The path of the agent's configuration file.
    pub path: PathBuf,
    /// Whether the file was written.
    pub written: bool,
    /// Whether the file had exactly this entry already. Of `hooks remove`: whether it had one.
    pub existing: bool,
    /// The entry, in the format of the file.
    pub entry: String,
}

/// The answer of `hooks list`: the hooks of forklore in the configurations of other agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentHooks {
    /// The agents. One whose configuration of this folder has hooks is there twice.
    pub hooks: Vec<AgentHook>,
}

/// The hooks of forklore in the configuration of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentHook {
    /// The agent, such as `claude`.
    pub agent: String,
    /// The file that has the hooks, or would have them.
    pub path: PathBuf,
    /// Whether it has them.
    pub installed: bool,
    /// Why the file cannot be understood; null if it can, or does not exist.
    pub problem: Option<String>,
    /// When a hook of the agent ran last; null if none ever did.
    pub last: Option<HookRun>,
}

/// One run of a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookRun {
    /// When it ended.
    pub at: Timestamp,
    /// What went wrong; null if the files were recorded.
    pub error: Option<String>,
}
