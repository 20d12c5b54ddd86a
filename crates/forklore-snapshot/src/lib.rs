//! States of a workspace: taken, compared, restored and undone.
//!
//! A *snapshot* has the files of a folder that are tracked by git or at least not ignored, with
//! their permissions, links and empty folders (docs/semantics.md, Snapshots). Snapshots are git
//! objects in a bare repository of their own, so equal files of all snapshots and projects are
//! stored once. The id of a snapshot is that of its tree: equal states have equal ids.
//!
//! ```
//! use forklore_snapshot::{Snapshots, Taking};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let workspace = folder.path().join("project");
//! std::fs::create_dir(&workspace)?;
//! std::fs::write(workspace.join("results.txt"), "42")?;
//!
//! let snapshots = Snapshots::open(&folder.path().join("snapshots"))?;
//! let before = snapshots.take(&workspace, &Taking::default())?;
//!
//! std::fs::remove_file(workspace.join("results.txt"))?;
//! let restored = snapshots.restore(&workspace, before.id, &[], &Taking::default())?;
//! assert_eq!(std::fs::read_to_string(workspace.join("results.txt"))?, "42");
//!
//! // A restore takes a snapshot first, so it can be undone.
//! snapshots.restore(&workspace, restored.before, &[], &Taking::default())?;
//! assert!(!workspace.join("results.txt").exists());
//! # Ok(())
//! # }
//! ```
//!
//! The user's repository is only read: it gets no object, ref, index, setting or hook. The program
//! `git` writes and reads the objects, without the user's settings, hooks, filters and signatures.

mod about;
mod capacity;
mod collect;
mod compare;
mod contents;
mod error;
mod file_writer;
mod git;
mod id;
mod index;
mod journal;
mod left_out;
mod merge;
mod objects;
mod restore;
mod rests;
mod root;
mod rules;
mod selection;
mod skipped;
mod snapshots;
mod take;
mod taking;
mod users_repository;
mod walk;
mod writer;

pub use self::collect::{Collected, Shared};
pub use self::compare::{Change, ChangeKind, ChangedLines, Lines, Most};
pub use self::error::{Error, Result};
pub use self::git::users_git;
pub use self::id::SnapshotId;
pub use self::left_out::{LeftOut, Reason};
pub use self::merge::Merged;
pub use self::restore::Restored;
pub use self::skipped::{SkipReason, Skipped};
pub use self::snapshots::Snapshots;
pub use self::take::Snapshot;
pub use self::taking::Taking;
