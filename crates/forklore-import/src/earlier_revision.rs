//! Reads the earlier revision of a rewritten file (the content before the rewrite): all records in
//! order, or one record by its key.

use std::collections::VecDeque;

use bytestring::ByteString;
use forklore_core::agent_format::Record;
use forklore_core::{Header, SessionId};
use forklore_engine::{Events, Result};
use forklore_store::port::At;
use forklore_store::sources::{FindSource, RecordKey, Source, SourceId, SourceSpan};

use crate::event_location::{EventLocation, SHARED};
use crate::lookup::Lookup;
use crate::resume_state::ResumeState;

/// Reads the earlier revision of a rewritten file from the store, record by record.
pub(crate) struct EarlierRevision {
    /// The file's earlier revisions (contents before rewrites) in the store, newest first. Each
    /// shares records with the next one in this list.
    sources: Vec<Source>,
    /// The number of the import step to read next. `ranges` contains the unread rest of the
    /// previous step.
    step: u64,
    ranges: VecDeque<SourceSpan>,
    /// The events that are returned next: the first one, and how many consecutive events of its
    /// session are left, including the first. `None` before the first span is read.
    run: Option<(EventLocation, u64)>,
    /// A cache of the session header that was read last, with the session's number in the file.
    header: Option<(u32, Header)>,
    /// An iterator over a session's events, with the location of the event that it returns next. It
    /// is reused, because a new iterator needs a new search in the store.
    events: Option<(EventLocation, Events)>,
}

impl EarlierRevision {
    /// Opens the earlier revision with the id `id` of the file at `path`. Skips its first `skip`
    /// records.
    pub(crate) fn open(lookup: Lookup<'_>, path: &str, id: SourceId, skip: u64) -> Result<Self> {
        let mut all = lookup.sources.sources(&FindSource::Path(path.to_owned()))?;
        let mut chain = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next {
            let Some(at) = all.iter().position(|source| source.id == id) else { break };
            let source = all.swap_remove(at);
            next = ResumeState::read(&source.read.state).comparison.map(|it| it.earlier());
            chain.push(source);
        }
        let (ranges, run) = (VecDeque::new(), None);
        let mut earlier = Self { sources: chain, step: 0, ranges, run, header: None, events: None };
        for _ in 0..skip {
            earlier.next_spot(lookup)?;
        }
        Ok(earlier)
    }

    /// Returns the id of the first session in the earlier revision, or `None` if that revision has
    /// no session.
    pub(crate) fn first_session(&self) -> Option<&SessionId> {
        Some(&self.sources.first()?.sessions.first()?.id)
    }

    /// Returns the event of the next record in file order. Returns `None` at the end, at an erased
    /// record, and at a record whose bytes differ from its event in more than white space.
    pub(crate) fn next_spot(&mut self, lookup: Lookup<'_>) -> Result<Option<EventLocation>> {
        loop {
            if let Some((spot, left)) = &mut self.run
                && *left > 0
            {
                let next = spot.clone();
                (spot.seq, *left) = (spot.seq + 1, *left - 1);
                return Ok(Some(next));
            }
            let Some(range) = self.next_range(lookup)? else { return Ok(None) };
            self.run = match range {
                SourceSpan::Other(_) | SourceSpan::Waiting { .. } => continue,
                SourceSpan::Events { session, from, count, .. } => {
                    self.own(lookup, session, from, count)?
                }
                SourceSpan::Spread { session, position, .. } => {
                    self.own(lookup, session, position, 1)?
                }
                SourceSpan::Inherited { session, seq, count, .. } => {
                    let id = self.header(lookup, session)?.map(|header| header.id.clone());
                    id.map(|session| (EventLocation { session, seq }, count))
                }
                SourceSpan::Shared { session, seq, count, .. } => {
                    Some((EventLocation { session, seq }, count))
                }
                SourceSpan::SharedSpread { session, seq, .. } => {
                    Some((EventLocation { session, seq }, 1))
                }
                SourceSpan::Raw { .. }
                | SourceSpan::Patched { .. }
                | SourceSpan::PatchedOften { .. }
                | SourceSpan::Gone(_) => None,
            };
            if self.run.is_none() {
                return Ok(None);
            }
        }
    }

    fn next_range(&mut self, lookup: Lookup<'_>) -> Result<Option<SourceSpan>> {
        while self.ranges.is_empty() {
            let Some(source) = self.sources.first() else { return Ok(None) };
            let Some(ranges) = lookup.sources.source_spans(source.id, self.step)? else {
                return Ok(None);
            };
            self.step += 1;
            self.ranges.extend(ranges);
        }
        Ok(self.ranges.pop_front())
    }

    fn own(
        &mut self,
        lookup: Lookup<'_>,
        session: u32,
        position: u64,
        count: u64,
    ) -> Result<Option<(EventLocation, u64)>> {
        let header = self.header(lookup, session)?;
        let spot = |header: &Header| EventLocation {
            session: header.id.clone(),
            seq: header.seq_of_own(position),
        };
        Ok(header.map(|header| (spot(header), count)))
    }

    fn header(&mut self, lookup: Lookup<'_>, session: u32) -> Result<Option<&Header>> {
        if self.header.as_ref().is_none_or(|(number, _)| *number != session) {
            let number = usize::try_from(session).unwrap_or(usize::MAX);
            let found = self.sources.first().and_then(|source| source.sessions.get(number));
            let Some(found) = found else { return Ok(None) };
            self.header = Some((session, lookup.engine.store().header(&found.id)?));
        }
        Ok(self.header.as_ref().map(|(_, header)| header))
    }

    /// Returns the event of the record with this key in the earlier revision. If that revision
    /// shares the record with an older revision, searches the older one. Returns `None` if no
    /// revision has such a record.
    pub(crate) fn find(&self, lookup: Lookup<'_>, key: RecordKey) -> Result<Option<EventLocation>> {
        for source in &self.sources {
            let Some(location) = lookup.sources.locate_record(source.id, key)? else {
                return Ok(None);
            };
            if location == SHARED {
                continue;
            }
            let session =
                usize::try_from(location.session).ok().and_then(|at| source.sessions.get(at));
            let Some(session) = session else { return Ok(None) };
            let header = lookup.engine.store().header(&session.id)?;
            let seq = match location.inherited {
                true => location.position,
                false => header.seq_of_own(location.position),
            };
            return Ok(Some(EventLocation { session: header.id, seq }));
        }
        Ok(None)
    }

    /// Checks whether `record` repeats the event at `spot`. Type and payload must be equal byte for
    /// byte, and also the id if the record has one.
    pub(crate) fn has(
        &mut self,
        lookup: Lookup<'_>,
        spot: &EventLocation,
        record: &Record,
        text: &ByteString,
    ) -> Result<bool> {
        let mut events = match self.events.take() {
            Some((next, events)) if next == *spot => events,
            _ if lookup.engine.store().header(&spot.session)?.deleted.is_some() => {
                return Ok(false);
            }
            _ => lookup.engine.events(&spot.session, At::Seq(spot.seq)),
        };
        let Some(stored) = events.next().transpose()? else { return Ok(false) };
        let next = EventLocation { session: spot.session.clone(), seq: spot.seq + 1 };
        self.events = Some((next, events));
        let event = stored.event;
        let named = record.native_id.as_deref().is_none_or(|native| event.id.as_str() == native);
        Ok(stored.seq == spot.seq
            && named
            && event.kind == record.kind
            && event.data.get().as_bytes() == text.as_bytes())
    }
}
