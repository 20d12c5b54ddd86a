//! Finds a position in an assembled history without reading the history.

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
use crate::segment::{self, Range, Segment};
use crate::session::Session;

/// Maximum number of ancestry pages (rows with inherited ranges) that one `History` caches. A chain
/// of 1,000 forks has about this many pages.
const PAGES: usize = 64;

/// A session with its list of inherited ranges. Its methods find the location of each event of the
/// session's history.
#[derive(Debug)]
pub(crate) struct History<'s> {
    pub(crate) session: Cow<'s, Session>,
    pub(crate) ancestry: Ancestry,
    /// The ancestry pages that were read so far, by their id.
    pages: RefCell<BTreeMap<i64, Page>>,
}

/// A stretch: consecutive events of a session's history that are stored together, in one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// The segment in which the events of this stretch are stored, and their positions in it.
    pub(crate) range: Range,
    /// The running counts of the session's history, inherited events included, just before the
    /// first event of this stretch.
    pub(crate) base: Counts,
    /// The running counts of the session's history, inherited events included, just after the last
    /// event of this stretch.
    pub(crate) end: Counts,
    /// The seqs of the stretch's first and last event, both inclusive.
    pub(crate) seqs: (u64, u64),
}

/// The location of an inherited event, and the list of spans up to that event. A span is a range of
/// stored events; the listed spans form the history up to and including the event.
pub(crate) struct Inherited {
    pub(crate) spans: Ancestry,
    pub(crate) stretch: Stretch,
    pub(crate) position: u64,
}

/// The last event that a child inherits from its parent.
pub(crate) struct LastInheritable {
    pub(crate) seq: u64,
    pub(crate) stretch: Stretch,
    /// The event, with its counts and its origin; the payload is left out.
    pub(crate) row: Row,
    /// The spans (ranges of stored events) of the history up to and including the event. `None` if
    /// the parent wrote the event itself and did not inherit it.
    pub(crate) spans: Option<Ancestry>,
}

impl<'s> History<'s> {
    pub(crate) fn of(conn: &Connection, session: Cow<'s, Session>) -> Result<Self> {
        let ancestry = ancestry::of(conn, &session)?;
        Ok(Self { session, ancestry, pages: RefCell::default() })
    }

    /// Returns the seq of the event at which the history's running count of `unit` reaches `want`.
    /// A unit is events or turns. Returns `None` if the count never reaches `want`.
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

    /// Finds the last event that a child inherits from this session, if it inherits `inheritable`
    /// events. Searches the history only once.
    pub(crate) fn last_inheritable(
        &self,
        conn: &Connection,
        inheritable: u64,
    ) -> Result<LastInheritable> {
        let header = &self.session.header;
        let (stretch, position, spans) = if inheritable > header.inherited.inheritable {
            let own = self.own();
            (own, self.find(conn, &own, Unit::Inheritable, inheritable)?, None)
        } else {
            let found = self.inherited(conn, Unit::Inheritable, inheritable)?;
            (found.stretch, found.position, Some(found.spans))
        };
        let row = segment::at(conn, stretch.range.segment, position)
            .map_err(|fault| fault.of(&header.id, None))?;
        // If stored counts are wrong, the search finds another event. So check the event's own
        // count.
        let row = row.filter(|row| row.counts.based_on(stretch.base).inheritable == inheritable);
        let row = row.ok_or_else(|| self.missing(&stretch, inheritable))?;
        let seq = match spans {
            Some(_) => inheritable,
            None => header.seq_of_own(position),
        };
        Ok(LastInheritable { seq, stretch, row, spans })
    }

    /// Returns the stretch of the history that contains the event `seq`.
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
        let (list, at, end) = self.list_with(conn, Unit::Inheritable, seq)?;
        let stretch = self.span(&list.spans, at, end);
        if (stretch.seqs.0..=stretch.seqs.1).contains(&seq) {
            return Ok(stretch);
        }
        // Whoever reads one stretch after the other would read this one again and again.
        let location = format!("span of segment {}", stretch.range.segment);
        Err(Fault::damaged(location, "it does not hold the event that leads to it"))
            .map_err(|fault| fault.of(&header.id, Some(seq)))
    }

    /// Returns the position of the event `seq` in its segment (a group of events stored together).
    /// `stretch` must be the part of the history that contains the event.
    pub(crate) fn position(&self, conn: &Connection, stretch: &Stretch, seq: u64) -> Result<u64> {
        let header = &self.session.header;
        if stretch.range.inherited {
            return self.find(conn, stretch, Unit::Inheritable, seq);
        }
        let child = header.parent_id.is_some() && seq > 0;
        Ok(if child { seq.saturating_sub(header.inherited.inheritable) } else { seq })
    }

    /// Finds the inherited event at which the history's running count of `unit` (events or turns)
    /// reaches `want`. The caller ensures that such an event exists.
    pub(crate) fn inherited(&self, conn: &Connection, unit: Unit, want: u64) -> Result<Inherited> {
        let (list, at, end) = self.list_with(conn, unit, want)?;
        let stretch = self.span(&list.spans, at, end);
        let position = self.find(conn, &stretch, unit, want)?;
        let inheritable =
            list.spans.get(at + 1).map_or(end.inheritable, |next| next.base.inheritable);
        let spans =
            Ancestry { page: list.page, spans: cut_back(&list.spans, inheritable, position + 1) };
        Ok(Inherited { spans, stretch, position })
    }

    /// Returns the part of the history that the session wrote itself. For a child, leaves out its
    /// first event, `session_fork`, because in the history that event comes before the inherited
    /// ones.
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

    /// Finds the span in which the history's count of `unit` reaches `want`. Returns the list that
    /// contains the span, and the span's index in it. Also returns the history's counts at the end
    /// of the list.
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
                Entry::Occupied(found) => found.into_mut(),
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
        let found = segment::search(conn, stretch.range, unit, local, end.saturating_sub(base))?;
        found.ok_or_else(|| self.missing(stretch, want))
    }

    fn missing(&self, stretch: &Stretch, want: u64) -> Fault {
        Fault::Refused(Error::MissingAncestor {
            session: self.session.header.id.clone(),
            missing: format!("event {want} is not in segment {}", stretch.range.segment),
        })
    }

    /// Returns the event `seq` without its payload. Also returns the stretch that contains the
    /// event.
    pub(crate) fn row(&self, conn: &Connection, seq: u64) -> Result<(Stretch, Row)> {
        let stretch = self.stretch(conn, seq)?;
        let position = self.position(conn, &stretch, seq)?;
        let row = segment::at(conn, stretch.range.segment, position)
            .map_err(|fault| fault.of(&self.session.header.id, Some(seq)))?;
        let row = row.ok_or_else(|| self.missing(&stretch, seq))?;
        Ok((stretch, row))
    }
}
