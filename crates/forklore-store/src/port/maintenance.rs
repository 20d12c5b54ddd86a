//! What checks and maintenance of a store come to.

use forklore_core::SessionId;
use serde::Serialize;

use crate::error::Error;

/// What a check of the whole store came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Sessions looked at.
    pub sessions: u64,
    /// Events read, shared ones once.
    pub events: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Something wrong in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The session, where known.
    pub session_id: Option<SessionId>,
    /// The log position, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The attachment that is missing or damaged, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachment: Option<forklore_core::AttachmentId>,
    /// The kind, like an error's.
    pub kind: forklore_core::ErrorKind,
    /// What is wrong, in words.
    pub message: String,
}

impl Problem {
    /// What an error says is wrong, with its place where it names one, else with this session.
    #[must_use]
    pub fn of(error: &Error, session: Option<&SessionId>) -> Self {
        let (named, seq) = match error {
            Error::Corrupt { session, seq, .. } => (session.as_ref(), *seq),
            Error::MissingAncestor { session, .. } => (Some(session), None),
            _ => (None, None),
        };
        let session_id = named.or(session).cloned();
        Self { session_id, seq, attachment: None, kind: error.kind(), message: error.to_string() }
    }
}

/// What a gc freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Collected {
    /// Bytes given back to the file system.
    pub freed_bytes: u64,
    /// Segments that nobody needed.
    pub segments: u64,
    /// Events in them.
    pub events: u64,
    /// Attachments that no event names; a store leaves them to its caller, who knows the names.
    pub attachments: u64,
}

/// What a pack came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Packed {
    /// Bytes given back to the file system.
    pub freed_bytes: u64,
    /// Events that take less space now.
    pub events: u64,
    /// Histories of many small pieces that were joined.
    pub histories: u64,
}
