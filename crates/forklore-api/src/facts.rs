//! The facts of an error: machine-readable details in addition to its kind.

use forklore_core::workspace::Workspace;
use forklore_core::{AttachmentId, Label, OpenCall, Selector, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A session that matches a reference, but belongs to another workspace than the one searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// The label of the session.
    pub label: Label,
    /// The id of the session. A reference by id works from every workspace.
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
        /// The selector that the caller requested.
        #[serde(rename = "asked")]
        requested: Selector,
        /// Always `out_of_range`.
        reason: String,
        /// The id of the session.
        session_id: SessionId,
        /// The valid range, as text.
        valid: String,
    },
    /// The selector has an event id that several events of the session have.
    ManyEvents {
        /// The number of matching events.
        count: usize,
        /// Always `ambiguous_event`.
        reason: String,
        /// The log positions of the first 20 matching events.
        seqs: Vec<u64>,
        /// The id of the session.
        session_id: SessionId,
    },
    /// The fork would inherit no event, and the selector is not `start` or `index:0`.
    NothingToFork {
        /// The selector that the caller requested.
        #[serde(rename = "asked")]
        requested: Selector,
        /// Always `nothing_to_fork`.
        reason: String,
        /// The id of the session.
        session_id: SessionId,
    },
    /// The cut leaves tool calls open, and the tool-call policy of the fork is `error`.
    OpenCalls {
        /// The first 20 open calls.
        calls: Vec<OpenCall>,
        /// The number of open calls.
        count: usize,
        /// The id of the session.
        session_id: SessionId,
    },
    /// The session has branch children that were not detached, so it cannot be deleted.
    HasChildren {
        /// The ids of the first 20 of these children.
        children: Vec<SessionId>,
        /// The number of these children.
        count: usize,
        /// The id of the session.
        session_id: SessionId,
    },
    /// Another writer appended to the session first.
    Conflict {
        /// The head `seq` that the caller expected; -1 for an empty log.
        expected: i64,
        /// The actual head `seq` of the session.
        head_seq: i64,
        /// The id of the session.
        session_id: SessionId,
    },
    /// Another runtime has leased the session. This variant reports the remaining time of the
    /// lease.
    Running {
        /// The number of seconds until the lease expires, rounded up. The owner may renew the
        /// lease.
        free_in_seconds: u64,
        /// The name of the runtime that has the lease.
        owner: Option<String>,
        /// The id of the session.
        session_id: SessionId,
    },
    /// Another runtime has leased the session, or the caller has lost its own lease.
    Leased {
        /// The name of the runtime that has the lease, or of the caller that lost it.
        owner: String,
        /// The id of the session.
        session_id: SessionId,
    },
    /// Another session of the family already has the label.
    LabelInUse {
        /// The label that is in use.
        label: Label,
        /// The id of the session that has the label.
        session_id: SessionId,
    },
    /// The store was deleted or replaced, or can no longer be written.
    Unwritable {
        /// The path of the store.
        #[serde(rename = "place")]
        location: String,
    },
    /// Stored bytes are damaged.
    Damage {
        /// The location of the damaged bytes.
        #[serde(rename = "place")]
        location: String,
        /// The log position of the damaged event. `null` if unknown.
        seq: Option<u64>,
        /// The id of the session that the bytes belong to. `null` if unknown.
        session_id: Option<SessionId>,
    },
    /// The store no longer has events that the session inherits.
    MissingAncestor {
        /// A description of the missing events.
        missing: String,
        /// The id of the session.
        session_id: SessionId,
    },
    /// A session with the requested child id already exists, and differs from the requested child.
    OtherChild {
        /// What differs between the existing session and the requested child.
        differs: String,
        /// The id of the session.
        session_id: SessionId,
    },
    /// The fork would exceed the depth limit.
    TooDeep {
        /// The number of parent links above the parent session.
        links: u64,
        /// The largest number of links that the limit allows.
        max_fork_depth: u64,
        /// The id of the parent session.
        session_id: SessionId,
    },
    /// Sessions that were imported from the file were deleted, so the file cannot be restored.
    SourceGone {
        /// The number of deleted sessions.
        count: usize,
        /// The ids of the first 20 deleted sessions.
        deleted: Vec<SessionId>,
    },
    /// A reference by the caller matches several sessions or events.
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
    /// The text of a query has a syntax error.
    Syntax {
        /// The column number of the error in its line, from 1.
        column: u64,
        /// The line number of the error, from 1.
        line: u64,
        /// The text of the line with the error.
        text: String,
    },
    /// A hook denied the operation.
    Denied {
        /// The name of the hook.
        by: String,
        /// Why the hook denied the operation.
        reason: String,
        /// The operation that was denied.
        what: String,
    },
    /// The model did not answer.
    NoAnswer {
        /// The number of attempts to call the model.
        attempts: u32,
        /// The provider of the model.
        provider: String,
    },
    /// The model is not ready to be called.
    Provider {
        /// The provider of the model.
        provider: String,
    },
    /// An event of a batch is invalid.
    Line {
        /// The number of the event in the batch, from 1.
        line: usize,
    },
    /// An argument is invalid, for the reason given.
    Reason {
        /// The reason, as an identifier for scripts.
        reason: String,
    },
    /// The parent session lacks a permission that the child requests.
    Permission {
        /// The name of the permission.
        permission: String,
    },
    /// The store does not have the attachment.
    Attachment {
        /// The reference of the attachment.
        r#ref: AttachmentId,
    },
    /// The stored state changed since the caller read it.
    What {
        /// The name of what changed.
        what: String,
    },
    /// The error concerns one session.
    Session {
        /// The id of the session.
        session_id: SessionId,
    },
    /// Any other facts. The object may be empty.
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
