//! Types of the verbs on files: `snapshot`, `rewind`, `undo`, `worktrees`, `bring --files` and others.

use std::path::PathBuf;

use forklore_core::SessionId;
use serde::{Deserialize, Serialize};

use crate::Forked;

/// The answer of `snapshot`: the state of the files that was recorded in the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedSnapshot {
    /// The session whose log names the snapshot.
    pub session_id: SessionId,
    /// The log position of the event that names it.
    pub seq: u64,
    /// The folder.
    pub folder: PathBuf,
    /// The id of the snapshot. Equal states have equal ids.
    pub snapshot: String,
    /// Whether the session's history already named this state. Then nothing was appended.
    pub unchanged: bool,
    /// The commit that was checked out; null without one.
    pub commit: Option<String>,
    /// The branch that was checked out; null without one.
    pub branch: Option<String>,
    /// The number of files and links.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What the snapshot does not contain although it is not ignored.
    pub left_out: Vec<NamedPath>,
}

/// A path of a folder, with the reason why it is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedPath {
    /// The path, relative to the folder. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// The reason, one word: for example `large`, `unreadable`, `changed` or `hard_link`.
    pub reason: String,
}

/// What a rewind takes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RewindScope {
    /// The conversation and the files.
    #[default]
    Both,
    /// The files only.
    Files,
    /// The conversation only.
    Conversation,
}

/// The answer of `rewind`: what was taken back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rewound {
    /// The number of the rewind in this folder, from 1: `undo` takes it. Null in a dry run.
    pub number: Option<u64>,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The folder.
    pub folder: PathBuf,
    /// The session that was taken back. It is unchanged.
    pub session_id: SessionId,
    /// The fork in which the conversation goes on; null if only the files were taken back.
    pub forked: Option<Forked>,
    /// What happened to the files; null if only the conversation was taken back.
    pub files: Option<FilesRestored>,
}

/// What a restore did to the files of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesRestored {
    /// The snapshot of the state before.
    pub before: String,
    /// The snapshot that was restored.
    pub snapshot: String,
    /// The number of files and links that were written, or whose permissions were set.
    pub written: u64,
    /// The number of files and links that were removed. The snapshot before has all of them.
    pub removed: u64,
    /// What was not restored.
    pub skipped: Vec<NamedPath>,
    /// In a dry run, each path that would change: `added`, `removed`, `modified` or `mode`.
    pub changes: Vec<NamedPath>,
}

/// The answer of `worktrees list`: the folders that were made for forks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Worktrees {
    /// The folders, in the order in which they were made.
    pub worktrees: Vec<Worktree>,
}

/// A folder that was made for a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Worktree {
    /// The fork.
    pub session_id: SessionId,
    /// The folder.
    pub folder: PathBuf,
    /// Whether it can be worked in.
    pub state: WorktreeState,
    /// The folder from which it was made.
    pub workspace: PathBuf,
    /// The commit on which it began, in the repository whose worktree it is; null for a plain folder.
    pub commit: Option<String>,
    /// The snapshot with which it began.
    pub snapshot: String,
}

/// Whether a worktree can be worked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorktreeState {
    /// It was made whole.
    Ready,
    /// It is being made or removed at this moment.
    Busy,
    /// Its making was interrupted.
    Unfinished,
    /// Somebody removed the folder.
    Missing,
    /// Its removal was interrupted.
    Removing,
}

/// The answer of `worktrees remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorktreeRemoved {
    /// The folder that was removed.
    pub worktree: Worktree,
    /// The snapshot of its last state; null if the folder was missing.
    pub snapshot: Option<String>,
}

/// What `bring --files` did: the files of a branch, merged into a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesBrought {
    /// The number of the merge in this folder: `undo` takes it. Null in a dry run.
    pub number: Option<u64>,
    /// The folder.
    pub folder: PathBuf,
    /// The snapshot with which the branch and the folder began.
    pub base: String,
    /// The last snapshot of the branch.
    pub brought: String,
    /// What happened to the files: `snapshot` is the merged state.
    pub restored: FilesRestored,
    /// The files that were changed here and there in a different way. They have conflict markers,
    /// and binary files are as they were.
    pub conflicts: Vec<NamedPath>,
}

/// The answer of `undo`: the rewind that was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RewindUndone {
    /// The number of this undo in the folder: `undo NUMBER` takes it back.
    pub number: u64,
    /// The number of the rewind or undo that was taken back.
    pub undid: u64,
    /// The folder.
    pub folder: PathBuf,
    /// The session in which the conversation goes on.
    pub session_id: SessionId,
    /// The fork that went into the trash or came back from there; null if there was none, or if it
    /// stays as it is.
    pub fork: Option<SessionId>,
    /// The fork that stays as it is, because it was changed since, for example gone on with.
    #[serde(default)]
    pub fork_left: Option<SessionId>,
    /// What happened to the files; null if the conversation alone had been taken back.
    pub files: Option<FilesRestored>,
}

/// The answer of `diff --files`: how the files of two states differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesCompared {
    /// The state on the first side.
    pub a: FilesState,
    /// The state on the other side.
    pub b: FilesState,
    /// The number of lines that only the other side has, in files that are text.
    pub added: u64,
    /// The number of lines that only the first side has.
    pub removed: u64,
    /// Each path that differs, in order.
    pub changes: Vec<ChangedFile>,
}

/// A state of the files of a folder that is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesState {
    /// The session whose history names the snapshot; null for the folder as it is now.
    pub session_id: Option<SessionId>,
    /// The log position of the event that names it; null for the folder as it is now.
    pub seq: Option<u64>,
    /// The folder.
    pub folder: PathBuf,
    /// The id of the snapshot.
    pub snapshot: String,
}

/// A path that differs between two states of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedFile {
    /// The path, relative to the folder. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// What happened to it: `added`, `removed`, `modified` or `mode`.
    pub change: String,
    /// The number of lines that only the other side has; null for a file without lines.
    pub added: Option<u64>,
    /// The number of lines that only the first side has; null for a file without lines.
    pub removed: Option<u64>,
    /// Why there are no lines: `binary` or `large`; null if there are.
    pub without_lines: Option<String>,
    /// The difference as a unified diff, if it was asked for; null without lines.
    pub patch: Option<String>,
}

/// The answer of `show --files`: the snapshot that belongs to a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownSnapshot {
    /// The snapshot as the session recorded it.
    #[serde(flatten)]
    pub recorded: FilesState,
    /// Whether the snapshot is on this machine.
    pub present: bool,
    /// The commit that was checked out; null without one.
    pub commit: Option<String>,
    /// The branch that was checked out; null without one.
    pub branch: Option<String>,
    /// The number of files and links.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What the snapshot does not contain although it is not ignored.
    pub left_out: Vec<NamedPath>,
    /// The snapshot of the folder before it in the history; null if it is the first.
    pub before: Option<String>,
    /// The paths that changed since that one: `added`, `removed`, `modified` or `mode`. Empty if
    /// there is none, or if one of both is not on this machine.
    pub changes: Vec<NamedPath>,
}

/// The answer of `gc --files`: the snapshots that were removed because nothing names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CollectedFiles {
    /// Whether nothing was removed.
    pub dry_run: bool,
    /// The number of snapshots that nothing names.
    pub snapshots: u64,
    /// The number of snapshots that a session or an undo needs.
    pub needed: u64,
    /// The bytes of all snapshots before.
    pub bytes: u64,
    /// The bytes that were freed. In a dry run, an estimate.
    pub freed_bytes: u64,
}
