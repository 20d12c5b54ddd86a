//! What a store does to files, and what a drive says to it.

use std::path::Path;

/// A file, whatever its name; 0 is one without a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node(pub u32);

/// A sector, in bytes: a disk overwrites it wholly or not at all.
pub const SECTOR: u64 = 512;

/// One operation.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// Opens a file that is there.
    Open(&'a Path),
    /// Makes a file.
    Create(&'a Path),
    /// Reads.
    Read(Node),
    /// Writes bytes at a place.
    Write(Node, &'a [u8], u64),
    /// Gives a file another length.
    SetLen(Node, u64),
    /// Makes durable what is in a file.
    Sync(Node),
    /// Gives a file another name.
    Rename {
        /// The name it has.
        from: &'a Path,
        /// The name it gets; a file that has it is gone.
        to: &'a Path,
    },
    /// Gives a file a further name.
    Link {
        /// A name it has.
        from: &'a Path,
        /// The name it gets, which nothing has.
        to: &'a Path,
    },
    /// Gives a file a time of change.
    Touch(Node),
    /// Removes a name.
    Remove {
        /// The name.
        path: &'a Path,
    },
    /// Makes a folder.
    MakeDir(&'a Path),
    /// Makes durable which names are in a folder.
    SyncDir(&'a Path),
    /// Reads which names are in a folder.
    Names,
}

/// Which operation it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "they are called like the operations")]
pub enum Shape {
    Open,
    Create,
    Read,
    Write,
    SetLen,
    Sync,
    Rename,
    Link,
    Touch,
    Remove,
    MakeDir,
    SyncDir,
    Names,
}

impl Operation<'_> {
    /// Which it is.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self {
            Self::Open(_) => Shape::Open,
            Self::Create(_) => Shape::Create,
            Self::Read(_) => Shape::Read,
            Self::Write(..) => Shape::Write,
            Self::SetLen(..) => Shape::SetLen,
            Self::Sync(_) => Shape::Sync,
            Self::Rename { .. } => Shape::Rename,
            Self::Link { .. } => Shape::Link,
            Self::Touch(_) => Shape::Touch,
            Self::Remove { .. } => Shape::Remove,
            Self::MakeDir(_) => Shape::MakeDir,
            Self::SyncDir(_) => Shape::SyncDir,
            Self::Names => Shape::Names,
        }
    }
}

impl Shape {
    /// Whether it needs room on the disk.
    #[must_use]
    pub fn needs_space(self) -> bool {
        matches!(self, Self::Create | Self::Write | Self::Link | Self::MakeDir)
    }

    /// Whether it changes what is on the disk, or what of it is durable.
    #[must_use]
    pub fn changes(self) -> bool {
        !matches!(self, Self::Open | Self::Read | Self::Names)
    }

    /// Whether it makes something durable.
    #[must_use]
    pub fn is_sync(self) -> bool {
        matches!(self, Self::Sync | Self::SyncDir)
    }
}

/// How many bytes of a write reach a file of `len` bytes when only `part` of it does: what is
/// overwritten changes in whole sectors.
#[must_use]
pub fn reaching(part: usize, at: u64, len: u64) -> usize {
    let end = at + part as u64;
    if end >= len {
        return part;
    }
    let sector = end - end % SECTOR;
    usize::try_from(sector.saturating_sub(at)).unwrap_or(0)
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Go,
    /// It fails, and nothing is done.
    Fail(Failure),
    /// So many bytes are written, then it fails.
    Short(usize, Failure),
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The device failed.
    Broken,
    /// There is no room.
    Full,
}
