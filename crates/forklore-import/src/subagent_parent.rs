//! Files of sub-agents. The session of such a file becomes a delegate of the session that called
//! the sub-agent (docs/semantics.md, Words and Sources).

use forklore_core::{Cut, Header, Selector};
use forklore_engine::Result;
use forklore_store::port::{At, Direction, Query};
use forklore_store::sources::{Source, SourceId};
use jiff::Timestamp;

use crate::lookup::Lookup;

const PAGE: usize = 512;

impl Lookup<'_> {
    /// Returns the session that called the file's session as a sub-agent, and the cut at the call.
    /// `caller` is the native id (the agent's own id) of the calling session, and `path` the path of
    /// its file, if that is known. `begun` is the start
    /// time of the sub-agent, and `own` this file's own id in the store. Returns `None` if the
    /// calling session was not imported or was deleted.
    pub(crate) fn subagent_parent(
        &self,
        caller: &str,
        path: Option<&str>,
        begun: Option<Timestamp>,
        own: Option<SourceId>,
    ) -> Result<Option<(Header, Cut)>> {
        let is_at = |source: &Source, path| source.paths.iter().any(|seen| seen.path == path);
        let sources = self.sources_of(caller)?.into_iter();
        let sources = sources.filter(|source| path.is_none_or(|path| is_at(source, path)));
        for source in sources.filter(|source| Some(source.id) != own) {
            let Some(session) = source.sessions.first() else { continue };
            let header = self.engine.store().header(&session.id)?;
            if header.deleted.is_none() {
                let cut = self.called(&header, begun)?;
                return Ok(Some((header, cut)));
            }
        }
        Ok(None)
    }

    /// Returns the cut in the calling session at which a sub-agent was called. It is before the
    /// first event that is later than `begun`, the start time of the sub-agent. Without `begun`, it
    /// is at the start.
    fn called(&self, caller: &Header, begun: Option<Timestamp>) -> Result<Cut> {
        let Some(begun) = begun else { return Ok(Cut::default()) };
        match self.last_until(caller, begun)? {
            None => Ok(Cut::default()),
            Some(seq) => {
                let seq = Selector::Seq(i64::try_from(seq).unwrap_or(i64::MAX));
                // If no event up to this seq is inheritable, the cut is at the start.
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
