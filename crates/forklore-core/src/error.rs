//! The error kinds that every failure is classified by (docs/semantics.md, Errors).

use serde::{Deserialize, Serialize};

/// What went wrong, as a script may rely on it; the exit code follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The session, label or file named does not exist.
    NotFound,
    /// What was asked makes no sense, or lies outside the valid range.
    InvalidArgs,
    /// A ceiling or the operating system forbids it.
    PermissionDenied,
    /// Somebody else was faster; the answer names the real state.
    Conflict,
    /// An id or label is taken, or was and stays reserved.
    AlreadyExists,
    /// Branch children still build on the session.
    HasChildren,
    /// A runtime holds the session, or the store is locked.
    Busy,
    /// The store or the file is of a kind or version this program does not handle.
    Unsupported,
    /// Stored bytes are damaged.
    Corrupt,
    /// A span promises events that are no longer there.
    MissingAncestor,
    /// Parent links run in a circle.
    LineageCycle,
    /// Anything else: a full disk, a failed read.
    Internal,
    /// The user stopped it.
    Interrupted,
}

impl ErrorKind {
    /// Returns the exit code of a program that ends with this error.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::NotFound | Self::InvalidArgs => 2,
            Self::PermissionDenied => 3,
            Self::Conflict | Self::AlreadyExists | Self::HasChildren | Self::Busy => 4,
            Self::Unsupported => 5,
            Self::Corrupt | Self::MissingAncestor | Self::LineageCycle => 6,
            Self::Internal => 1,
            Self::Interrupted => 130,
        }
    }

    /// Returns the kind's name in the error envelope.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::InvalidArgs => "invalid_args",
            Self::PermissionDenied => "permission_denied",
            Self::Conflict => "conflict",
            Self::AlreadyExists => "already_exists",
            Self::HasChildren => "has_children",
            Self::Busy => "busy",
            Self::Unsupported => "unsupported",
            Self::Corrupt => "corrupt",
            Self::MissingAncestor => "missing_ancestor",
            Self::LineageCycle => "lineage_cycle",
            Self::Internal => "internal",
            Self::Interrupted => "interrupted",
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
