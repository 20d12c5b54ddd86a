//! Types of the verbs that concern the command-line program itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The answer of `completions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompletionScript {
    /// The name of the shell.
    pub shell: String,
    /// The completion script.
    pub script: String,
}

/// The answer of `man`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManPage {
    /// The name of the page.
    pub page: String,
    /// The page in roff.
    pub text: String,
}

/// The answer of `man --out DIR`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManPages {
    /// The directory that the pages were written to.
    pub dir: PathBuf,
    /// The names of the written pages.
    pub pages: Vec<String>,
}
