//! Writes the events of a session into the other store, batch by batch.

use forklore_api::{TransferState, TransferredSession};
use forklore_core::{
    AttachmentId, Event, EventType, Header, Label, SessionId, SessionKind, Usage, payload,
};
use forklore_store::Error as StoreError;
use forklore_store::port::{Append, NewSession, Transaction, Write};

use super::own_events::OwnEvents;
use super::parted::label_of;
use super::{Step, Transferring};
use crate::{Error, Result};

/// Maximum number of events in one batch.
const EVENTS: usize = 500;
/// Total size of `data` at which a batch is complete: 8 MiB.
const BYTES: usize = 8 << 20;

/// What to write of a session.
pub(super) struct Writing<'a> {
    from: &'a Header,
    /// The number of own events here that the other store has already.
    own: u64,
    state: TransferState,
    target: SessionId,
    label: Label,
    /// The session to create first. `None` if it exists.
    new: Option<Box<NewSession>>,
    /// The head of the session there.
    head: i64,
    /// What the events to write consumed. `None` if the events themselves must be read for it.
    usage: Option<Usage>,
}

impl<'a> Writing<'a> {
    pub(super) fn create(from: &'a Header, new: NewSession) -> Self {
        let (state, usage) = (TransferState::Created, Some(from.usage));
        Self { usage, ..Self::of_new(from, 0, state, new) }
    }

    pub(super) fn parted(from: &'a Header, own: u64, new: NewSession) -> Self {
        Self::of_new(from, own, TransferState::Parted, new)
    }

    fn of_new(from: &'a Header, own: u64, state: TransferState, new: NewSession) -> Self {
        let inherited = new.from.as_ref().map_or(0, |from| from.cut.inheritable);
        let inherited = if new.kind != SessionKind::Delegate { inherited } else { 0 };
        let (target, label) = (new.id.clone(), new.label.clone());
        let head = i64::try_from(inherited).unwrap_or(i64::MAX) - 1;
        Self { from, own, state, target, label, new: Some(Box::new(new)), head, usage: None }
    }

    pub(super) fn append(from: &'a Header, own: u64, to: Header, state: TransferState) -> Self {
        let head = to.head_seq();
        let usage = (from.id == to.id).then(|| difference(from.usage, to.usage));
        Self { from, own, state, target: to.id, label: to.label, new: None, head, usage }
    }
}

impl Transferring<'_> {
    /// Writes the rest of a session's events. The session is created with the first of them.
    pub(super) fn write(&mut self, mut writing: Writing<'_>) -> Step {
        let left = writing.from.own_events.saturating_sub(writing.own);
        let of_fork = writing.new.as_ref().map_or(0, |new| new.events.len() as u64);
        if self.request.dry_run {
            self.planned.insert(writing.target.clone());
            self.report.events += left + of_fork;
            let events = left + of_fork;
            self.report.sessions.push(writing.done(events));
            return Ok(());
        }
        let mut own = OwnEvents::from(self.from.store(), writing.from, writing.own);
        let mut written = 0;
        loop {
            let events = batch(&mut own)?;
            if events.is_empty() && writing.new.is_none() {
                break;
            }
            written += events.len() as u64;
            let is_last = written == left;
            let usage = match writing.usage {
                Some(usage) if is_last => usage,
                Some(_) => Usage::default(),
                None => usage_of(&events),
            };
            let count = events.len() as u64 + writing.new.as_ref().map_or(0, |_| of_fork);
            self.write_batch(&mut writing, events, usage)?;
            self.report.events += count;
            let is_same = |it: &TransferredSession| {
                (&it.session_id, &it.target_id) == (&writing.from.id, &writing.target)
            };
            if !self.report.sessions.last().is_some_and(is_same) {
                self.report.sessions.push(writing.done(0));
            }
            if let Some(session) = self.report.sessions.last_mut() {
                session.events += count;
            }
            self.go_on()?;
        }
        Ok(())
    }

    fn write_batch(
        &mut self,
        writing: &mut Writing<'_>,
        mut events: Vec<Event>,
        mut usage: Usage,
    ) -> Result<()> {
        let pins = self.attach(&events)?;
        let attachments: Vec<_> = pins.iter().map(|pin| pin.id).collect();
        let mut first = 0;
        let new = writing.new.take().map(|mut new| {
            // Only an append records when a session was last written to.
            let is_child = new.from.is_some() && new.events.is_empty() && !events.is_empty();
            new.events.extend(events.drain(..usize::from(is_child)));
            let is_all = events.is_empty();
            new.usage = if is_all { std::mem::take(&mut usage) } else { Usage::default() };
            first = new.events.len();
            new
        });
        writing.head += i64::try_from(first).unwrap_or(i64::MAX);
        let (expect, now) = (Some(writing.head), writing.from.updated);
        writing.head += i64::try_from(events.len()).unwrap_or(i64::MAX);
        let append = Append { events, expect, owner: None, usage, now };
        let Some(new) = new else { return self.append_there(writing, append, attachments) };
        if self.sources.has(&new.id) {
            let created = self.with_free_label(writing, *new, |this, new| {
                this.sources.create(this.into, new).unwrap_or(Ok(()))
            });
            writing.label = created?;
            return self.append_there(writing, append, attachments);
        }
        writing.label = self.with_free_label(writing, *new, |this, new| {
            let session = new.id.clone();
            let mut writes = vec![Write::Create(Box::new(new.clone()))];
            if !append.events.is_empty() {
                writes.push(Write::Append { session, append: append.clone() });
            }
            let attachments = attachments.clone();
            this.into.store.commit(Transaction { attachments, ..writes.into() })?;
            Ok(())
        })?;
        Ok(())
    }

    fn append_there(
        &mut self,
        writing: &Writing<'_>,
        append: Append,
        attachments: Vec<AttachmentId>,
    ) -> Result<()> {
        if append.events.is_empty() {
            return Ok(());
        }
        let rest = self.sources.append(self.into, &writing.target, append)?;
        if let Some(append) = rest {
            let write = Write::Append { session: writing.target.clone(), append };
            self.into.store.commit(Transaction { attachments, ..write.into() })?;
        }
        Ok(())
    }

    /// Creates a session by `create`, with other labels until one is free. Returns the label.
    fn with_free_label(
        &mut self,
        writing: &Writing<'_>,
        mut new: NewSession,
        mut create: impl FnMut(&mut Self, &NewSession) -> Result<()>,
    ) -> Result<Label> {
        let owner = new.principal.clone().or_else(|| self.request.name.clone());
        let is_parted = writing.state == TransferState::Parted;
        if is_parted {
            new.label = label_of(owner.as_deref(), &new.id, 0);
        }
        let mut attempt = 0;
        loop {
            match create(self, &new) {
                // There is always a further label.
                Err(Error::Store(StoreError::LabelInUse { .. })) => {
                    new.label = if is_parted {
                        label_of(owner.as_deref(), &new.id, attempt + 1)
                    } else {
                        Label::of_child(new.kind, &new.id, attempt)
                    };
                    attempt += 1;
                }
                done => return done.map(|()| new.label),
            }
        }
    }
}

impl Writing<'_> {
    fn done(&self, events: u64) -> TransferredSession {
        TransferredSession {
            session_id: self.from.id.clone(),
            target_id: self.target.clone(),
            label: self.label.clone(),
            state: self.state,
            events,
        }
    }
}

fn batch(own: &mut OwnEvents<'_>) -> Result<Vec<Event>> {
    let (mut events, mut bytes) = (Vec::new(), 0);
    while events.len() < EVENTS && bytes < BYTES {
        let Some(next) = own.next()? else { break };
        bytes += next.event.data.get().len();
        events.push(next.event);
    }
    Ok(events)
}

fn usage_of(events: &[Event]) -> Usage {
    let mut sum = Usage::default();
    let own = |event: &&Event| event.kind == EventType::PROVIDER_USAGE && event.dialect.is_none();
    for event in events.iter().filter(own) {
        sum += payload::usage(&event.data);
    }
    sum
}

fn difference(all: Usage, part: Usage) -> Usage {
    Usage {
        input: all.input.saturating_sub(part.input),
        output: all.output.saturating_sub(part.output),
        cached: all.cached.saturating_sub(part.cached),
        cost: forklore_core::usage::without_noise(all.cost - part.cost),
    }
}
