//! Types of `restore`, which writes the files of an imported session back, byte for byte.

use std::path::PathBuf;

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

/// The request of `restore`: writes one file of an imported session again, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// The imported session whose file is restored.
    pub session_id: SessionId,
    /// The file to restore, by its `name` in the answer of `restore --list`. `null` restores the
    /// file that the session was imported from, up to the last imported byte.
    pub file: Option<String>,
    /// The revision (version number, from 0) of `file` to restore. `null` means the latest. Without
    /// `file`, this field has no effect.
    pub revision: Option<u64>,
    /// The new file to write, on the machine that executes the request. `null` returns the bytes to
    /// the caller, separately from the JSON.
    pub path: Option<PathBuf>,
    /// Whether to replace the file at `path` if it exists. Without `path`, this field has no
    /// effect.
    #[serde(default)]
    pub overwrite: bool,
}

/// The request of `restore --all`: writes the latest version of each file of an imported session
/// again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RestoreAll {
    /// The imported session whose files are restored.
    pub session_id: SessionId,
    /// The directory to which the files are written, on the machine that executes the request. If
    /// one of the files already exists there, nothing is written, unless `overwrite` is set.
    pub path: PathBuf,
    /// Whether to replace files that exist.
    #[serde(default)]
    pub overwrite: bool,
}

/// The answer of `restore -o PATH`: describes the file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredFile {
    /// The path of the written file.
    pub path: PathBuf,
    /// The size of the written file in bytes.
    pub bytes: u64,
    /// The path from which the file was imported.
    pub source: String,
    /// The revision (version number) of the file, from 0. An import begins a new revision if the
    /// file's earlier content was replaced.
    pub revision: u64,
}

/// The answer of `restore --all -o DIR`: describes the files that were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredFiles {
    /// The directory to which the files were written.
    pub path: PathBuf,
    /// The files that were written.
    pub files: Vec<WrittenFile>,
    /// The total size of the written files in bytes.
    pub bytes: u64,
    /// The names of files that were not written, because the deletion of a session had erased their
    /// stored bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// The files that were not written, because their stored bytes are damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<DamagedFile>,
}

/// A file that `restore --all` wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenFile {
    /// The original path of the file, relative to the directory that contains the imported session
    /// file.
    pub name: String,
    /// The path of the written file.
    pub path: PathBuf,
    /// The size of the written file in bytes.
    pub bytes: u64,
    /// The revision (version number) of the file, from 0. An import begins a new revision if the
    /// file's earlier content was replaced.
    pub revision: u64,
}

/// A file that `restore --all` could not write because its stored bytes are damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamagedFile {
    /// The original path of the file, relative to the directory that contains the imported session
    /// file.
    pub name: String,
    /// A description of the damage to the stored bytes.
    pub message: String,
}

/// The answer of `restore --list`: the stored files of an imported session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionFiles {
    /// The stored files of the session. The file that the session was imported from comes first.
    pub files: Vec<SessionFile>,
}

/// A file of an imported session, whose bytes the store contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionFile {
    /// The original path of the file, relative to the directory that contains the imported session
    /// file. Components are separated by `/`; none is `..`. If the path is not UTF-8, the name
    /// begins with `bytes://`. In such a name, `%` and each byte that is not UTF-8 are encoded as
    /// `%` and two hexadecimal digits.
    pub name: String,
    /// The path at which the import found the file.
    pub path: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The sha256 of the file's bytes, in hexadecimal digits.
    pub sha256: String,
    /// The revision (version number) of the file, from 0. An import begins a new revision if the
    /// file's earlier content was replaced.
    pub revision: u64,
    /// Whether this is the latest revision of the file. If a request names the file without a
    /// revision, `restore` writes the latest.
    pub latest: bool,
    /// Whether this is the file that the session was imported from.
    pub own: bool,
    /// Whether the file's stored bytes were erased because a session was deleted.
    pub gone: bool,
}
