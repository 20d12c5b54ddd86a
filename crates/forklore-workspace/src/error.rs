//! Why a verb on a session's files was refused or failed.

use std::io;
use std::path::{Path, PathBuf};

use forklore_core::data::NotJson;
use forklore_core::{ErrorKind, SessionId};
use forklore_snapshot::{Error as SnapshotError, SnapshotId};

/// A result with an error of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a verb was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine refused or failed.
    #[error(transparent)]
    Engine(#[from] forklore_engine::Error),
    /// A snapshot could not be taken or restored.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The history of a session names no snapshot at or before the position.
    #[error("the history of {session} has no snapshot of {} at or before {at}", folder.display())]
    NoSnapshot {
        /// The session.
        session: SessionId,
        /// The folder.
        folder: PathBuf,
        /// The position, as the caller named it.
        at: String,
    },
    /// Two sessions share no snapshot, so their files cannot be merged.
    #[error("{from} and {into} have no snapshot in common")]
    NoCommonSnapshot {
        /// The branch whose files are wanted.
        from: SessionId,
        /// The session that gets them.
        into: SessionId,
    },
    /// A branch names no snapshot of its files since it parted.
    #[error("{from} has no snapshot of its files since it parted from {into}")]
    NothingToBring {
        /// The branch.
        from: SessionId,
        /// The session that gets its files.
        into: SessionId,
    },
    /// Neither the snapshot nor the state before has anything at a path to restore.
    #[error("there is nothing at {}, in the snapshot or in the folder", path.display())]
    NothingAt {
        /// The path.
        path: PathBuf,
    },
    /// A snapshot has no such file.
    #[error("the snapshot has no file {}", path.display())]
    NoPath {
        /// The path.
        path: PathBuf,
    },
    /// A path to restore does not name something inside of the folder.
    #[error("{} is not a path inside of the folder", path.display())]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// Nothing was rewound in the folder, or all of it was taken back.
    #[error("there is no rewind to undo in {}", folder.display())]
    NothingToUndo {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder has no rewind with this number.
    #[error("{} has no rewind {number}", folder.display())]
    NoRewind {
        /// The folder.
        folder: PathBuf,
        /// The number.
        number: u64,
    },
    /// The rewind was undone already.
    #[error("rewind {number} was undone by {by}")]
    UndoneAlready {
        /// The number of the rewind.
        number: u64,
        /// The number of its undo.
        by: u64,
    },
    /// The files of a rewind could not be restored. `undo` takes back what was done.
    #[error("rewind {number} stopped before its end: {source}")]
    Stopped {
        /// The number of the rewind.
        number: u64,
        /// The snapshot of the state before.
        before: SnapshotId,
        /// What stopped it.
        source: Box<SnapshotError>,
    },
    /// The folder for a worktree has files, or is a worktree or inside of one.
    #[error("{} is not empty, or is in a worktree already; name another folder", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder for a worktree is in the workspace, whose snapshots would have it, or among the
    /// snapshots.
    #[error("{} is inside of the workspace or of the snapshots; name a folder outside", folder.display())]
    InsideWorkspace {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder is no worktree that a fork made.
    #[error("{} is no worktree of a fork; `git worktree remove` removes those of git", folder.display())]
    NotOurs {
        /// The folder.
        folder: PathBuf,
    },
    /// A worktree has what no snapshot contains, and its removal would lose it.
    #[error("{} has {what} that no snapshot contains; move it elsewhere first", path.display())]
    WouldBeLost {
        /// What would be lost.
        what: &'static str,
        /// Where it is.
        path: PathBuf,
    },
    /// A worktree has commits that are in no branch, and its removal would lose them.
    #[error("{} has commits that are in no branch, such as {commit}; name them first: git branch NAME {commit}", folder.display())]
    CommitsOfNoBranch {
        /// The folder.
        folder: PathBuf,
        /// The first that was found.
        commit: String,
    },
    /// The folder that was made for a branch is gone, or something else is at its name.
    #[error("{} is not the worktree that was made for the branch any more; put it back, or give it up: forklore worktrees remove", folder.display())]
    NotTheWorktree {
        /// The folder.
        folder: PathBuf,
    },
    /// The repository of a worktree is not where it was.
    #[error("the repository {} of the worktree {} is gone; if it was moved, run there: git worktree repair {}; if it was deleted, delete the worktree's folder too", repository.display(), folder.display(), folder.display())]
    NoRepository {
        /// The folder.
        folder: PathBuf,
        /// Where the repository was.
        repository: PathBuf,
    },
    /// The user locked a worktree.
    #[error("{} is locked{}; git worktree unlock it first", folder.display(), shown(reason))]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// The reason that the user gave; empty if none.
        reason: String,
    },
    /// A command of git in the user's repository failed.
    #[error("git {command} failed in {}: {message}", folder.display())]
    Git {
        /// The command.
        command: &'static str,
        /// The folder.
        folder: PathBuf,
        /// What git wrote.
        message: String,
    },
    /// The record of the rewinds or worktrees, or a worktree, cannot be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    Record {
        /// What should have happened, for example "read".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The payload of an event cannot be written.
    #[error("the snapshot cannot be written as an event")]
    Payload(#[from] NotJson),
}

impl Error {
    /// Returns the kind of the error, on which scripts match.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Engine(error) => error.kind(),
            Self::Snapshot(error) => kind_of(error),
            Self::NoSnapshot { .. }
            | Self::NoCommonSnapshot { .. }
            | Self::NothingToBring { .. }
            | Self::NothingToUndo { .. }
            | Self::NoRewind { .. }
            | Self::NotOurs { .. }
            | Self::NothingAt { .. }
            | Self::NoPath { .. } => ErrorKind::NotFound,
            Self::Outside { .. } | Self::InsideWorkspace { .. } => ErrorKind::InvalidArgs,
            Self::InUse { .. } => ErrorKind::AlreadyExists,
            Self::UndoneAlready { .. }
            | Self::WouldBeLost { .. }
            | Self::CommitsOfNoBranch { .. }
            | Self::NotTheWorktree { .. }
            | Self::NoRepository { .. }
            | Self::Locked { .. } => ErrorKind::Conflict,
            Self::Git { .. } => ErrorKind::Internal,
            Self::Stopped { source, .. } => kind_of(source),
            Self::Record { source, .. } => kind_of_file(source),
            Self::Payload(_) => ErrorKind::Internal,
        }
    }
}

fn shown(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" ({reason})") }
}

/// Returns a function that makes an error of a file.
pub(crate) fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Record { what, path, source }
}

fn kind_of(error: &SnapshotError) -> ErrorKind {
    match error {
        SnapshotError::File { source, .. } => kind_of_file(source),
        SnapshotError::NotFound { .. } | SnapshotError::NoGit { .. } => ErrorKind::NotFound,
        SnapshotError::Id { .. } => ErrorKind::InvalidArgs,
        SnapshotError::NotEmpty { .. } => ErrorKind::AlreadyExists,
        SnapshotError::Full { .. } => ErrorKind::Conflict,
        SnapshotError::Damaged { .. } => ErrorKind::Corrupt,
        SnapshotError::Stopped { source, .. } => kind_of(source),
        _ => ErrorKind::Internal,
    }
}

fn kind_of_file(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        // The name is none: a file is above it, it is too long, or it has a NUL.
        io::ErrorKind::NotADirectory
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::InvalidInput => ErrorKind::InvalidArgs,
        _ => ErrorKind::Internal,
    }
}
