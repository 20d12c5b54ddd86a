//! Types of the verbs that concern the command-line program itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The answer of `completions`: a completion script for a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompletionScript {
    /// The name of the shell, such as `bash`.
    pub shell: String,
    /// The text of the completion script.
    pub script: String,
}

/// The answer of `--help` and of `help COMMAND`: how a command is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelpText {
    /// The text, as people read it.
    pub help: String,
}

/// The answer of `--version`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramVersion {
    /// The version of the program, such as `0.1.0`.
    pub version: String,
}

/// The answer of `man`: a manual page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManPage {
    /// The name of the manual page.
    pub page: String,
    /// The text of the manual page, in roff.
    pub text: String,
}

/// The answer of `man --out DIR`: the manual pages that were written to files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManPages {
    /// The directory to which the manual pages were written.
    pub dir: PathBuf,
    /// The names of the manual pages that were written.
    pub pages: Vec<String>,
}
