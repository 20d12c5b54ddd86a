//! Files of a sub-agent: their session is a delegate of the one that called it (SPEC 1, 11).

use forklore_core::{Cut, Header, Selector};
use forklore_store::port::{At, Direction, Query};
use jiff::Timestamp;

use crate::reading::Reading;
use crate::report::ProblemKind;
use forklore_engine::Result;

const PAGE: usize = 512;

impl Reading<'_> {
    /// The session that called the file's own, and where that was. None, with a problem, when it
    /// is not there: then the file's is a root.
    pub(crate) fn caller(&mut self) -> Result<Option<(Header, Cut)>> {
        let Some(caller) = self.state.facts.caller.clone() else { return Ok(None) };
        let sources = self.sources_of(&caller)?.into_iter();
        for source in sources.filter(|source| Some(source.id) != self.source) {
            let Some(session) = source.sessions.first() else { continue };
            let header = self.engine.store().header(&session.id)?;
            if header.deleted.is_none() {
                let cut = self.called(&header)?;
                return Ok(Some((header, cut)));
            }
        }
        let message = "the session that called this one as a sub-agent was not imported";
        self.problem(ProblemKind::MissingBase, message);
        Ok(None)
    }

    /// Behind the last event that is not younger than the sub-agent.
    fn called(&self, caller: &Header) -> Result<Cut> {
        let Some(begun) = self.state.facts.created else { return Ok(Cut::default()) };
        match self.last_until(caller, begun)? {
            None => Ok(Cut::default()),
            Some(seq) => {
                let seq = Selector::Seq(i64::try_from(seq).unwrap_or(i64::MAX));
                // Nothing of it may be inherited, and then it was called at the start.
                Ok(self.engine.cut(caller, &seq).unwrap_or_default())
            }
        }
    }

    fn last_until(&self, session: &Header, time: Timestamp) -> Result<Option<u64>> {
        let (mut from, mut last) = (0, None);
        loop {
            let at = At::Seq(from);
            let query = Query { at, direction: Direction::Forward, limit: PAGE, bare: true };
            let page = self.engine.store().read(&session.id, &query)?.events;
            let Some(end) = page.last().map(|stored| stored.seq) else { return Ok(last) };
            for stored in page {
                if stored.event.ts > time {
                    return Ok(last);
                }
                last = Some(stored.seq);
            }
            from = end + 1;
        }
    }
}
