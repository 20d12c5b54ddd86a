//! The write that takes the content of stored events away (docs/semantics.md, Redaction).

use forklore_core::{Data, EventId, Origin, SessionId};
use serde::{Deserialize, Serialize};

use crate::sources::SourceId;

/// What one [`Write::Redact`](super::Write::Redact) takes away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redactions {
    /// The events whose payloads are replaced.
    pub events: Vec<EventRedaction>,
    /// The sessions that lose their titles. The records of operations lose the labels and titles of
    /// these sessions too.
    pub titles: Vec<SessionId>,
    /// The sources (imported files) whose stored bytes are erased, so that they cannot be restored.
    pub sources: Vec<SourceId>,
}

/// An event whose payload is replaced wherever the store has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRedaction {
    /// The session and seq where the event was first written.
    pub origin: Origin,
    /// The id that the event must have.
    pub event_id: EventId,
    /// The payload of the redacted event, which
    /// [`Redaction::payload_of`](forklore_core::Redaction::payload_of) returns.
    pub data: Data,
}

/// What a [`Write::Redact`](super::Write::Redact) has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redacted {
    /// The origins of the events whose payloads were replaced, in the order of the write. Events
    /// that were redacted before are left out.
    pub events: Vec<Origin>,
    /// The sessions that lost their titles.
    pub titles: Vec<SessionId>,
}
