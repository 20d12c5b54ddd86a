//! From a selector to a cut: one search, whatever the length of the history (SPEC 5).

use forklore_model::cut::{Extent, Place};
use forklore_model::{Cut, CutError, Header, OpenCalls, Selector};
use forklore_store::port::{At, Direction, Query, Stored};

use crate::{Engine, Error, Result};

const BACK_EVENTS: usize = 64;

impl Engine {
    /// The cut that `selector` names in the session of `header`.
    ///
    /// # Errors
    /// `invalid_args` when it is out of range or keeps nothing without saying so.
    pub fn cut(&self, header: &Header, selector: &Selector) -> Result<Cut> {
        let cut = self.search(header, selector)?;
        if cut.kept == 0 && !selector.may_keep_nothing() {
            return Err(Error::nothing_to_fork(&header.id, selector));
        }
        Ok(cut)
    }

    fn search(&self, header: &Header, selector: &Selector) -> Result<Cut> {
        let in_session = Error::cut(&header.id);
        let extent = Extent { head_seq: header.head_seq(), counts: header.counts };
        let place = selector.place(&extent).map_err(&in_session)?;
        let at = match place {
            Place::Kept(kept) => return self.behind_kept(header, kept),
            Place::Index(index) => At::Index(index),
            Place::Seq(seq) => return self.behind_seq(header, seq),
            Place::BeforeTurn(turn) => {
                let first = self.promised(header, At::Turn(turn))?;
                return self.behind_kept(header, first.counts.kept.saturating_sub(1));
            }
            Place::Event(id) => {
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
                return self.behind_seq(header, only.seq);
            }
        };
        let last = self.promised(header, at)?;
        self.behind(header, last)
    }

    fn behind_seq(&self, header: &Header, seq: u64) -> Result<Cut> {
        let query =
            Query { at: At::Seq(seq), direction: Direction::Backward, limit: 1, bare: true };
        match self.store().read(&header.id, &query)?.events.pop() {
            Some(event) if event.event.class.is_inherited() => self.behind(header, event),
            Some(event) => self.behind_kept(header, event.counts.kept),
            None => Ok(Cut::default()),
        }
    }

    fn behind_kept(&self, header: &Header, kept: u64) -> Result<Cut> {
        if kept == 0 {
            return Ok(Cut::default());
        }
        let last = self.promised(header, At::Kept(kept))?;
        self.behind(header, last)
    }

    fn behind(&self, header: &Header, last: Stored) -> Result<Cut> {
        let next_is_turn = last.counts.kept == header.counts.kept
            || self
                .event_at(&header.id, At::Kept(last.counts.kept + 1))?
                .is_none_or(|next| next.event.effect.starts_turn);
        let is_conversation = last.event.class.is_conversation();
        Ok(Cut::behind(last.counts, last.seq, last.event.id, is_conversation, next_is_turn))
    }

    /// An event that the header's counts say is there.
    fn promised(&self, header: &Header, at: At) -> Result<Stored> {
        let missing = format!("the event at {at:?}");
        self.event_at(&header.id, at)?.ok_or_else(|| {
            forklore_store::Error::MissingAncestor { session: header.id.clone(), missing }.into()
        })
    }

    /// The calls that a cut leaves open: read back no further than to where none was.
    pub(crate) fn open_calls(&self, header: &Header, cut: &Cut) -> Result<OpenCalls> {
        let mut effects = Vec::new();
        self.back_to_closed(header, cut, |event| effects.push(event.event.effect))?;
        Ok(effects.into_iter().rev().collect())
    }

    /// The last cut at or before `cut` that leaves no call open.
    pub(crate) fn cut_without_open_calls(&self, header: &Header, cut: &Cut) -> Result<Cut> {
        let closed = self.back_to_closed(header, cut, |_| {})?;
        self.behind_kept(header, closed.map_or(0, |event| event.counts.kept))
    }

    /// Walks back from `cut` over the events behind which calls are open, and returns the first
    /// behind which none is.
    fn back_to_closed(
        &self,
        header: &Header,
        cut: &Cut,
        mut visit: impl FnMut(Stored),
    ) -> Result<Option<Stored>> {
        let mut next = cut.seq;
        // Nearly always the first event ends the walk.
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

fn many_or_none(found: &[Stored]) -> CutError {
    if found.is_empty() {
        return CutError::NoSuchEvent;
    }
    let seqs = found.iter().take(20).map(|event| event.seq).collect();
    CutError::ManyEvents { seqs, count: found.len() }
}
