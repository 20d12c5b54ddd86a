//! Resolves a selector to a cut with indexed lookups. The time does not depend on the history's
//! length, except for the selector `event:ID`.

use forklore_core::cut::{CutPoint, Extent};
use forklore_core::{Cut, CutError, Header, OpenCalls, Selector};
use forklore_store::port::{At, Direction, LogEntry, Query};

use crate::{Engine, Error, Result};

const BACK_EVENTS: usize = 64;

/// A cut, and the number of tool calls that the cut leaves open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) cut: Cut,
    pub(crate) open: u64,
}

impl Engine {
    /// Resolves `selector` to a cut in the history of the session with this header
    /// (docs/semantics.md, Where to cut).
    ///
    /// # Errors
    /// `invalid_args` if the selector is out of range, or if the cut has no event before it (only
    /// `start` and `index:0` may give such a cut).
    pub fn cut(&self, header: &Header, selector: &Selector) -> Result<Cut> {
        Ok(self.find_cut(header, selector)?.cut)
    }

    /// Resolves `selector` to a cut in the session, and counts the tool calls that the cut leaves
    /// open.
    pub(crate) fn find_cut(&self, header: &Header, selector: &Selector) -> Result<Found> {
        let found = self.search(header, selector)?;
        if found.cut.inheritable == 0 && !selector.allows_empty() {
            return Err(Error::nothing_to_fork(&header.id, selector));
        }
        Ok(found)
    }

    /// Resolves `selector` to a cut in the session. The cut may have no event before it.
    pub(crate) fn search(&self, header: &Header, selector: &Selector) -> Result<Found> {
        let in_session = Error::cut(&header.id);
        let extent = Extent { head_seq: header.head_seq(), counts: header.counts };
        match selector.resolve(&extent).map_err(&in_session)? {
            CutPoint::Inheritable(stored) => self.after_inheritable(header, stored),
            CutPoint::Index(index) => self.behind_first(header, At::Index(index)),
            CutPoint::Seq(seq) => self.behind_seq(header, seq),
            CutPoint::BeforeTurn(turn) => self.before_turn(header, turn),
            CutPoint::Event(id) => {
                let query = Query {
                    at: At::Id(id),
                    direction: Direction::Forward,
                    limit: 10_000,
                    bare: true,
                };
                let found = self.store().read(&header.id, &query)?.events;
                let [only] = found.as_slice() else {
                    return Err(in_session(many_or_none(&found)));
                };
                self.behind_seq(header, only.seq)
            }
        }
    }

    fn before_turn(&self, header: &Header, turn: u64) -> Result<Found> {
        let query =
            Query { at: At::Turn(turn), direction: Direction::Backward, limit: 2, bare: true };
        let mut events = self.store().read(&header.id, &query)?.events.into_iter();
        let Some(first) = events.next() else {
            return Err(missing_from(header, format!("the beginning of turn {turn}")));
        };
        match events.next().filter(|last| last.event.class.is_inherited()) {
            Some(last) => Ok(behind(last, true)),
            None => self.after_inheritable(header, first.counts.inheritable.saturating_sub(1)),
        }
    }

    fn behind_seq(&self, header: &Header, seq: u64) -> Result<Found> {
        match self.last_before(header, seq)? {
            Some(last) if last.event.class.is_inherited() => {
                let next_is_turn = self.next_is_turn(header, &last)?;
                Ok(behind(last, next_is_turn))
            }
            Some(event) => self.after_inheritable(header, event.counts.inheritable),
            None => Ok(Found::default()),
        }
    }

    /// Returns the cut directly after the inheritable event with this number, counted from 1.
    pub(crate) fn after_inheritable(&self, header: &Header, inheritable: u64) -> Result<Found> {
        if inheritable == 0 {
            return Ok(Found::default());
        }
        self.behind_first(header, At::Inheritable(inheritable))
    }

    /// Returns the cut directly after the event at the position `at`. Also reads the next event,
    /// because the cut depends on whether that event starts a turn. The next event is usually
    /// inheritable; if it is not, a second read finds the next inheritable one.
    fn behind_first(&self, header: &Header, at: At) -> Result<Found> {
        let missing = format!("the event at {at:?}");
        let query = Query { at, direction: Direction::Forward, limit: 2, bare: true };
        let mut events = self.store().read(&header.id, &query)?.events.into_iter();
        let Some(last) = events.next() else {
            return Err(missing_from(header, missing));
        };
        let next_is_turn = match events.next().filter(|next| next.event.class.is_inherited()) {
            Some(next) => next.event.effect.starts_turn,
            None => self.next_is_turn(header, &last)?,
        };
        Ok(behind(last, next_is_turn))
    }

    fn next_is_turn(&self, header: &Header, last: &LogEntry) -> Result<bool> {
        if last.counts.inheritable == header.counts.inheritable {
            return Ok(true);
        }
        let next = self.event_at(&header.id, At::Inheritable(last.counts.inheritable + 1))?;
        Ok(next.is_none_or(|next| next.event.effect.starts_turn))
    }

    fn last_before(&self, header: &Header, seq: u64) -> Result<Option<LogEntry>> {
        let query =
            Query { at: At::Seq(seq), direction: Direction::Backward, limit: 1, bare: true };
        Ok(self.store().read(&header.id, &query)?.events.pop())
    }

    /// Returns the tool calls that have no result at a cut. Reads backwards from the cut to the
    /// nearest event after which no call is open.
    pub fn open_calls(&self, header: &Header, cut: &Cut) -> Result<OpenCalls> {
        let mut effects = Vec::new();
        self.back_to_closed(header, cut, |event| effects.push(event.event.effect))?;
        Ok(effects.into_iter().rev().collect())
    }

    /// Returns the tool calls that have no result before the event at this log position.
    ///
    /// # Errors
    /// `corrupt` if stored data is damaged, `missing_ancestor` if inherited events are missing.
    pub fn open_calls_before(&self, header: &Header, seq: u64) -> Result<OpenCalls> {
        self.open_calls(header, &Cut { seq: seq.checked_sub(1), ..Cut::default() })
    }

    /// Returns the tool calls that have no result before the conversation event with this index.
    ///
    /// # Errors
    /// `corrupt` if stored data is damaged, `missing_ancestor` if inherited events are missing.
    pub fn open_calls_at(&self, header: &Header, index: u64) -> Result<OpenCalls> {
        let found = self.event_at(&header.id, At::Index(index))?;
        let seq = found.map_or(header.head_seq().saturating_add(1).unsigned_abs(), |it| it.seq);
        self.open_calls_before(header, seq)
    }

    /// Returns the last cut at or before `cut` that leaves no tool call open.
    pub(crate) fn cut_without_open_calls(&self, header: &Header, cut: &Cut) -> Result<Cut> {
        let closed = self.back_to_closed(header, cut, |_| {})?;
        Ok(self.after_inheritable(header, closed.map_or(0, |event| event.counts.inheritable))?.cut)
    }

    /// Reads backwards from `cut` to the nearest event after which no tool call is open. Returns
    /// that event, or `None` if there is none. Calls `visit` with each event between that event and
    /// the cut, the last one first. After each of these events, a call is open.
    fn back_to_closed(
        &self,
        header: &Header,
        cut: &Cut,
        mut visit: impl FnMut(LogEntry),
    ) -> Result<Option<LogEntry>> {
        let mut next = cut.seq;
        // In nearly all cases, no call is open after the first event, so read only one event at
        // first.
        let mut limit = 1;
        while let Some(seq) = next {
            let query =
                Query { at: At::Seq(seq), direction: Direction::Backward, limit, bare: true };
            limit = BACK_EVENTS;
            next = None;
            for event in self.store().read(&header.id, &query)?.events {
                if event.counts.open == 0 {
                    return Ok(Some(event));
                }
                next = event.seq.checked_sub(1);
                visit(event);
            }
        }
        Ok(None)
    }
}

fn behind(last: LogEntry, next_is_turn: bool) -> Found {
    let is_conversation = last.event.class.is_conversation();
    let cut = Cut::behind(last.counts, last.seq, last.event.id, is_conversation, next_is_turn);
    Found { cut, open: last.counts.open }
}

fn missing_from(header: &Header, missing: String) -> Error {
    forklore_store::Error::MissingAncestor { session: header.id.clone(), missing }.into()
}

fn many_or_none(found: &[LogEntry]) -> CutError {
    if found.is_empty() {
        return CutError::NoSuchEvent;
    }
    let seqs = found.iter().take(20).map(|event| event.seq).collect();
    CutError::ManyEvents { seqs, count: found.len() }
}
