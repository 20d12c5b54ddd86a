//! Recreates one session in the new store.

use forklore_api::LostKind;
use forklore_core::{Event, Header, Label, SessionId, Strategy, ToolCallPolicy};
use forklore_store::Error as StoreError;
use forklore_store::port::{Append, Beginning, NewSession};

use super::Salvaging;
use super::copies::Copies;
use super::gap::without_data;
use super::read::{Slot, own_seqs, slots};
use super::report::Losing;
use super::tail::{Tail, first_marker};
use crate::{Error, Result};

impl Salvaging<'_> {
    pub(super) fn make(&mut self, id: &SessionId) -> Result<()> {
        let Some(header) = self.family.get(id).cloned() else { return Ok(()) };
        if let Some(parent) = &header.parent_id
            && !self.made.contains(parent)
        {
            let reason = format!("its parent {parent} could not be saved");
            self.report.lose(LostKind::Header, Some(id), None, &reason);
            return Ok(());
        }
        let first = self.first_events(&header)?;
        if let Err(error) = self.create(&header, first) {
            // The new store refuses this session with its recorded header, so nothing of the
            // session can be stored.
            self.report.lose(LostKind::Header, Some(id), None, &error);
            return Ok(());
        }
        self.made.insert(id.clone());
        self.own_events(&header)
    }

    /// Returns the event at seq 0 of a child: its `session_fork`, or an `x.lost` marker if that
    /// event is lost. Returns nothing for a root.
    fn first_events(&mut self, header: &Header) -> Result<Vec<Event>> {
        if header.parent_id.is_none() {
            return Ok(Vec::new());
        }
        if !self.family.is_readable(header) {
            return Ok(vec![first_marker(header)?]);
        }
        let mut first = None;
        slots(self.from.store(), &header.id, 0, 1, &mut |_, slot| {
            first = Some(slot);
            Ok(())
        })?;
        let (id, lost) = (Some(&header.id), |what| (what, Some(0)));
        let ((what, seq), event, reason) = match first {
            Some(Slot::Whole(stored)) => {
                self.report.events += 1;
                return Ok(vec![stored.event]);
            }
            Some(Slot::Bare(stored, reason)) => {
                (lost(LostKind::Data), without_data(stored.event, 0)?, reason)
            }
            Some(Slot::Lost(reason)) => (lost(LostKind::Event), first_marker(header)?, reason),
            None => (lost(LostKind::Event), first_marker(header)?, "it is not there".into()),
        };
        self.report.lose(what, id, seq, &reason);
        Ok(vec![event])
    }

    fn create(&mut self, header: &Header, events: Vec<Event>) -> Result<()> {
        let mut new = new_session(header, events);
        let mut attempt = 0;
        loop {
            let done = match self.sources.create(self.into, &new) {
                Some(done) => done,
                None => self.into.store().create(new.clone()).map(drop).map_err(Error::from),
            };
            match done {
                // The label of a deleted session may be in use again by another session. There is
                // always a further default label.
                Err(Error::Store(StoreError::LabelInUse { .. })) => {
                    new.label = Label::of_fork(&header.id, attempt);
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    fn own_events(&mut self, header: &Header) -> Result<()> {
        let (from, into) = (self.from, self.into);
        let sources = &mut self.sources;
        let write = |id: &SessionId, append: Append| match sources.append(into, id, append)? {
            None => Ok(()),
            Some(rest) => Ok(into.store().append(id, rest).map(drop)?),
        };
        let mut tail = Tail::new(header, &mut self.report, write);
        if self.family.is_readable(header) {
            let (first, end) = own_seqs(header);
            let mut copies: Option<Copies> = None;
            let family = &self.family;
            slots(from.store(), &header.id, first, end, &mut |seq, slot| {
                if matches!(slot, Slot::Whole(_)) {
                    return tail.put(seq, slot);
                }
                // A descendant may have a readable copy of the event.
                let copies = match &mut copies {
                    Some(copies) => copies,
                    none => none.insert(family.copies_of(from, &header.id)?),
                };
                let copy = copies.get(from, seq)?;
                tail.put(seq, copy.map_or(slot, Slot::Whole))
            })?;
            return tail.end(Some(header.counts));
        }
        let mut next = own_seqs(header).0;
        self.family.copies_of(from, &header.id)?.read(from, &mut |seq, stored| {
            while next < seq {
                tail.put(next, Slot::Lost("no descendant has it".into()))?;
                next += 1;
            }
            next = seq + 1;
            tail.put(seq, Slot::Whole(stored))
        })?;
        tail.fill(next, self.family.begun_at(&header.id))
    }
}

/// Builds the session to create in another store for one with this header.
pub(crate) fn new_session(header: &Header, events: Vec<Event>) -> NewSession {
    let from = header.parent_id.clone().zip(header.cut.clone());
    NewSession {
        id: header.id.clone(),
        kind: header.kind,
        label: header.label.clone(),
        title: header.title.clone(),
        workspace: header.workspace.clone(),
        principal: header.principal.clone(),
        permissions: header.permissions.clone(),
        metadata: header.metadata.clone(),
        config: header.config.clone(),
        dialect: header.dialect.clone(),
        source: header.source.clone(),
        copy_of: header.copy_of.clone(),
        created: header.created,
        from: from.map(|(parent, cut)| Beginning {
            parent,
            cut,
            strategy: header.strategy.unwrap_or(Strategy::ShareV1),
            tool_calls: header.tool_calls.unwrap_or(ToolCallPolicy::Verbatim),
        }),
        events,
        usage: header.usage,
    }
}
