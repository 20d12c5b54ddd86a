//! The journal of a drive: the changes to its files, in order.

use std::path::PathBuf;

use super::operation::{Node, Operation};

/// One entry in the journal of a simulated drive: a file operation that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file was created at this path. The node is the identity of the file.
    Made(PathBuf, Node),
    /// A file appeared at this path that was not created through the drive. Its content, the third
    /// field, is durable.
    Found(PathBuf, Node, Vec<u8>),
    /// The file at this path disappeared, without a removal through the drive. The removal is
    /// durable.
    Gone(PathBuf),
    /// Bytes were written at an offset, the third field.
    Wrote(Node, Vec<u8>, u64),
    /// The length of a file was set to this number of bytes.
    SetLen(Node, u64),
    /// A file was synced.
    Synced(Node),
    /// A file was renamed. The first field is the earlier path, the second field the new one.
    Renamed(PathBuf, PathBuf, Node),
    /// A file got an additional name (hard link), the first field.
    Linked(PathBuf, Node),
    /// A name of a file was removed.
    Removed(PathBuf),
    /// A directory was created.
    MadeDir(PathBuf),
    /// A directory was synced.
    SyncedDir(PathBuf),
    /// Not an operation: a mark that shows when a step of the test's workload began or was
    /// acknowledged.
    Mark(Mark),
}

/// A point in the workload that a test runs on a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The step of the workload with this number began.
    Begun(usize),
    /// The step of the workload with this number was acknowledged by the store.
    Acknowledged(usize),
}

/// Returns the journal entry for an operation. Returns `None` for operations that the journal does
/// not record, and for those that add, rename or remove a file name, which the drive records
/// itself.
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
