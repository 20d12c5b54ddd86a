//! Converts the sessions of any store to quads. A projection is a stream, needs constant memory per
//! session, and changes nothing.
//!
//! Each event occurs once, in the named graph of the session that wrote it, and is projected
//! together with that session. If that session was deleted, the event is projected together with
//! the first session that inherits it.

use std::collections::{HashMap, HashSet, VecDeque};

use forklore_api::GraphScope as Scope;
use forklore_core::Usage;
use forklore_core::{Header, Origin, SessionId, SessionKind};
use forklore_engine::{Engine, Error, Events, Result, UsageScope};
use forklore_store::port::{At, Direction, Filter, LogEntry, Query};
use jiff::Timestamp;
use oxigraph::model::Quad;

use crate::event::{self, Preceding};
use crate::session::{self, Principals};

/// Number of events in each page when events are read backwards.
const LOOK_BACK: usize = 64;

/// An iterator over the RDF quads of sessions. Each item contains the quads of one event or of one
/// session header. The item of a fork's header may also contain those of its first event. The
/// iterator ends after an error.
pub struct Projection<'a> {
    engine: &'a Engine,
    /// The headers of the sessions whose quads were not returned yet, including deleted sessions.
    /// Parents come before children.
    waiting: VecDeque<Header>,
    now: Option<Projected>,
    /// The deleted sessions, by id. Other sessions may still inherit their events.
    buried: HashMap<SessionId, Buried>,
    principals: Principals,
}

struct Buried {
    header: Header,
    projected: Option<u64>,
}

/// The session whose quads are being returned, with its remaining events, and with what precedes
/// the next event.
struct Projected {
    header: Header,
    events: Events,
    preceding: Preceding,
}

impl<'a> Projection<'a> {
    /// Creates an iterator over the quads of the sessions in `scope`.
    ///
    /// # Errors
    /// `not_found` if `scope` names a session that does not exist, `corrupt` if a session's header
    /// cannot be read, and `missing_ancestor` if the parent of a session is not there.
    pub fn new(engine: &'a Engine, scope: &Scope) -> Result<Self> {
        let everybody = Filter { deleted: true, ..Filter::default() };
        let listed = |filter: &Filter| engine.store().sessions(filter, None, 0)?.all();
        let headers = match scope {
            Scope::Family(id) => {
                listed(&Filter { family: Some(engine.show(id)?.root_id), ..everybody })?
            }
            Scope::Workspace(workspace) => {
                let there = Filter { workspace: Some(workspace.clone()), ..everybody.clone() };
                let roots: HashSet<_> =
                    listed(&there)?.into_iter().map(|header| header.root_id).collect();
                let mut all = listed(&everybody)?;
                all.retain(|header| roots.contains(&header.root_id));
                all
            }
            Scope::Everything => listed(&everybody)?,
        };
        check_parents(&headers)?;
        Ok(Self::of(engine, headers))
    }

    /// Creates an iterator over the quads of these sessions. If one of them was deleted, `headers`
    /// must contain all sessions of its family (all sessions with the same root).
    pub(crate) fn of(engine: &'a Engine, mut headers: Vec<Header>) -> Self {
        headers.sort_by(|a, b| {
            let key = |header: &Header| (header.created, header.depth);
            key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id))
        });
        let buried = headers.iter().filter(|header| header.deleted.is_some());
        let buried = buried
            .map(|header| (header.id.clone(), Buried { header: header.clone(), projected: None }))
            .collect();
        let waiting = headers.into();
        Self { engine, waiting, now: None, buried, principals: Principals::new() }
    }

    /// Creates an iterator over the quads of a session's own events (those that it did not
    /// inherit), without its header. Skips the first `own_events` of these events.
    pub(crate) fn since(engine: &'a Engine, header: Header, own_events: u64) -> Result<Self> {
        let mut all = Self::of(engine, Vec::new());
        let (seq, mut preceding) = (header.seq_of_own(own_events), Preceding::default());
        if let Some(before) = seq.checked_sub(1) {
            all.look_back(&header, before, &mut preceding)?;
            preceding.message = all.last_message(&header, before)?;
        }
        let events = engine.events(&header.id, At::Seq(seq));
        all.now = Some(Projected { header, events, preceding });
        Ok(all)
    }

    /// Returns how many sessions the iterator has not begun yet.
    pub(crate) fn sessions(&self) -> u64 {
        u64::try_from(self.waiting.len()).unwrap_or(u64::MAX)
    }

    /// Returns the quads of the next session header or event, or `None` at the end.
    fn advance(&mut self) -> Result<Option<Vec<Quad>>> {
        loop {
            let Some(projected) = &mut self.now else {
                let Some(header) = self.waiting.pop_front() else { return Ok(None) };
                return self.begin(header).map(Some);
            };
            let Some(stored) = projected.events.next() else {
                self.now = None;
                continue;
            };
            let stored = stored?;
            let mut out = Vec::new();
            if stored.origin.session_id == projected.header.id {
                event::describe(
                    self.engine,
                    &projected.header,
                    &stored,
                    &mut projected.preceding,
                    &mut out,
                );
                return Ok(Some(out));
            }
            if let Some(writer) = self.buried.get_mut(&stored.origin.session_id)
                && writer.projected.is_none_or(|seq| seq < stored.origin.seq)
            {
                writer.projected = Some(stored.origin.seq);
                event::describe(
                    self.engine,
                    &writer.header,
                    &stored,
                    &mut projected.preceding,
                    &mut out,
                );
                return Ok(Some(out));
            }
            projected.preceding.follow(&stored);
        }
    }

    /// Begins a session: returns the quads of its header, and makes its events the next to convert.
    /// A fork whose inherited events are skipped begins with its own events, so this function also
    /// returns the quads of its first event. No events follow for a deleted session.
    fn begin(&mut self, header: Header) -> Result<Vec<Quad>> {
        let mut out = Vec::new();
        let usage = Self::usage(self.engine, &header)?;
        session::describe(&header, usage, &mut self.principals, &mut out);
        if header.deleted.is_some() {
            return Ok(out);
        }
        let inherits = header.kind == SessionKind::Branch && header.inherited.inheritable > 0;
        let (events, preceding) = if inherits && !self.has_buried_ancestor(&header)? {
            self.fork(&header, &mut out)?
        } else {
            (self.engine.events(&header.id, At::Seq(0)), Preceding::default())
        };
        self.now = Some(Projected { header, events, preceding });
        Ok(out)
    }

    /// Adds the quads of a fork's first event, its `session_fork`. Returns the fork's own events
    /// after the inherited ones, and what precedes these own events.
    fn fork(&self, header: &Header, out: &mut Vec<Quad>) -> Result<(Events, Preceding)> {
        let first = Query { at: At::Seq(0), direction: Direction::Forward, limit: 1, bare: false };
        for stored in self.engine.store().read(&header.id, &first)?.events {
            event::describe(self.engine, header, &stored, &mut Preceding::default(), out);
        }
        let mut preceding = Preceding::default();
        let last = header.inherited.inheritable;
        if header.inherited.open > 0 {
            self.look_back(header, last, &mut preceding)?;
        }
        preceding.message = self.last_message(header, last)?;
        Ok((self.engine.events(&header.id, At::Seq(last + 1)), preceding))
    }

    /// Returns the origin and the time of the last conversation event up to and including the event
    /// with the seq `at`. Returns `None` if there is no such event.
    fn last_message(&self, header: &Header, at: u64) -> Result<Option<(Origin, Timestamp)>> {
        let read = |at| {
            let query = Query { at, direction: Direction::Backward, limit: 1, bare: true };
            Ok::<_, Error>(self.engine.store().read(&header.id, &query)?.events.pop())
        };
        let mut last = read(At::Seq(at))?;
        if let Some(other) = last.take_if(|last| !last.event.class.is_conversation()) {
            let index = other.counts.index.checked_sub(1);
            last = index.map(|index| read(At::Index(index))).transpose()?.flatten();
        }
        Ok(last.map(|last| (last.origin, last.event.ts)))
    }

    /// Adds to `preceding` the tool calls that are still without a result after the event with the
    /// seq `at`. Reads backwards to an event after which every call had a result, or to the start
    /// of a turn.
    fn look_back(&self, header: &Header, mut at: u64, preceding: &mut Preceding) -> Result<()> {
        let mut found: Vec<LogEntry> = Vec::new();
        'back: loop {
            let query = Query {
                at: At::Seq(at),
                direction: Direction::Backward,
                limit: LOOK_BACK,
                bare: true,
            };
            let page = self.engine.store().read(&header.id, &query)?;
            let Some(last) = page.events.last() else { break };
            let first = last.seq;
            for stored in page.events {
                let done = stored.counts.open == 0;
                let begins = stored.event.effect.starts_turn;
                if !done {
                    found.push(stored);
                }
                if done || begins {
                    break 'back;
                }
            }
            match first.checked_sub(1) {
                Some(before) => at = before,
                None => break,
            }
        }
        for stored in found.iter().rev() {
            preceding.follow(stored);
        }
        Ok(())
    }

    fn has_buried_ancestor(&self, header: &Header) -> Result<bool> {
        if self.buried.is_empty() {
            return Ok(false);
        }
        let mut next = header.parent_id.clone();
        // The session's depth limits the loop, because damaged parent links may form a cycle.
        for _ in 0..=header.depth {
            let Some(id) = next else { break };
            if self.buried.contains_key(&id) {
                return Ok(true);
            }
            next = self.engine.store().header(&id)?.parent_id;
        }
        Ok(false)
    }

    /// Returns the usage of the model calls that the session itself made. For an imported session,
    /// computes it from the agent's records.
    pub(crate) fn usage(engine: &Engine, header: &Header) -> Result<Usage> {
        if header.dialect.is_none() || header.deleted.is_some() {
            return Ok(header.usage);
        }
        Ok(engine.usage_report(&UsageScope::Session(header.id.clone()))?.usage)
    }
}

/// Checks that the parent of each session is among the sessions. Without an ancestor, a graph would
/// contain only a part of some histories, and would answer queries about them wrongly.
///
/// # Errors
/// `missing_ancestor`, which names the first session whose parent is missing.
pub(crate) fn check_parents(headers: &[Header]) -> Result<()> {
    let there: HashSet<_> = headers.iter().map(|header| &header.id).collect();
    let missing = headers.iter().find_map(|header| {
        let parent = header.parent_id.as_ref().filter(|parent| !there.contains(parent))?;
        Some((header.id.clone(), parent))
    });
    let Some((session, parent)) = missing else { return Ok(()) };
    let missing = format!("its parent {parent}");
    Err(forklore_store::Error::MissingAncestor { session, missing }.into())
}

impl Iterator for Projection<'_> {
    type Item = Result<Vec<Quad>>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if next.is_err() {
            self.waiting.clear();
            self.now = None;
        }
        next.transpose()
    }
}
