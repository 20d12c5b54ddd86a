//! Reports that stores make about themselves: problems, freed space and the results of checks.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{AttachmentId, ErrorKind, SessionId};

/// The result of a check of everything stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// The number of sessions checked.
    pub sessions: u64,
    /// The number of events read; shared events count once.
    pub events: u64,
    /// The problems found.
    pub problems: Vec<Problem>,
}

/// One problem in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// The session, if it can be determined.
    pub session_id: Option<SessionId>,
    /// The log position, if it can be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The attachment that is missing or damaged, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<AttachmentId>,
    /// The kind of error.
    pub kind: ErrorKind,
    /// A description of the problem.
    pub message: String,
}

/// The result of a garbage collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Collected {
    /// The number of bytes returned to the file system.
    pub freed_bytes: u64,
    /// The number of segments removed because no session needed them.
    pub segments: u64,
    /// The number of events in them.
    pub events: u64,
    /// The number of attachments removed because no event names them.
    pub attachments: u64,
}

/// The result of packing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Packed {
    /// Bytes given back to the file system.
    pub freed_bytes: u64,
    /// The number of events that were compressed.
    pub events: u64,
    /// The number of fragmented histories that were compacted.
    pub histories: u64,
}

/// One check of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// The name of the check: one word, or several joined by `_`.
    pub name: Cow<'static, str>,
    /// The verdict.
    pub status: CheckStatus,
    /// The finding, in words.
    pub message: String,
    /// What to do about it: a command or a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The kind of error, for a problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
}

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// No problem.
    Ok,
    /// It works, but needs attention.
    Warning,
    /// The store cannot be used, or only in part.
    Problem,
}
