//! What a snapshot does not contain, and why.

use std::fmt;

use bstr::BString;

/// A path that a snapshot does not contain, or whose contents may be of several moments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// The path, relative to the workspace. It need not be UTF-8.
    pub path: BString,
    /// The reason.
    pub reason: Reason,
}

/// Why a snapshot does not contain a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// The file is larger than [`Taking::largest_file`](crate::Taking::largest_file).
    Large,
    /// The file or folder cannot be read.
    Unreadable,
    /// A socket or a named pipe.
    Channel,
    /// A device.
    Device,
    /// git stores no files of this name: `.git` with capital letters.
    Name,
    /// The file changed each time that it was read. It is in the snapshot as it was read last.
    Changing,
}

impl Reason {
    pub(crate) const ALL: [Self; 6] =
        [Self::Large, Self::Unreadable, Self::Channel, Self::Device, Self::Name, Self::Changing];

    /// Returns the name of the reason, one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Large => "large",
            Self::Unreadable => "unreadable",
            Self::Channel => "channel",
            Self::Device => "device",
            Self::Name => "name",
            Self::Changing => "changing",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
