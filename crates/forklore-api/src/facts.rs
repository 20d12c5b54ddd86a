//! The facts of an error: what a script may want to know besides its kind.

use forklore_core::workspace::Workspace;
use forklore_core::{AttachmentId, Label, OpenCall, Selector, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A session of another folder than the one where it was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Elsewhere {
    /// Its label.
    pub label: Label,
    /// Its id, by which it is found from everywhere.
    pub session_id: SessionId,
    /// Its folder.
    pub workspace: Workspace,
}

/// The facts of an error. Which ones there are follows from what was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, deny_unknown_fields)]
#[non_exhaustive]
pub enum Facts {
    /// A line of a configuration file is wrong.
    Configuration {
        /// The line, from 1.
        line: Option<usize>,
        /// The file.
        path: String,
    },
    /// A selector names no position in the session.
    OutOfRange {
        /// The selector.
        #[serde(rename = "asked")]
        requested: Selector,
        /// `out_of_range`.
        reason: String,
        /// The session.
        session_id: SessionId,
        /// The valid range, in words.
        valid: String,
    },
    /// Several events have the id of a selector.
    ManyEvents {
        /// How many.
        count: usize,
        /// `ambiguous_event`.
        reason: String,
        /// The log positions of the first 20.
        seqs: Vec<u64>,
        /// The session.
        session_id: SessionId,
    },
    /// A selector keeps nothing.
    NothingToFork {
        /// The selector.
        #[serde(rename = "asked")]
        requested: Selector,
        /// `nothing_to_fork`.
        reason: String,
        /// The session.
        session_id: SessionId,
    },
    /// The cut leaves calls open.
    OpenCalls {
        /// The first 20 calls.
        calls: Vec<OpenCall>,
        /// How many calls.
        count: usize,
        /// The session.
        session_id: SessionId,
    },
    /// Branch children still build on the session.
    HasChildren {
        /// The first 20 children.
        children: Vec<SessionId>,
        /// How many children.
        count: usize,
        /// The session.
        session_id: SessionId,
    },
    /// Another writer was faster.
    Conflict {
        /// The head that the caller expected.
        expected: i64,
        /// The real head.
        head_seq: i64,
        /// The session.
        session_id: SessionId,
    },
    /// Another runtime holds the session, for so long at most.
    Running {
        /// When the lease ends, unless it is renewed.
        free_in_seconds: u64,
        /// The runtime.
        owner: Option<String>,
        /// The session.
        session_id: SessionId,
    },
    /// A runtime holds the session, or held it.
    Leased {
        /// The runtime.
        owner: String,
        /// The session.
        session_id: SessionId,
    },
    /// Another session of the family has the label.
    LabelInUse {
        /// The label.
        label: Label,
        /// That session.
        session_id: SessionId,
    },
    /// Something at this place cannot be written.
    Unwritable {
        /// The place.
        #[serde(rename = "place")]
        location: String,
    },
    /// Stored bytes are damaged.
    Damage {
        /// Where the bytes are.
        #[serde(rename = "place")]
        location: String,
        /// The log position, if it is known.
        seq: Option<u64>,
        /// The session, if it is known.
        session_id: Option<SessionId>,
    },
    /// Inherited events are gone.
    MissingAncestor {
        /// What is missing.
        missing: String,
        /// The session.
        session_id: SessionId,
    },
    /// A session of this id is another child than the one asked for.
    OtherChild {
        /// What differs.
        differs: String,
        /// The session.
        session_id: SessionId,
    },
    /// The fork would be deeper than is allowed.
    TooDeep {
        /// The links of the parent.
        links: u64,
        /// How many are allowed.
        max_fork_depth: u64,
        /// The parent.
        session_id: SessionId,
    },
    /// Sessions of the file were deleted.
    SourceGone {
        /// How many.
        count: usize,
        /// The first 20.
        deleted: Vec<SessionId>,
    },
    /// A reference fits several things.
    Ambiguous {
        /// The first 10.
        candidates: Vec<String>,
        /// How many.
        count: usize,
    },
    /// A reference fits sessions of other folders only.
    Elsewhere {
        /// Those sessions, 10 at most.
        elsewhere: Vec<Elsewhere>,
    },
    /// A text is no query.
    Syntax {
        /// The column, from 1.
        column: u64,
        /// The line, from 1.
        line: u64,
        /// The line itself.
        text: String,
    },
    /// A hook denied it.
    Denied {
        /// The hook.
        by: String,
        /// Why.
        reason: String,
        /// What it denied.
        what: String,
    },
    /// The model did not answer.
    NoAnswer {
        /// How often it was called.
        attempts: u32,
        /// The provider.
        provider: String,
    },
    /// The model cannot be called yet.
    Provider {
        /// The provider.
        provider: String,
    },
    /// An event of a batch is wrong.
    Line {
        /// Its number, from 1.
        line: usize,
    },
    /// An argument is wrong.
    Reason {
        /// A word for scripts.
        reason: String,
    },
    /// The parent lacks a permission.
    Permission {
        /// The permission.
        permission: String,
    },
    /// The store lacks an attachment.
    Attachment {
        /// The attachment.
        r#ref: AttachmentId,
    },
    /// Something changed under the caller.
    What {
        /// What changed.
        what: String,
    },
    /// It is about one session.
    Session {
        /// The session.
        session_id: SessionId,
    },
    /// Facts that have no form of their own, or none.
    Other(Map<String, Value>),
}

impl Facts {
    /// No facts but the kind.
    #[must_use]
    pub fn none() -> Self {
        Self::Other(Map::new())
    }

    /// It is about this session.
    #[must_use]
    pub fn session(session_id: &SessionId) -> Self {
        Self::Session { session_id: session_id.clone() }
    }

    /// A word for scripts that says why an argument is wrong.
    #[must_use]
    pub fn reason(reason: impl Into<String>) -> Self {
        Self::Reason { reason: reason.into() }
    }
}
