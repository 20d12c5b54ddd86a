//! The facts of an error: machine-readable details besides its kind.

use forklore_core::workspace::Workspace;
use forklore_core::{AttachmentId, Label, OpenCall, Selector, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A session that was found, but in another workspace than the one searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// The label of the session.
    pub label: Label,
    /// The id of the session. It finds the session from every workspace.
    pub session_id: SessionId,
    /// The workspace of the session.
    pub workspace: Workspace,
}

/// The facts of an error. The variant depends on what failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, deny_unknown_fields)]
#[non_exhaustive]
pub enum Facts {
    /// A line of a configuration file is invalid.
    Configuration {
        /// The line number, from 1.
        line: Option<usize>,
        /// The path of the file.
        path: String,
    },
    /// A selector names no position in the session.
    OutOfRange {
        /// The selector.
        #[serde(rename = "asked")]
        requested: Selector,
        /// Always `out_of_range`.
        reason: String,
        /// The session.
        session_id: SessionId,
        /// The valid range, as text.
        valid: String,
    },
    /// The event id of a selector matches several events.
    ManyEvents {
        /// The number of matching events.
        count: usize,
        /// Always `ambiguous_event`.
        reason: String,
        /// The log positions of the first 20 matches.
        seqs: Vec<u64>,
        /// The session.
        session_id: SessionId,
    },
    /// The cut of a fork would include no event.
    NothingToFork {
        /// The selector.
        #[serde(rename = "asked")]
        requested: Selector,
        /// Always `nothing_to_fork`.
        reason: String,
        /// The session.
        session_id: SessionId,
    },
    /// The cut leaves tool calls open.
    OpenCalls {
        /// The first 20 open calls.
        calls: Vec<OpenCall>,
        /// The number of open calls.
        count: usize,
        /// The session.
        session_id: SessionId,
    },
    /// The session has branch children that still need it.
    HasChildren {
        /// The first 20 children.
        children: Vec<SessionId>,
        /// The number of children.
        count: usize,
        /// The session.
        session_id: SessionId,
    },
    /// Another writer appended to the session first.
    Conflict {
        /// The head `seq` that the caller expected.
        expected: i64,
        /// The actual head `seq`.
        head_seq: i64,
        /// The session.
        session_id: SessionId,
    },
    /// Another runtime has leased the session; reported with the remaining time of the lease.
    Running {
        /// Seconds until the lease expires, rounded up, unless its owner renews it.
        free_in_seconds: u64,
        /// The owner of the lease.
        owner: Option<String>,
        /// The session.
        session_id: SessionId,
    },
    /// A runtime has leased the session, or the caller lost its lease.
    Leased {
        /// The owner of the lease.
        owner: String,
        /// The session.
        session_id: SessionId,
    },
    /// Another session of the family already has the label.
    LabelInUse {
        /// The label.
        label: Label,
        /// The session that has the label.
        session_id: SessionId,
    },
    /// The store at this location is gone or cannot be written.
    Unwritable {
        /// The location.
        #[serde(rename = "place")]
        location: String,
    },
    /// Stored bytes are damaged.
    Damage {
        /// The location of the damaged bytes.
        #[serde(rename = "place")]
        location: String,
        /// The log position. `null` if unknown.
        seq: Option<u64>,
        /// The session. `null` if unknown.
        session_id: Option<SessionId>,
    },
    /// Inherited events are missing.
    MissingAncestor {
        /// What is missing.
        missing: String,
        /// The session.
        session_id: SessionId,
    },
    /// A session with the requested child id exists, but it is another child than the requested
    /// one.
    OtherChild {
        /// What differs.
        differs: String,
        /// The session.
        session_id: SessionId,
    },
    /// The fork would exceed the depth limit.
    TooDeep {
        /// The number of links above the parent.
        links: u64,
        /// The largest number of links allowed.
        max_fork_depth: u64,
        /// The parent.
        session_id: SessionId,
    },
    /// Sessions that were imported from the file were deleted.
    SourceGone {
        /// The number of deleted sessions.
        count: usize,
        /// The first 20 deleted sessions.
        deleted: Vec<SessionId>,
    },
    /// A reference matches several sessions or events.
    Ambiguous {
        /// The first 10 matches.
        candidates: Vec<String>,
        /// The number of matches.
        count: usize,
    },
    /// A reference matches only sessions of other workspaces.
    Elsewhere {
        /// The first 10 matching sessions.
        elsewhere: Vec<Elsewhere>,
    },
    /// The text of a query is invalid.
    Syntax {
        /// The column number, from 1.
        column: u64,
        /// The line number, from 1.
        line: u64,
        /// The invalid line.
        text: String,
    },
    /// A hook denied the operation.
    Denied {
        /// The name of the hook.
        by: String,
        /// Why the hook denied it.
        reason: String,
        /// What was denied.
        what: String,
    },
    /// The model did not answer.
    NoAnswer {
        /// The number of attempts.
        attempts: u32,
        /// The provider.
        provider: String,
    },
    /// The model is not ready to be called.
    Provider {
        /// The provider.
        provider: String,
    },
    /// An event of a batch is invalid.
    Line {
        /// The number of the event, from 1.
        line: usize,
    },
    /// An argument is invalid.
    Reason {
        /// The reason, as an identifier for scripts.
        reason: String,
    },
    /// The parent lacks a permission.
    Permission {
        /// The name of the permission.
        permission: String,
    },
    /// The store does not have an attachment.
    Attachment {
        /// The reference of the attachment.
        r#ref: AttachmentId,
    },
    /// Something changed while the caller worked with it.
    What {
        /// What changed.
        what: String,
    },
    /// The error is about one session.
    Session {
        /// The session.
        session_id: SessionId,
    },
    /// Facts without a variant of their own. May be empty.
    Other(Map<String, Value>),
}

impl Facts {
    /// Creates facts without any details.
    #[must_use]
    pub fn none() -> Self {
        Self::Other(Map::new())
    }

    /// Creates facts that name only a session.
    #[must_use]
    pub fn session(session_id: &SessionId) -> Self {
        Self::Session { session_id: session_id.clone() }
    }

    /// Creates facts that name only the reason why an argument is invalid.
    #[must_use]
    pub fn reason(reason: impl Into<String>) -> Self {
        Self::Reason { reason: reason.into() }
    }
}
