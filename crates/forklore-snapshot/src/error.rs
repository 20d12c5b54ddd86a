//! Why a snapshot could not be taken, read or restored.

use std::io;
use std::path::PathBuf;

use bstr::BString;

use crate::SnapshotId;

/// A result with an error of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a snapshot could not be taken, read or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// What should have happened, for example "read".
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The program `git` cannot be started. Snapshots need it, also in folders without a repository.
    #[error("cannot start `git`, which stores the snapshots")]
    NoGit {
        /// The error of the operating system.
        source: io::Error,
    },
    /// A command of git failed.
    #[error("`git {command}` failed in {}: {message}", folder.display())]
    Git {
        /// The command, for example `cat-file`.
        command: &'static str,
        /// The repository.
        folder: PathBuf,
        /// What git wrote, as it wrote it. It may have names of files, so it is not safe to show
        /// as it is.
        message: String,
    },
    /// git answered something that this version does not understand.
    #[error("`git {command}` answered something unexpected: {answer:?}")]
    Answer {
        /// The command.
        command: &'static str,
        /// The beginning of the answer.
        answer: BString,
    },
    /// There is no such snapshot.
    #[error("there is no snapshot {id} on this machine: another one recorded it")]
    NotFound {
        /// The id of the snapshot.
        id: String,
    },
    /// A text is no id of a snapshot.
    #[error("{text:?} is no id of a snapshot: it has 40 hexadecimal digits")]
    Id {
        /// The text.
        text: String,
    },
    /// A restore could not be completed. What it did is undone by restoring the snapshot before.
    #[error("the restore stopped before its end")]
    Stopped {
        /// The snapshot of the state before the restore.
        before: SnapshotId,
        /// What stopped it.
        source: Box<Error>,
    },
    /// The folder to restore into is not empty.
    #[error("{} is not empty", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A snapshot could make the repository larger than it may be. Nothing was written.
    #[error(
        "the snapshots have {bytes} bytes and may have {max}, but there are {new} bytes to record{}",
        largest_of(largest)
    )]
    Full {
        /// The most bytes that all snapshots may have.
        max: u64,
        /// The bytes that they have.
        bytes: u64,
        /// The bytes of the files to record, before they are compressed.
        new: u64,
        /// The largest of these files, with their bytes.
        largest: Vec<(BString, u64)>,
    },
    /// A stored description of a snapshot or of an interrupted restore is damaged.
    #[error("{what} is damaged")]
    Damaged {
        /// What is damaged.
        what: String,
    },
}

impl Error {
    /// Returns a function that makes an error of a file.
    pub(crate) fn file<E: Into<io::Error>>(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(E) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source: source.into() }
    }
}

fn largest_of(largest: &[(BString, u64)]) -> String {
    let named = largest.iter().map(|(path, bytes)| format!("{path} has {bytes}"));
    let named: Vec<_> = named.collect();
    if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) }
}
