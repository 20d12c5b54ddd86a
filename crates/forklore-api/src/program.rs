//! Answers of verbs that are about the program itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The answer of `completions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompletionScript {
    /// The shell.
    pub shell: String,
    /// Its script.
    pub script: String,
}

/// The answer of `man`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManPage {
    /// The page's name.
    pub page: String,
    /// The page, in roff.
    pub text: String,
}

/// The answer of `man --out DIR`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ManPages {
    /// The folder.
    pub dir: PathBuf,
    /// The pages written.
    pub pages: Vec<String>,
}

/// The answer of `graph -o PATH`: the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphFile {
    /// The file.
    pub path: PathBuf,
    /// How many triples are in it.
    pub triples: u64,
}

/// The answer of `graph --ontology` and `graph --shapes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vocabulary {
    /// The vocabulary or the shapes, in Turtle.
    pub turtle: String,
}
