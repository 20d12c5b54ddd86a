//! Error kinds, which classify every failure (docs/semantics.md, Errors).

use serde::{Deserialize, Serialize};

/// The kind of an error. Each kind has a stable name, so that scripts can test for the kind. The
/// kind also determines the exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// A session, label or file that the request names does not exist.
    NotFound,
    /// An argument is malformed or out of the valid range, or the arguments do not fit together.
    InvalidArgs,
    /// The session's permission ceiling or the operating system forbids the operation. The ceiling
    /// is the set of permissions that the session may use at most.
    PermissionDenied,
    /// Another writer changed something first that the operation needs, such as a session or an
    /// imported file. Or its present state does not allow the operation. Where possible, the error's
    /// details describe that state.
    Conflict,
    /// The requested id or label is already in use. The id of a deleted session also counts as in
    /// use.
    AlreadyExists,
    /// The session still has branch children that inherit its events, so it cannot be deleted.
    HasChildren,
    /// A runtime has leased the session, or another process has locked the store.
    Busy,
    /// This program does not support the kind or the version of the store or file.
    Unsupported,
    /// Stored bytes are damaged.
    Corrupt,
    /// A history refers to events of an ancestor that the store no longer has.
    MissingAncestor,
    /// The parent links of sessions form a cycle.
    LineageCycle,
    /// Any other failure, such as a full disk or a failed read.
    Internal,
    /// The user interrupted the operation, for example with Ctrl-C.
    Interrupted,
    /// A budget is used up, so no further request is sent to a model.
    BudgetExceeded,
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
            Self::BudgetExceeded => 7,
            Self::Interrupted => 130,
        }
    }

    /// Returns the kind's name as errors in JSON contain it, such as `not_found`.
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
            Self::BudgetExceeded => "budget_exceeded",
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
