//! The rules of redactions: which payloads are replaced, and what is recorded about it
//! (docs/semantics.md, Redaction).

use std::collections::HashMap;

use forklore_core::operation::Outcome;
use forklore_core::{Event, Redaction, SessionId};

use crate::error::{Error, Result};
use crate::port::{EventRedaction, Redacted, Redactions};

/// Checks whether a redaction replaces the payload of a stored event. It does not if the event was
/// redacted before.
///
/// # Errors
/// `Stale` if the stored event is not the one that the caller has read.
pub fn is_redacted_by(stored: &Event, redaction: &EventRedaction) -> Result<bool> {
    if stored.id != redaction.event_id {
        let message = format!(
            "event {} of session {} is not {}",
            redaction.origin.seq, redaction.origin.session_id, redaction.event_id
        );
        return Err(Error::Stale { what: "the event".into(), message });
    }
    Ok(Redaction::of(&stored.data).is_none())
}

/// Returns what a redaction did, for the record of its operation: one outcome for each session that
/// wrote a redacted event or lost its title.
pub(super) fn outcomes(write: &Redactions, done: &Redacted) -> Vec<Outcome> {
    let redactions: HashMap<_, _> =
        write.events.iter().map(|one| (&one.origin, Redaction::of(&one.data))).collect();
    let mut outcomes: Vec<Outcome> = Vec::new();
    for origin in &done.events {
        let Some(Some(redaction)) = redactions.get(origin) else { continue };
        add(&mut outcomes, &origin.session_id, 1, redaction.bytes, &redaction.reason);
    }
    for session in &done.titles {
        add(&mut outcomes, session, 0, 0, "");
    }
    outcomes
}

fn add(outcomes: &mut Vec<Outcome>, session: &SessionId, more: u64, size: u64, why: &str) {
    let earlier = outcomes.iter_mut().find(|outcome| outcome.session() == session);
    if let Some(Outcome::Redacted { events, bytes, .. }) = earlier {
        *events += more;
        *bytes += size;
        return;
    }
    let (session_id, reason) = (session.clone(), why.to_owned());
    outcomes.push(Outcome::Redacted { session_id, events: more, bytes: size, reason });
}
