//! The facts of an error: machine-readable details in addition to its kind.

use forklore_core::workspace::Workspace;
use forklore_core::{AttachmentId, Label, OpenCall, Selector, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A session that matches a reference by the caller, but belongs to a workspace that was not
/// searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// The label of the session.
    pub label: Label,
    /// The id of the session. Unlike a label, the id refers to the session from every workspace.
    pub session_id: SessionId,
    /// The workspace of the session.
    pub workspace: Workspace,
}

/// The details of an error. Each variant has the fields of one kind of failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, deny_unknown_fields)]
#[non_exhaustive]
pub enum Facts {
    /// Details of the error that a configuration file has an invalid line.
    Configuration {
        /// The number of the invalid line, from 1. `null` if unknown.
        line: Option<usize>,
        /// The path of the configuration file.
        path: String,
    },
    /// Details of the error that a selector names no position in the session.
    OutOfRange {
        /// The selector (a position in a log) that the caller passed.
        #[serde(rename = "asked")]
        requested: Selector,
        /// The text `out_of_range`, which identifies this error.
        reason: String,
        /// The id of the session in which the selector was resolved.
        session_id: SessionId,
        /// The positions that the selector could name, as text.
        valid: String,
    },
    /// Details of the error that a selector names an event id that several events of the session
    /// have.
    ManyEvents {
        /// The number of events with the event id of the selector.
        count: usize,
        /// The text `ambiguous_event`, which identifies this error.
        reason: String,
        /// The log positions of the first 20 events with the event id of the selector.
        seqs: Vec<u64>,
        /// The id of the session in which the selector was resolved.
        session_id: SessionId,
    },
    /// Details of the error that a fork would inherit no event, although its selector is not
    /// `start` or `index:0`.
    NothingToFork {
        /// The selector (a position in a log) that the caller passed.
        #[serde(rename = "asked")]
        requested: Selector,
        /// The text `nothing_to_fork`, which identifies this error.
        reason: String,
        /// The id of the session to fork.
        session_id: SessionId,
    },
    /// Details of the error that a fork would leave tool calls open, while its tool-call policy is
    /// `error`.
    OpenCalls {
        /// The first 20 tool calls without a result at the cut.
        calls: Vec<OpenCall>,
        /// The number of tool calls without a result at the cut.
        count: usize,
        /// The id of the session to fork.
        session_id: SessionId,
    },
    /// Details of the error that a session cannot be deleted because branches depend on it. Such a
    /// branch was forked from the session and not detached.
    HasChildren {
        /// The ids of the first 20 branches that depend on the session.
        children: Vec<SessionId>,
        /// The number of branches that depend on the session.
        count: usize,
        /// The id of the session to delete.
        session_id: SessionId,
    },
    /// Details of the error that the session's head is not the one that the caller expected:
    /// another writer appended first.
    Conflict {
        /// The head `seq` that the caller expected; -1 for an empty log.
        expected: i64,
        /// The actual head `seq` of the session; -1 for an empty log.
        head_seq: i64,
        /// The id of the session that has another head.
        session_id: SessionId,
    },
    /// Details of the error that another runtime (a process that runs turns) has leased the
    /// session. They include the remaining time of the lease.
    Running {
        /// The number of seconds until the other runtime's lease expires, rounded up. The other
        /// runtime may renew the lease.
        free_in_seconds: u64,
        /// The name of the runtime that has leased the session. `null` if unknown.
        owner: Option<String>,
        /// The id of the leased session.
        session_id: SessionId,
    },
    /// Details of the error that another runtime has leased the session, or that the caller has
    /// lost its own lease.
    Leased {
        /// The name of a runtime: of the one that has leased the session, or of the caller if the
        /// error is that the caller has lost its own lease.
        owner: String,
        /// The id of the session that the lease is about.
        session_id: SessionId,
    },
    /// Details of the error that another session of the family (a root with all its descendants)
    /// has the label.
    LabelInUse {
        /// The requested label, which another session already uses.
        label: Label,
        /// The id of the session that already uses the requested label.
        session_id: SessionId,
    },
    /// Details of the error that the store was deleted or replaced, or can no longer be written.
    Unwritable {
        /// The path of the store that cannot be written.
        #[serde(rename = "place")]
        location: String,
    },
    /// Details of the error that stored bytes are damaged.
    Damage {
        /// The location of the damaged bytes.
        #[serde(rename = "place")]
        location: String,
        /// The log position of the damaged event. `null` if unknown.
        seq: Option<u64>,
        /// The id of the session that the bytes belong to. `null` if unknown.
        session_id: Option<SessionId>,
    },
    /// Details of the error that the store lacks events that a session inherits.
    MissingAncestor {
        /// A description of the missing events.
        missing: String,
        /// The id of the session that inherits the missing events.
        session_id: SessionId,
    },
    /// Details of the error that the requested child id belongs to an existing session that differs
    /// from the requested child.
    OtherChild {
        /// What differs between the existing session and the requested child, in words.
        differs: String,
        /// The id of the existing session, which is the requested child id.
        session_id: SessionId,
    },
    /// Details of the error that a fork would be too deep: it would have too many ancestors.
    TooDeep {
        /// The number of parent links above the parent session. Links beyond the limit are not
        /// counted.
        links: u64,
        /// The largest number of parent links that a fork may have above it.
        max_fork_depth: u64,
        /// The id of the session to fork.
        session_id: SessionId,
    },
    /// Details of the error that an imported file cannot be restored because sessions from it were
    /// deleted.
    SourceGone {
        /// The number of deleted sessions that were imported from the file.
        count: usize,
        /// The ids of the first 20 deleted sessions that were imported from the file.
        deleted: Vec<SessionId>,
    },
    /// Details of the error that a reference by the caller matches several sessions.
    Ambiguous {
        /// The ids of the first 10 sessions that match the reference.
        candidates: Vec<String>,
        /// The number of sessions that match the reference.
        count: usize,
    },
    /// Details of the error that a reference by the caller matches only sessions of workspaces that
    /// were not searched.
    Elsewhere {
        /// The first 10 sessions that match the reference, with their workspaces.
        elsewhere: Vec<Elsewhere>,
    },
    /// Details of the error that the text of a query has a syntax error.
    Syntax {
        /// The column of the syntax error in its line, from 1.
        column: u64,
        /// The number of the line with the syntax error, from 1.
        line: u64,
        /// The text of the line with the syntax error.
        text: String,
    },
    /// Details of the error that a hook (code of the application) denied an operation.
    Denied {
        /// The name of the hook that denied the operation.
        by: String,
        /// Why the hook denied the operation.
        reason: String,
        /// The denied operation in words, for example `the prompt`.
        what: String,
    },
    /// Details of the error that a model did not answer, also after retries.
    NoAnswer {
        /// The number of attempts to call the model.
        attempts: u32,
        /// The provider that serves the model.
        provider: String,
    },
    /// Details of the error that a model cannot be called yet, for example because an API key is
    /// missing.
    Provider {
        /// The provider that serves the model.
        provider: String,
    },
    /// Details of the error that an event of a batch is invalid.
    Line {
        /// The number of the invalid event in the batch, from 1.
        line: usize,
    },
    /// Details of the error that an argument is invalid.
    Reason {
        /// Why the argument is invalid, as a fixed identifier for scripts.
        reason: String,
    },
    /// Details of the error that a child session requests a permission that its parent lacks.
    Permission {
        /// The name of the permission that the parent lacks.
        permission: String,
    },
    /// Details of the error that the store does not have an attachment.
    Attachment {
        /// The reference of the missing attachment: `sha256:` and the digest of its bytes.
        r#ref: AttachmentId,
    },
    /// Details of the error that something other than a session's head changed since the caller
    /// read it.
    What {
        /// What has changed, in words: for example `the source`.
        what: String,
    },
    /// Details of an error about one session, without further fields.
    Session {
        /// The id of the session that the error is about.
        session_id: SessionId,
    },
    /// Details of an error for which this enum has no variant. The JSON object may be empty.
    Other(Map<String, Value>),
}

impl Facts {
    /// Creates an empty object, for errors without details.
    #[must_use]
    pub fn none() -> Self {
        Self::Other(Map::new())
    }

    /// Creates the details of an error that names only a session.
    #[must_use]
    pub fn session(session_id: &SessionId) -> Self {
        Self::Session { session_id: session_id.clone() }
    }

    /// Creates the details of an error that names only the reason why an argument is invalid.
    #[must_use]
    pub fn reason(reason: impl Into<String>) -> Self {
        Self::Reason { reason: reason.into() }
    }
}
