//! `restore`: the files of an imported session, byte for byte.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The answer of `restore -o PATH`: the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredFile {
    /// The file.
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
    /// Where it was read from.
    pub source: String,
    /// How often it had been rewritten in place.
    pub revision: u64,
}

/// The answer of `restore --all -o DIR`: the files that were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredFiles {
    /// The folder.
    pub path: PathBuf,
    /// The files.
    pub files: Vec<WrittenFile>,
    /// How many bytes they have together.
    pub bytes: u64,
    /// Files whose bytes were deleted with a session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// Files whose bytes are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedFile>,
}

/// A file that `restore --all` wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenFile {
    /// Its name, seen from the session's own file.
    pub name: String,
    /// Where it was written.
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
    /// How often it had been rewritten in place.
    pub revision: u64,
}

/// A file that could not be restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamagedFile {
    /// Its name, seen from the session's own file.
    pub name: String,
    /// What is wrong, in words.
    pub message: String,
}
