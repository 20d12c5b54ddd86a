//! The journal of a drive: the changes to its files, in order.

use std::path::PathBuf;

use super::operation::{Node, Operation};

/// One journal entry: an operation that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file was created.
    Made(PathBuf, Node),
    /// A file was found that was not created through the drive. Its content, the third field, is
    /// durable.
    Found(PathBuf, Node, Vec<u8>),
    /// A file name no longer existed, without a removal through the drive. The removal is durable.
    Gone(PathBuf),
    /// Bytes were written at an offset, the third field.
    Wrote(Node, Vec<u8>, u64),
    /// The length of a file was set to this number of bytes.
    SetLen(Node, u64),
    /// A file was synced.
    Synced(Node),
    /// A file was renamed.
    Renamed(PathBuf, PathBuf, Node),
    /// A file got an additional name (hard link), the first field.
    Linked(PathBuf, Node),
    /// A name was removed.
    Removed(PathBuf),
    /// A directory was created.
    MadeDir(PathBuf),
    /// A directory was synced.
    SyncedDir(PathBuf),
    /// Not an operation: a mark that the work on the store reached this point.
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

/// Returns the journal entry for an operation that neither adds, renames nor removes a file name.
/// `None` if the operation changes nothing that the journal records.
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
