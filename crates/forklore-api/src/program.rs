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

/// The answer of `graph -o PATH`: the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphFile {
    /// The path of the written file.
    pub path: PathBuf,
    /// The number of triples in the file.
    pub triples: u64,
}

/// The answer of `graph --ontology` and `graph --shapes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vocabulary {
    /// The ontology or the shapes, in Turtle.
    pub turtle: String,
}
