//! Types of `restore`, which writes the files of an imported session back, byte for byte.

use std::path::PathBuf;

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// The request of `restore`: one file of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// The session.
    pub session_id: SessionId,
    /// The `name` of the file in the answer of `restore --list`. `null` is the file that the
    /// session was imported from, up to the last imported byte.
    pub file: Option<String>,
    /// The revision of `file`. `null` is the latest. Without `file` it has no effect.
    pub revision: Option<u64>,
    /// The new file to write, on the machine that runs the verb. `null` returns the bytes to the
    /// caller; they travel apart from the JSON.
    pub path: Option<PathBuf>,
}

/// The request of `restore --all`: the latest revision of each file of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RestoreAll {
    /// The session.
    pub session_id: SessionId,
    /// The directory to write the files to, on the machine that runs the verb. If one of the files
    /// exists there, nothing is written.
    pub path: PathBuf,
}

/// The answer of `restore -o PATH`: the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredFile {
    /// The path of the written file.
    pub path: PathBuf,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The path from which the file was imported.
    pub source: String,
    /// The revision of the file: how often the file had been rewritten in place before. The first
    /// revision is 0.
    pub revision: u64,
}

/// The answer of `restore --all -o DIR`: the files that were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredFiles {
    /// The directory that the files were written to.
    pub path: PathBuf,
    /// The written files.
    pub files: Vec<WrittenFile>,
    /// The total size of the written files in bytes.
    pub bytes: u64,
    /// The names of files that were not written because their bytes were deleted with a session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// The files that were not written because their bytes are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedFile>,
}

/// A file that `restore --all` wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenFile {
    /// The path relative to the session's own file.
    pub name: String,
    /// The path of the written file.
    pub path: PathBuf,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The revision of the file: how often the file had been rewritten in place before. The first
    /// revision is 0.
    pub revision: u64,
}

/// A file that `restore --all` could not write because its stored bytes are damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamagedFile {
    /// The path relative to the session's own file.
    pub name: String,
    /// A description of the damage.
    pub message: String,
}

/// The answer of `restore --list`: the stored files of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionFiles {
    /// The files. The file that the session was imported from comes first.
    pub files: Vec<SessionFile>,
}

/// A file of a session, whose bytes the store contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionFile {
    /// The path relative to the directory of the session's own file. Components are separated by
    /// `/`; none is `..`. A path that is not UTF-8 begins with `bytes://`, and each byte that is
    /// not UTF-8, and `%` itself, is encoded as `%` and two hexadecimal digits.
    pub name: String,
    /// The path at which the import found the file.
    pub path: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The sha256 of the bytes, in hex.
    pub sha256: String,
    /// The revision of the file: how often the file had been rewritten in place before. The first
    /// revision is 0.
    pub revision: u64,
    /// Whether this is the latest revision of the file, which `restore` writes if it is given the
    /// name.
    pub latest: bool,
    /// Whether this is the file that the session was imported from.
    pub own: bool,
    /// Whether the stored bytes were erased because a session was deleted.
    pub gone: bool,
}
