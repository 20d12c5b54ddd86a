//! What was done to the files under a drive, in order.

use std::path::PathBuf;

use super::operation::{Node, Operation};

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file was made.
    Made(PathBuf, Node),
    /// A file was found that was not made through the drive, durable with these bytes.
    Found(PathBuf, Node, Vec<u8>),
    /// A name was found gone for good.
    Gone(PathBuf),
    /// Bytes were written.
    Wrote(Node, Vec<u8>, u64),
    /// A file was given another length.
    SetLen(Node, u64),
    /// A file was synced.
    Synced(Node),
    /// A file was given another name.
    Renamed(PathBuf, PathBuf, Node),
    /// A file was given a further name.
    Linked(PathBuf, Node),
    /// A name was removed.
    Removed(PathBuf),
    /// A folder was made.
    MadeDir(PathBuf),
    /// A folder was synced.
    SyncedDir(PathBuf),
    /// Nothing: the work on the store got here.
    Mark(Mark),
}

/// Where the work on a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The step of this number begins.
    Begun(usize),
    /// The step of this number was acknowledged.
    Acknowledged(usize),
}

/// The entry of an operation that is not about a name.
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
