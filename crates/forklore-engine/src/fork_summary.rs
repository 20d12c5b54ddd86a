//! Finds the summary that a fork recorded after the inherited history of its child.

use forklore_core::{EventType, Header};
use forklore_store::port::{At, Direction, Query};
use serde::Deserialize;

use crate::bring::brought_by;
use crate::{Engine, Result};

impl Engine {
    /// Checks whether the fork that created this session recorded a summary of the parent's history
    /// before the cut. Returns false if the session was deleted, or if its log cannot be read.
    #[must_use]
    pub fn has_summary(&self, header: &Header) -> bool {
        header.deleted.is_none() && self.summary_at_fork(header).is_ok_and(|found| found.is_some())
    }

    /// Returns the strategy of the summary that the fork recorded in `child`, after the inherited
    /// events and the synthetic results (docs/semantics.md, Summary at the fork). Returns `None` if
    /// the fork recorded no summary. The header does not state whether there is a summary, but its
    /// counts give the position of the summary. The method therefore reads only a few events.
    pub(crate) fn summary_at_fork(&self, child: &Header) -> Result<Option<String>> {
        #[derive(Deserialize)]
        struct Recorded {
            #[serde(default)]
            strategy: String,
        }
        if child.parent_id.is_none() || child.own_events < 2 {
            return Ok(None);
        }
        let synthetic = usize::try_from(child.inherited.open).unwrap_or(usize::MAX);
        let query = Query {
            at: At::Seq(child.seq_of_own(1)),
            direction: Direction::Forward,
            limit: synthetic.saturating_add(1),
            bare: true,
        };
        let first = self.store.read(&child.id, &query)?.events;
        let first = first.iter().find(|stored| stored.event.kind != EventType::TOOL_RESULT);
        let is_summary = |kind: &EventType| *kind == EventType::BRANCH_SUMMARY;
        let Some(stored) = first.filter(|stored| is_summary(&stored.event.kind)) else {
            return Ok(None);
        };
        let query = Query { at: At::Seq(stored.seq), limit: 1, bare: false, ..query };
        let page = self.store.read(&child.id, &query)?;
        let data = page.events.first().map(|stored| &stored.event.data);
        // A summary of another branch can be at this position too, if `bring` recorded it in a
        // child without other own events.
        let recorded = data.filter(|data| brought_by(data).is_none());
        Ok(recorded.and_then(|data| data.read().ok()).map(|Recorded { strategy }| strategy))
    }
}
