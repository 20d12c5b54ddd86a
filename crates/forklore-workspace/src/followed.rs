//! Which of an agent's snapshots belong to a position of a session.

use forklore_core::{ErrorKind, Header, SessionId, SessionKind};
use forklore_engine::Engine;
use forklore_store::port::{At, Direction, LogEntry, Query};
use forklore_store::sources::{FindSource, Source};
use jiff::Timestamp;

use crate::snapshot::Named;
use crate::turns::{AgentSession, Moment};
use crate::{Result, WorkspaceFiles};

/// The most branches of one file whose begin is looked up.
const BRANCHES: usize = 64;

impl WorkspaceFiles {
    /// Returns the last snapshot of an agent's session that belongs to a position: the last one
    /// taken before the event that follows the position.
    pub(crate) fn last_moment(
        &self,
        engine: &Engine,
        header: &Header,
        last: u64,
        folder: &str,
    ) -> Result<Option<Named>> {
        let mut bound: Option<Timestamp> = None;
        let mut header = header.clone();
        let mut last = last;
        loop {
            let at = entry(engine, &header.id, last, Direction::Backward)?;
            let next = last.checked_add(1);
            let next = next.map(|next| entry(engine, &header.id, next, Direction::Forward));
            bound = earlier(bound, next.transpose()?.flatten().map(|next| next.event.ts));
            let source = source_of(engine, &header.id)?;
            if source.is_none() && header.parent_id.is_some() {
                // A fork that was made in forklore: what the agent did later is no part of it.
                bound = earlier(bound, Some(header.created));
            }
            let origin = at.as_ref().map(|at| at.origin.clone());
            if let Some(origin) = origin.filter(|origin| origin.session_id != header.id) {
                let Some(found) = shown(engine, &origin.session_id)? else { return Ok(None) };
                header = found;
                last = origin.seq;
                continue;
            }
            if let Some(source) = source {
                let since = at.map(|at| at.event.ts);
                bound = earlier(bound, next_branch(engine, &source, &header.id, since)?);
                let moments = self.moments(&agent(source))?.into_iter();
                let before = |at: Timestamp| bound.is_none_or(|bound| at < bound);
                let own = moments.filter(|found| found.folder == folder && before(found.at));
                return Ok(last_of(own));
            }
            let cut = header.cut.as_ref().and_then(|cut| cut.seq);
            let (Some(parent), Some(seq)) = (header.parent_id, cut) else { return Ok(None) };
            let Some(found) = shown(engine, &parent)? else { return Ok(None) };
            header = found;
            last = seq;
        }
    }

    /// Returns the last snapshot that was taken before the first event of an imported session.
    pub(crate) fn first_moment(
        &self,
        engine: &Engine,
        header: &Header,
        folder: &str,
    ) -> Result<Option<Named>> {
        let Some(source) = source_of(engine, &header.id)? else { return Ok(None) };
        let first = entry(engine, &header.id, 0, Direction::Forward)?;
        let Some(began) = first.map(|first| first.event.ts) else { return Ok(None) };
        let moments = self.moments(&agent(source))?.into_iter();
        Ok(last_of(moments.filter(|found| found.folder == folder && found.at < began)))
    }
}

/// Returns the last of these snapshots, which names the one before it.
fn last_of(moments: impl Iterator<Item = Moment>) -> Option<Named> {
    let mut moments: Vec<_> = moments.collect();
    let last = moments.pop()?;
    let before = moments.pop().map(|before| before.snapshot);
    Some(Named { before, ..last.into() })
}

/// Returns the agent's session from which a session was imported, while it still follows the
/// agent's file: nothing was appended to it in forklore.
pub(crate) fn followed(engine: &Engine, header: &Header) -> Result<Option<AgentSession>> {
    let source = source_of(engine, &header.id)?.filter(|source| {
        let imported = source.sessions.iter().find(|session| session.id == header.id);
        imported.is_some_and(|imported| imported.events == header.own_events)
    });
    Ok(source.map(agent))
}

/// Returns a session, or nothing if it was deleted: the snapshots of an agent go with its session.
fn shown(engine: &Engine, session: &SessionId) -> Result<Option<Header>> {
    match engine.show(session) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?)),
    }
}

fn agent(source: Source) -> AgentSession {
    AgentSession { dialect: source.dialect, native_id: source.native_id }
}

fn source_of(engine: &Engine, session: &SessionId) -> Result<Option<Source>> {
    let Ok(store) = engine.sources() else { return Ok(None) };
    let found = store.sources(&FindSource::Session(session.clone()));
    Ok(found.map_err(forklore_engine::Error::from)?.into_iter().next())
}

fn entry(
    engine: &Engine,
    session: &SessionId,
    seq: u64,
    direction: Direction,
) -> Result<Option<LogEntry>> {
    let query = Query { at: At::Seq(seq), direction, limit: 1, bare: true };
    let page = engine.store().read(session, &query).map_err(forklore_engine::Error::from)?;
    Ok(page.events.into_iter().next())
}

/// Returns when the next branch of the same file began after a time. From then on, the agent worked
/// in that branch.
fn next_branch(
    engine: &Engine,
    source: &Source,
    session: &SessionId,
    since: Option<Timestamp>,
) -> Result<Option<Timestamp>> {
    let mut next = None;
    for branch in source.sessions.iter().filter(|other| other.id != *session).take(BRANCHES) {
        let header = engine.show(&branch.id)?;
        if header.kind != SessionKind::Branch {
            continue;
        }
        // The first own event is the record of the fork, which is no record of the agent.
        let first = header.inherited.inheritable + 1;
        let began = entry(engine, &branch.id, first, Direction::Forward)?;
        let began = began.map(|began| began.event.ts);
        next = earlier(next, began.filter(|began| since.is_none_or(|since| *began > since)));
    }
    Ok(next)
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
