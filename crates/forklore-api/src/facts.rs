//! The facts of an error: machine-readable details in addition to its kind.

use forklore_core::workspace::Workspace;
use forklore_core::{AttachmentId, Label, OpenCall, Selector, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A session that matches the caller's reference (such as a label), in a workspace that was not
/// searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// The label of the session that matches the reference.
    pub label: Label,
    /// The id of the session that matches the reference. Unlike a label, the id refers to the
    /// session from every workspace.
    pub session_id: SessionId,
    /// The workspace of the session that matches the reference.
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
    /// Details of the error that a selector (a position in a log) names no position of the
    /// session's log.
    OutOfRange {
        /// The selector that the caller passed; `end` if the caller passed none.
        #[serde(rename = "asked")]
        requested: Selector,
        /// The text `out_of_range`, which identifies this error.
        reason: String,
        /// The id of the session in which the selector was resolved.
        session_id: SessionId,
        /// A description of the positions that a valid selector could name in this session.
        valid: String,
    },
    /// Details of the error that several events of the session have the event id that a selector
    /// names.
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
    /// Details of the error that a fork would inherit no event, although the caller did not request
    /// an empty fork. Only the selectors `start` and `index:0` request an empty fork.
    NothingToFork {
        /// The selector (a position in a log) that the caller passed.
        #[serde(rename = "asked")]
        requested: Selector,
        /// The text `nothing_to_fork`, which identifies this error.
        reason: String,
        /// The id of the session to fork.
        session_id: SessionId,
    },
    /// Details of the error that tool calls have no result at the cut (position) of a fork. Only a
    /// fork with the tool-call policy `error` fails with this error.
    OpenCalls {
        /// The first 20 tool calls that have no result at the cut of the fork.
        calls: Vec<OpenCall>,
        /// The number of tool calls that have no result at the cut of the fork.
        count: usize,
        /// The id of the session to fork.
        session_id: SessionId,
    },
    /// Details of the error that branches prevent the deletion of a session. The branches were
    /// forked from the session and do not have their own copy of their history.
    HasChildren {
        /// The ids of the first 20 branches that depend on the session.
        children: Vec<SessionId>,
        /// The number of branches that depend on the session.
        count: usize,
        /// The id of the session to delete.
        session_id: SessionId,
    },
    /// Details of the error that the session has another head than the caller expected. Another
    /// writer appended first.
    Conflict {
        /// The head `seq` that the caller expected; -1 for an empty log.
        expected: i64,
        /// The actual head `seq` of the session; -1 for an empty log.
        head_seq: i64,
        /// The id of the session that has another head than the caller expected.
        session_id: SessionId,
    },
    /// Details of the error that another runtime (a process that runs turns) has leased the
    /// session. The field `free_in_seconds` has the remaining time of the lease.
    Running {
        /// The number of seconds until the other runtime's lease expires, rounded up. The other
        /// runtime may renew the lease.
        free_in_seconds: u64,
        /// The name of the runtime that has leased the session. `null` if unknown.
        owner: Option<String>,
        /// The id of the leased session.
        session_id: SessionId,
    },
    /// Details of the error that a lease prevents the operation. Another runtime (a process that
    /// runs turns) has leased the session, or the caller has lost its own lease.
    Leased {
        /// The name of the runtime that has leased the session. If the caller has lost its own
        /// lease: the name of the caller.
        owner: String,
        /// The id of the leased session.
        session_id: SessionId,
    },
    /// Details of the error that the requested label is in use. Another session of the same family
    /// (a root with all its descendants) has this label.
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
    /// Details of the error that bytes in the store are damaged.
    Damage {
        /// A description of the location of the damaged bytes in the store.
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
    /// Details of the error that the requested child id is in use. The id belongs to an existing
    /// session that differs from the requested child.
    OtherChild {
        /// Everything that differs between the existing session and the requested child, in words.
        differs: String,
        /// The id of the existing session. The caller requested the same id for the child.
        session_id: SessionId,
    },
    /// Details of the error that a fork would be too deep: it would have too many ancestors.
    TooDeep {
        /// The depth of the session to fork: the number of parent links up to the nearest session
        /// that needs no ancestor. Such a session is a root, a delegate (the session of a
        /// sub-agent), or has its own copy of its history. Counting stops at `max_fork_depth`.
        links: u64,
        /// The maximum depth of a fork, counted in the same way as `links`.
        max_fork_depth: u64,
        /// The id of the session to fork.
        session_id: SessionId,
    },
    /// Details of the error that an imported file cannot be restored. Sessions that were imported
    /// from the file were deleted, or its stored bytes were erased.
    SourceGone {
        /// The number of deleted sessions that were imported from the file. 0 if only stored bytes
        /// of the file were erased.
        count: usize,
        /// The ids of the first 20 deleted sessions that were imported from the file.
        deleted: Vec<SessionId>,
    },
    /// Details of the error that an imported file cannot be restored, because an event of it was
    /// redacted.
    SourceRedacted {
        /// Why the event was redacted.
        reason: String,
        /// The seq of the event in that session.
        seq: u64,
        /// The id of the session with the redacted event.
        session_id: SessionId,
    },
    /// Details of the error that a session reference (such as the prefix of an id) matches several
    /// sessions.
    Ambiguous {
        /// The ids of the first 10 sessions that match the reference.
        candidates: Vec<String>,
        /// The number of sessions that match the reference.
        count: usize,
    },
    /// Details of the error that a session reference (such as a label) matches only sessions
    /// outside the searched workspaces.
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
    /// Details of the error that a model did not answer, and that retries failed too or were not
    /// possible.
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
    /// Details of the error that stored data changed since the caller read it. A changed session
    /// head is not reported with this variant.
    What {
        /// What has changed, in words: for example `the source` for the stored bytes of an imported
        /// file.
        what: String,
    },
    /// Details of an error that concerns one session. The id of this session is the only field.
    Session {
        /// The id of the session that the error concerns.
        session_id: SessionId,
    },
    /// Details of an error for which this enum has no variant. The JSON object may be empty.
    Other(Map<String, Value>),
}

impl Facts {
    /// Creates the details of an error without details: an empty JSON object.
    #[must_use]
    pub fn none() -> Self {
        Self::Other(Map::new())
    }

    /// Creates error details with only the field `session_id`: the id of the session that the error
    /// concerns.
    #[must_use]
    pub fn session(session_id: &SessionId) -> Self {
        Self::Session { session_id: session_id.clone() }
    }

    /// Creates error details with only the field `reason`: a fixed identifier for why an argument
    /// is invalid.
    #[must_use]
    pub fn reason(reason: impl Into<String>) -> Self {
        Self::Reason { reason: reason.into() }
    }
}
