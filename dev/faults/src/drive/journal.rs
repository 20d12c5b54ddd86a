//! The record of what was done to the files of a drive, in order.

use std::path::PathBuf;

use super::operation::{Node, Operation};

/// One recorded operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file was created.
    Made(PathBuf, Node),
    /// A file was found that was not created through the drive. These bytes are durable.
    Found(PathBuf, Node, Vec<u8>),
    /// A name was found to be gone for good.
    Gone(PathBuf),
    /// Bytes were written at an offset.
    Wrote(Node, Vec<u8>, u64),
    /// The length of a file was changed.
    SetLen(Node, u64),
    /// A file was synced.
    Synced(Node),
    /// A file was renamed.
    Renamed(PathBuf, PathBuf, Node),
    /// A file got an additional name (hard link).
    Linked(PathBuf, Node),
    /// A name was removed.
    Removed(PathBuf),
    /// A directory was created.
    MadeDir(PathBuf),
    /// A directory was synced.
    SyncedDir(PathBuf),
    /// No operation: the work on the store reached this point.
    Mark(Mark),
}

/// A point in the work on a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The step with this number began.
    Begun(usize),
    /// The step with this number was acknowledged.
    Acknowledged(usize),
}

/// Returns the entry of an operation that does not concern a name.
pub(super) fn entry(operation: &Operation<'_>) -> Option<Entry> {
    match *operation {
        Operation::Write(node, bytes, at) if node != Node::default() => {
            Some(Entry::Wrote(node, bytes.to_vec(), at))
        }
        Operation::SetLen(node, len) if node != Node::default() => Some(Entry::SetLen(node, len)),
        Operation::Sync(node) if node != Node::default() => Some(Entry::Synced(node)),
        Operation::MakeDir(path) => Some(Entry::MadeDir(path.to_owned())),
        Operation::SyncDir(path) => Some(Entry::SyncedDir(path.to_owned())),
        _ => None,
    }
}
