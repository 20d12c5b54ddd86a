//! `append`: adds one atomic batch of events at the end of a session's log.

use forklore_api::{Batch, NewEvent};
use forklore_core::Usage;
use forklore_core::limits::{BATCH_BYTES, BATCH_EVENTS, EVENT_BYTES};
use forklore_core::{Event, EventType, SessionId, payload};
use forklore_store::port::{Append, Appended, Transaction, Write};
use jiff::Timestamp;

use crate::{Engine, Error, Result};

impl Engine {
    /// Appends a batch of events after the head of a session: all of them, or none. The events are
    /// durable when the function returns.
    ///
    /// The caller may pass, as `expect`, the head that it last saw. If another writer appended
    /// meanwhile, the function returns `conflict`:
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use forklore_engine::{Batch, Create, Engine, NewEvent};
    /// # use forklore_core::{ErrorKind, workspace::Workspace};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let engine = Engine::new(Arc::new(forklore_store::memory::MemoryStore::default()));
    /// # let session = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?.id;
    /// // `Header::head_seq` of a session without events is -1.
    /// let first = Batch { expect: Some(-1), ..NewEvent::user("first")?.into() };
    /// assert_eq!(engine.append(&session, &first)?.head_seq, 0);
    /// let late = Batch { expect: Some(-1), ..NewEvent::user("late")?.into() };
    /// let late = engine.append(&session, &late).unwrap_err();
    /// assert_eq!(late.kind(), ErrorKind::Conflict);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `invalid_args` with the number of the invalid event in the batch, from 1; `conflict` with
    /// the actual head if the head is not `expect`; `conflict` if the `owner` that the batch names
    /// no longer has the lease; `busy` if another runtime has leased the session; `not_found` if
    /// the session does not exist.
    pub fn append(&self, session: &SessionId, batch: &Batch) -> Result<Appended> {
        let now = self.now();
        check_size(&batch.events)?;
        let mut usage = Usage::default();
        let mut events = Vec::with_capacity(batch.events.len());
        for (at, new) in batch.events.iter().enumerate() {
            let event = self.complete(new, at + 1, now)?;
            if event.kind == EventType::PROVIDER_USAGE {
                usage += payload::usage(&event.data);
            }
            events.push(event);
        }
        self.check_compactions(session, &events)?;
        let pins = self.hold_mentioned(batch.events.iter().map(|event| &event.data));
        let attachments = pins.iter().map(|leased| leased.id).collect();
        let append =
            Append { events, expect: batch.expect, owner: batch.owner.clone(), usage, now };
        let write = Write::Append { session: session.clone(), append };
        Ok(self.store.commit(Transaction { attachments, ..write.into() })?.appended()?)
    }

    fn complete(&self, new: &NewEvent, line: usize, now: Timestamp) -> Result<Event> {
        if new.kind.is_reserved() {
            let message = format!("event {line}: only a fork writes {}", new.kind);
            return Err(Error::invalid("reserved_type", message));
        }
        let (class, effect) = payload::check(&new.kind, new.class, &new.data)
            .map_err(|source| Error::Event { line, source })?;
        Ok(Event {
            id: new.id.clone().unwrap_or_else(|| self.new_event_id()),
            ts: forklore_core::event::to_micros(new.ts.unwrap_or(now)),
            kind: new.kind.clone(),
            class,
            dialect: None,
            effect,
            data: new.data.clone(),
        })
    }

    /// Checks that each compaction event in `events` covers only conversation events that precede
    /// that compaction.
    fn check_compactions(&self, session: &SessionId, events: &[Event]) -> Result<()> {
        if !events.iter().any(|event| event.kind == EventType::HISTORY_COMPACTION) {
            return Ok(());
        }
        let mut index = self.show(session)?.counts.index;
        for (at, event) in events.iter().enumerate() {
            if event.kind == EventType::HISTORY_COMPACTION
                && crate::view::compacted_range(&event.data).is_none_or(|range| range.end > index)
            {
                let message = format!(
                    "event {}: a compaction covers messages before itself, and there are {index}",
                    at + 1
                );
                return Err(Error::invalid("compaction_range", message));
            }
            index += u64::from(event.class.is_conversation());
        }
        Ok(())
    }
}

fn check_size(events: &[NewEvent]) -> Result<()> {
    if events.is_empty() {
        return Err(Error::invalid("empty", "there is nothing to append"));
    }
    if events.len() > BATCH_EVENTS {
        let message =
            format!("event {}: an append holds at most {BATCH_EVENTS} events", BATCH_EVENTS + 1);
        return Err(Error::invalid("too_many", message));
    }
    let mut bytes = 0;
    for (at, event) in events.iter().enumerate() {
        let len = event.data.get().len();
        bytes += len;
        let line = at + 1;
        if len > EVENT_BYTES {
            let message = format!("event {line} has {len} bytes; {EVENT_BYTES} are allowed");
            return Err(Error::invalid("too_long", message));
        }
        if bytes > BATCH_BYTES {
            let message = format!("event {line}: the append exceeds {BATCH_BYTES} bytes");
            return Err(Error::invalid("too_long", message));
        }
    }
    Ok(())
}
