//! The file operations of a store, and the drive's verdicts on them.

use std::path::Path;

/// The identity of a file, which does not depend on its names. 0 means a file without a name, such
/// as a temporary file of SQLite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node(pub u32);

/// The size of a sector in bytes. A disk overwrites a sector completely or not at all.
pub const SECTOR: u64 = 512;

/// One file operation that a store executes through the simulated drive.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// Opens an existing file.
    Open(&'a Path),
    /// Creates a file.
    Create(&'a Path),
    /// Reads from a file.
    Read(Node),
    /// Writes bytes at an offset, the third field.
    Write(Node, &'a [u8], u64),
    /// Sets the length of a file, in bytes.
    SetLen(Node, u64),
    /// Makes the content of a file durable.
    Sync(Node),
    /// Renames a file.
    Rename {
        /// The current name.
        from: &'a Path,
        /// The new name. An existing file of this name is replaced.
        to: &'a Path,
    },
    /// Adds a name to a file (hard link).
    Link {
        /// An existing name of the file.
        from: &'a Path,
        /// The additional name, which no file has yet.
        to: &'a Path,
    },
    /// Sets the modification time of a file.
    Touch(Node),
    /// Removes a name of a file.
    Remove {
        /// The name to remove.
        path: &'a Path,
    },
    /// Creates a directory.
    MakeDir(&'a Path),
    /// Makes the names in a directory durable.
    SyncDir(&'a Path),
    /// Lists the names in a directory.
    Names,
}

/// The kind of a file operation: the operation without its arguments.
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
    /// Returns the kind of the operation.
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
    /// Checks whether an operation of this kind needs disk space.
    #[must_use]
    pub fn needs_space(self) -> bool {
        matches!(self, Self::Create | Self::Write | Self::Link | Self::MakeDir)
    }

    /// Checks whether an operation of this kind changes the content of the disk, or makes content
    /// durable.
    #[must_use]
    pub fn changes(self) -> bool {
        !matches!(self, Self::Open | Self::Read | Self::Names)
    }

    /// Checks whether an operation of this kind makes a file or directory durable.
    #[must_use]
    pub fn is_sync(self) -> bool {
        matches!(self, Self::Sync | Self::SyncDir)
    }
}

/// Returns how many bytes of an interrupted write reach the disk. The write begins at offset `at`
/// of a file of `len` bytes, and is interrupted after the first `part` bytes. A disk overwrites
/// data in whole sectors, so an incomplete last sector does not reach the disk. If the write
/// extends the file, all `part` bytes reach the disk.
#[must_use]
pub fn reaching(part: usize, at: u64, len: u64) -> usize {
    let end = at + part as u64;
    if end >= len {
        return part;
    }
    let sector = end - end % SECTOR;
    usize::try_from(sector.saturating_sub(at)).unwrap_or(0)
}

/// The decision of the simulated drive whether an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The operation is executed without a failure.
    Go,
    /// The operation fails with this cause, without any effect.
    Fail(Failure),
    /// This many bytes are written, then the operation fails. Used for writes only.
    Short(usize, Failure),
}

/// The cause that the simulated drive gives for a failed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The device failed, which the store sees as an I/O error.
    Broken,
    /// The disk is full.
    Full,
}
