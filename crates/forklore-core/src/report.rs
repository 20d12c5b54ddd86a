//! Reports that stores make about themselves: problems, freed space and the results of checks.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{AttachmentId, ErrorKind, SessionId};

/// What a check of everything stored came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Sessions looked at.
    pub sessions: u64,
    /// Events read, shared ones once.
    pub events: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Something wrong in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// The session, if it is known.
    pub session_id: Option<SessionId>,
    /// The log position, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The attachment that is missing or damaged, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<AttachmentId>,
    /// The kind, like an error's.
    pub kind: ErrorKind,
    /// What is wrong, in words.
    pub message: String,
}

/// What a garbage collection freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Collected {
    /// Bytes given back to the file system.
    pub freed_bytes: u64,
    /// Segments that nobody needed.
    pub segments: u64,
    /// Events in them.
    pub events: u64,
    /// Attachments that no event names.
    pub attachments: u64,
}

/// What a pack came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Packed {
    /// Bytes given back to the file system.
    pub freed_bytes: u64,
    /// Events that take less space now.
    pub events: u64,
    /// Histories of many small pieces that were joined.
    pub histories: u64,
}

/// One thing that a checkup looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// What was looked at: one word, or several joined by `_`.
    pub name: Cow<'static, str>,
    /// Whether it is well.
    pub status: CheckStatus,
    /// What was found, in words.
    pub message: String,
    /// What to do about it, as a command of the face that answers, or a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The kind of a problem, like an error's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ErrorKind>,
}

/// Whether a thing that a checkup looked at is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// It is.
    Ok,
    /// It works, but somebody should know.
    Warning,
    /// The store cannot be used, or not wholly.
    Problem,
}
