//! Reports that stores make about themselves: problems, freed space and the results of checks.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{AttachmentId, ErrorKind, SessionId};

/// The result of `verify`, which checks one session or everything in a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// The number of sessions checked.
    pub sessions: u64,
    /// The number of events read. An event that several sessions share counts once.
    pub events: u64,
    /// The problems that the check found.
    pub problems: Vec<Problem>,
    /// The sessions whose file ends with a write that was cut short. No read shows its bytes, and
    /// the next write to the session removes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<SessionId>,
}

/// One problem in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// The id of the affected session, if it can be determined.
    pub session_id: Option<SessionId>,
    /// The log position of the affected event, from 0, if it can be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The attachment, if the problem is a missing or damaged attachment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<AttachmentId>,
    /// The kind of error, such as `corrupt`.
    pub kind: ErrorKind,
    /// A description of the problem.
    pub message: String,
}

/// The result of a garbage collection (`gc`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Collected {
    /// The number of bytes returned to the file system.
    pub freed_bytes: u64,
    /// The number of segments removed, because no session needed them any more. A segment consists
    /// of the events that are stored with one session.
    pub segments: u64,
    /// The number of events in all removed segments.
    pub events: u64,
    /// The number of attachments removed, because no event names them any more.
    pub attachments: u64,
    /// The number of sessions that were erased from the trash.
    #[serde(default)]
    pub sessions: u64,
}

/// The result of `pack`, which compresses idle families. A family is a root session and its
/// descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Packed {
    /// The number of bytes returned to the file system.
    pub freed_bytes: u64,
    /// The number of events that were compressed.
    pub events: u64,
    /// The number of session histories whose many small stored ranges were joined into larger
    /// ranges.
    pub histories: u64,
}

/// The result of one health check of the command `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// The name of the check, in lower case with `_` between words.
    pub name: Cow<'static, str>,
    /// The verdict of the check: ok, warning or problem.
    pub status: CheckStatus,
    /// What the check found, as text for people.
    pub message: String,
    /// What the user can do about the finding: a command or a sentence. Absent if there is no
    /// suggestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The kind of error, if the status is `problem`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
}

/// The verdict of a health check of the command `doctor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// The check found no problem.
    Ok,
    /// The store works, but something needs attention.
    Warning,
    /// The store, or a part of it, cannot be used.
    Problem,
}
