//! Rewritten files in which the agent wrote every record in another form, as `codex
//! migrate-rollouts` does. The new revision has the conversation of the earlier one, so it shares
//! the events of that conversation (docs/semantics.md, Sources).
//!
//! The conversation records of the file are compared in order with the session that the agent would
//! resume. The other records of the file, up to the time of that session's last event, become no
//! events: the earlier revision already has events for them. Therefore nothing is counted twice.

use forklore_core::{Data, EventType, SessionId};
use forklore_engine::Result;
use forklore_store::sources::RecordLocation;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::copied_prefix::RecordLine;
use crate::event_location::EventLocation;
use crate::lookup::Lookup;
use crate::original_events::OriginalEvents;

/// How far a rewritten file repeats the conversation of its earlier revision. It is stored with the
/// file, so that the next import can continue the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Renewal {
    /// The session of the earlier revision that the agent would resume.
    session: SessionId,
    /// How many inheritable events of that session the file repeats.
    repeated: u64,
    /// The time of that session's last event. A record with a later time is new.
    until: Timestamp,
    /// Whether a record was found that the earlier revision does not have.
    is_over: bool,
}

/// What a record of a rewritten file is.
pub(crate) enum Renewed {
    /// A repetition of this event. The file's own session inherits the event; the location is the
    /// event's location in that session.
    Event(EventLocation, RecordLocation),
    /// A record that becomes no event.
    NoEvent,
    /// A new record.
    New,
}

impl Renewal {
    /// Creates the comparison with the session that the agent would resume. `first` is the first
    /// session of the earlier revision. Returns `None` if the session that the agent would resume
    /// was deleted.
    pub(crate) fn of(lookup: Lookup<'_>, first: &SessionId) -> Result<Option<Self>> {
        let first = lookup.engine.store().header(first)?;
        let header = match &first.leaf {
            Some(leaf) => lookup.engine.store().header(leaf)?,
            None => first,
        };
        let (session, until) = (header.id, header.updated);
        let is_there = header.deleted.is_none();
        Ok(is_there.then_some(Self { session, repeated: 0, until, is_over: false }))
    }

    /// Compares a record with the next event of the conversation. `original` is a cache of the
    /// reader of these events; it is `None` before the first record.
    pub(crate) fn next(
        &mut self,
        lookup: Lookup<'_>,
        original: &mut Option<OriginalEvents>,
        line: RecordLine<'_>,
    ) -> Result<Renewed> {
        if self.is_over {
            return Ok(Renewed::New);
        }
        let RecordLine { record, text, .. } = line;
        if !is_of_conversation(&record.kind, record.class.is_conversation()) {
            self.is_over = record.ts.is_none_or(|ts| ts > self.until);
            return Ok(if self.is_over { Renewed::New } else { Renewed::NoEvent });
        }
        let events = match original {
            Some(events) => events,
            none => {
                let session = self.session.clone();
                none.insert(OriginalEvents::open(lookup, Vec::new(), session, self.repeated)?)
            }
        };
        while events
            .next()
            .is_some_and(|it| !is_of_conversation(&it.event.kind, it.event.class.is_conversation()))
        {
            events.advance()?;
        }
        let is_same = events.next().filter(|it| {
            let later = Data::from_checked(text.clone());
            it.event.kind == record.kind
                && lookup.format.is_renewed(&it.event.kind, &it.event.data, &later)
        });
        let Some(same) = is_same else {
            self.is_over = true;
            return Ok(Renewed::New);
        };
        self.repeated = same.counts.inheritable;
        let spot = EventLocation { session: self.session.clone(), seq: same.seq };
        events.advance()?;
        let location = RecordLocation { session: 0, position: self.repeated, inherited: true };
        Ok(Renewed::Event(spot, location))
    }
}

/// Checks whether an event is a part of the conversation (`is_conversation`) or a compaction of it.
fn is_of_conversation(kind: &EventType, is_conversation: bool) -> bool {
    is_conversation || *kind == EventType::HISTORY_COMPACTION
}
