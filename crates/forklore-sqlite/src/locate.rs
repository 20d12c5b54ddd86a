//! Finding a place in an assembled history without reading it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use forklore_core::Counts;
use forklore_core::lineage::{Span, Unit, cut_back, holding};
use forklore_store::Error;
use rusqlite::Connection;

use crate::ancestry::{self, Ancestry, Page};
use crate::fault::{Fault, Result};
use crate::row::Row;
use crate::search::search;
use crate::segment::{self, Range, Segment};
use crate::session::Session;

/// The most pages that are kept of a history: as many as one of 1,000 forks in a chain has.
const PAGES: usize = 64;

/// A session and where its inherited events lie.
#[derive(Debug)]
pub(crate) struct History<'s> {
    pub(crate) session: Cow<'s, Session>,
    pub(crate) ancestry: Ancestry,
    /// Pages that were read, by their number.
    pages: RefCell<BTreeMap<i64, Page>>,
}

/// The events of a history that lie together in one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// Its positions in the segment.
    pub(crate) range: Range,
    /// The counts of the history before it.
    pub(crate) base: Counts,
    /// The counts of the history behind it.
    pub(crate) end: Counts,
    /// The seqs of its first and last event.
    pub(crate) seqs: (u64, u64),
}

/// An inherited event, and the spans of the history up to it.
pub(crate) struct Inherited {
    pub(crate) spans: Ancestry,
    pub(crate) stretch: Stretch,
    pub(crate) position: u64,
}

/// The last event that a child takes over.
pub(crate) struct LastInheritable {
    pub(crate) seq: u64,
    pub(crate) stretch: Stretch,
    /// Its payload is left out.
    pub(crate) row: Row,
    /// The spans up to it, where it was inherited itself.
    pub(crate) spans: Option<Ancestry>,
}

impl<'s> History<'s> {
    pub(crate) fn of(conn: &Connection, session: Cow<'s, Session>) -> Result<Self> {
        let ancestry = ancestry::of(conn, &session)?;
        Ok(Self { session, ancestry, pages: RefCell::default() })
    }

    /// The seq of the first event at which the count reaches `want`, if it is reached at all.
    pub(crate) fn seq_of(&self, conn: &Connection, unit: Unit, want: u64) -> Result<Option<u64>> {
        let header = &self.session.header;
        if want == 0 || want > unit.of(&header.counts) {
            return Ok(None);
        }
        if want > unit.of(&header.inherited) {
            let own = self.own();
            let position = self.find(conn, &own, unit, want)?;
            return Ok(Some(header.seq_of_own(position)));
        }
        let found = self.inherited(conn, unit, want)?;
        let row = segment::at(conn, found.stretch.range.segment, found.position)?;
        let row = row.ok_or_else(|| self.missing(&found.stretch, want))?;
        Ok(Some(found.stretch.base.inheritable + row.counts.inheritable))
    }

    /// The last event that a child keeping `kept` events takes over, found by one search.
    pub(crate) fn last_inheritable(&self, conn: &Connection, kept: u64) -> Result<LastInheritable> {
        let header = &self.session.header;
        let (stretch, position, spans) = if kept > header.inherited.inheritable {
            let own = self.own();
            (own, self.find(conn, &own, Unit::Inheritable, kept)?, None)
        } else {
            let found = self.inherited(conn, Unit::Inheritable, kept)?;
            (found.stretch, found.position, Some(found.spans))
        };
        let row = segment::at(conn, stretch.range.segment, position)
            .map_err(|fault| fault.of(&header.id, None))?;
        // What counts wrongly leads a search astray.
        let row = row.filter(|row| row.counts.based_on(stretch.base).inheritable == kept);
        let row = row.ok_or_else(|| self.missing(&stretch, kept))?;
        let seq = match spans {
            Some(_) => kept,
            None => header.seq_of_own(position),
        };
        Ok(LastInheritable { seq, stretch, row, spans })
    }

    /// The stretch in which the event with this seq lies.
    pub(crate) fn stretch(&self, conn: &Connection, seq: u64) -> Result<Stretch> {
        let header = &self.session.header;
        let child = header.parent_id.is_some();
        if seq > header.inherited.inheritable || !child {
            return Ok(self.own());
        }
        if seq == 0 {
            let range = Range { from: 0, to: 1, ..self.own().range };
            let nothing = Counts::default();
            return Ok(Stretch { range, base: nothing, end: nothing, seqs: (0, 0) });
        }
        self.list_with(conn, Unit::Inheritable, seq)
            .map(|(list, at, end)| self.span(&list.spans, at, end))
    }

    /// The position of the event with this seq in its stretch.
    pub(crate) fn position(&self, conn: &Connection, stretch: &Stretch, seq: u64) -> Result<u64> {
        let header = &self.session.header;
        if stretch.range.inherited {
            return self.find(conn, stretch, Unit::Inheritable, seq);
        }
        let child = header.parent_id.is_some() && seq > 0;
        Ok(if child { seq.saturating_sub(header.inherited.inheritable) } else { seq })
    }

    /// The inherited event at which the count reaches `want`, which it does.
    pub(crate) fn inherited(&self, conn: &Connection, unit: Unit, want: u64) -> Result<Inherited> {
        let (list, at, end) = self.list_with(conn, unit, want)?;
        let stretch = self.span(&list.spans, at, end);
        let position = self.find(conn, &stretch, unit, want)?;
        let kept = list.spans.get(at + 1).map_or(end.inheritable, |next| next.base.inheritable);
        let spans = Ancestry { page: list.page, spans: cut_back(&list.spans, kept, position + 1) };
        Ok(Inherited { spans, stretch, position })
    }

    /// Its own events; of a child those behind the inherited ones.
    pub(crate) fn own(&self) -> Stretch {
        let header = &self.session.header;
        let from = u64::from(header.parent_id.is_some());
        let range =
            Range { segment: self.session.sid, from, to: header.own_events, inherited: false };
        Stretch {
            range,
            base: header.inherited,
            end: header.counts,
            seqs: (header.seq_of_own(from), header.head_seq().unsigned_abs()),
        }
    }

    /// The spans among which the count reaches `want`, the place of the one where it does, and the
    /// counts behind them all.
    fn list_with(
        &self,
        conn: &Connection,
        unit: Unit,
        want: u64,
    ) -> Result<(Ancestry, usize, Counts)> {
        if let Some(at) = holding(&self.ancestry.spans, unit, want) {
            return Ok((self.ancestry.clone(), at, self.session.header.inherited));
        }
        let mut pages = self.pages.borrow_mut();
        let mut next = self.ancestry.page;
        while let Some(id) = next {
            if pages.len() >= PAGES && !pages.contains_key(&id) {
                pages.clear();
            }
            let page = match pages.entry(id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let page = ancestry::page(conn, id);
                    unknown.insert(page.map_err(|fault| fault.of(&self.session.header.id, None))?)
                }
            };
            if let Some(at) = holding(&page.before.spans, unit, want) {
                return Ok((page.before.clone(), at, page.end));
            }
            next = page.towards(unit, want);
        }
        Err(Fault::Refused(Error::MissingAncestor {
            session: self.session.header.id.clone(),
            missing: format!("no span holds inherited event {want}"),
        }))
    }

    fn span(&self, spans: &[Span], at: usize, end: Counts) -> Stretch {
        let base = spans.get(at).map(|span| span.base).unwrap_or_default();
        let end = spans.get(at + 1).map_or(end, |next| next.base);
        let (segment, to) = spans.get(at).map_or((0, 0), |span| (span.segment, span.to));
        let segment = Segment::try_from(segment).unwrap_or_default();
        Stretch {
            range: Range { segment, from: 0, to, inherited: true },
            base,
            end,
            seqs: (base.inheritable + 1, end.inheritable),
        }
    }

    fn find(&self, conn: &Connection, stretch: &Stretch, unit: Unit, want: u64) -> Result<u64> {
        let (base, end) = (unit.of(&stretch.base), unit.of(&stretch.end));
        let local = want.saturating_sub(base);
        let found = search(conn, stretch.range, unit, local, end.saturating_sub(base))?;
        found.ok_or_else(|| self.missing(stretch, want))
    }

    fn missing(&self, stretch: &Stretch, want: u64) -> Fault {
        Fault::Refused(Error::MissingAncestor {
            session: self.session.header.id.clone(),
            missing: format!("event {want} is not in segment {}", stretch.range.segment),
        })
    }

    /// The event with this seq, its payload left out.
    pub(crate) fn row(&self, conn: &Connection, seq: u64) -> Result<(Stretch, Row)> {
        let stretch = self.stretch(conn, seq)?;
        let position = self.position(conn, &stretch, seq)?;
        let row = segment::at(conn, stretch.range.segment, position)
            .map_err(|fault| fault.of(&self.session.header.id, Some(seq)))?;
        let row = row.ok_or_else(|| self.missing(&stretch, seq))?;
        Ok((stretch, row))
    }
}
