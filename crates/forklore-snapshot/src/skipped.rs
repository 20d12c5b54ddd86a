//! What a restore leaves as it is, and why.

use bstr::BString;

/// A path that was not restored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// The path, relative to the workspace.
    pub path: BString,
    /// The reason.
    pub reason: SkipReason,
}

/// Why a path was not restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SkipReason {
    /// Something is there that a snapshot does not have, for example a device, a large file or what a
    /// nested repository tracks that git could not read. It would be lost.
    NotInSnapshot,
    /// The file has several names (hard links), and all of them would change.
    HardLink,
    /// Another program changed it after the snapshot of the state before.
    Changed,
    /// A file belongs where a folder has files that the snapshot does not contain.
    FolderInUse,
}

impl SkipReason {
    /// Returns the name of the reason.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotInSnapshot => "not_in_snapshot",
            Self::HardLink => "hard_link",
            Self::Changed => "changed",
            Self::FolderInUse => "folder_in_use",
        }
    }
}
