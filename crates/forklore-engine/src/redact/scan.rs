//! Finds the events to redact, and their copies in other sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use forklore_api::{Problem, RedactionCause};
use forklore_core::{
    Data, ErrorKind, Event, EventId, EventType, Header, Origin, Redaction, SessionId,
};
use forklore_store::Error as StoreError;
use forklore_store::port::{At, Direction, Filter, LogEntry, Query};
use jiff::Timestamp;

use super::matcher::Matcher;
use super::quotes::may_quote;
use crate::list::problems;
use crate::{Engine, Error, Result};

/// The number of events that one read returns.
const PAGE: usize = 1000;

/// An event to redact.
pub(super) struct Target {
    pub(super) origin: Origin,
    pub(super) event: Event,
    pub(super) why: RedactionCause,
}

pub(super) type Targets = BTreeMap<Origin, Target>;

/// The search for the events to redact.
pub(super) struct Scan<'e> {
    pub(super) engine: &'e Engine,
    /// All sessions that are not erased.
    pub(super) sessions: BTreeMap<SessionId, Header>,
    /// The erased sessions. Their events are in the histories of others.
    erased: BTreeMap<SessionId, Header>,
    pub(super) targets: Targets,
    /// The events that were found and had been redacted before.
    pub(super) already: BTreeSet<Origin>,
    /// The summaries and compactions of all sessions.
    pub(super) summaries: Vec<(SessionId, u64)>,
    pub(super) problems: Vec<Problem>,
}

impl<'e> Scan<'e> {
    pub(super) fn of(engine: &'e Engine) -> Result<Self> {
        let all = Filter { deleted: true, ..Filter::default() };
        let found = engine.store.sessions(&all, None, 0)?;
        let headers = found.sound.into_iter().map(|header| (header.id.clone(), header));
        let (erased, sessions) = headers.partition(|(_, header)| header.is_erased());
        Ok(Self {
            engine,
            sessions,
            erased,
            targets: Targets::new(),
            already: BTreeSet::new(),
            summaries: Vec::new(),
            problems: problems(&found.damaged),
        })
    }

    /// Adds the events that the request names.
    pub(super) fn named(&mut self, names: &[String]) -> Result<()> {
        let mut ids: HashMap<EventId, bool> = HashMap::new();
        for name in names {
            if let Some((session, seq)) = position_of(name) {
                let entry = match self.sessions.get(&session) {
                    Some(_) => self.entry(&session, seq)?,
                    None => return Err(StoreError::NotFound(session).into()),
                };
                let entry = entry.ok_or_else(|| no_event(name))?;
                self.add(entry, RedactionCause::Named);
            } else {
                let id: EventId = name.parse().map_err(|_| no_event(name))?;
                ids.insert(id, false);
            }
        }
        if ids.is_empty() {
            return Ok(());
        }
        let mut found = Vec::new();
        for id in self.sessions.keys().cloned().collect::<Vec<_>>() {
            self.each(&id, false, true, |entry| {
                if let Some(is_found) = ids.get_mut(&entry.event.id) {
                    *is_found = true;
                    found.push((id.clone(), entry.seq));
                }
            })?;
        }
        if let Some((id, _)) = ids.iter().find(|(_, is_found)| !**is_found) {
            return Err(no_event(id.as_str()));
        }
        self.add_all(found, RedactionCause::Named)
    }

    /// Adds the event with this origin.
    pub(super) fn stored(&mut self, origin: &Origin) -> Result<()> {
        if let Some(entry) = self.entry(&origin.session_id, origin.seq)? {
            self.add(entry, RedactionCause::Named);
        }
        Ok(())
    }

    /// Adds the events with the text to find in the histories of these sessions.
    pub(super) fn matching(&mut self, sessions: &[SessionId], matcher: &Matcher) -> Result<()> {
        for id in sessions {
            if !self.sessions.contains_key(id) {
                return Err(StoreError::NotFound(id.clone()).into());
            }
            let mut found = Vec::new();
            let problems = self.problems.len();
            self.each(id, true, false, |entry| {
                // A redacted event may contain the text in the name of a tool. It stays.
                if matcher.finds_in(&entry.event.data) {
                    found.push(entry);
                }
            })?;
            if let Some(problem) = self.problems.get(problems) {
                let (session, message) = (Some(id.clone()), problem.message.clone());
                let location = format!("the history of {id}");
                return Err(StoreError::Corrupt { session, seq: None, location, message }.into());
            }
            found.into_iter().for_each(|entry| self.add(entry, RedactionCause::Matched));
        }
        Ok(())
    }

    /// Adds the copies of all targets in other sessions, and finds the summaries.
    pub(super) fn copies(&mut self) -> Result<()> {
        let wanted = Wanted::of(&self.targets, &self.sessions);
        for id in self.sessions.keys().cloned().collect::<Vec<_>>() {
            let is_linked = wanted.is_linked(self.sessions.get(&id));
            let (mut found, mut summaries) = (Vec::new(), Vec::new());
            self.each(&id, false, true, |entry| {
                if wanted.may_be(&entry.event, is_linked) {
                    found.push(entry.seq);
                }
                if may_quote(&entry.event.kind) {
                    summaries.push((id.clone(), entry.seq));
                }
            })?;
            self.summaries.extend(summaries);
            for seq in found {
                if let Some(entry) = self.entry(&id, seq)?
                    && !self.targets.contains_key(&entry.origin)
                    && wanted.is(&entry.event, is_linked)
                {
                    self.add(entry, RedactionCause::Copy);
                }
            }
        }
        Ok(())
    }

    /// Adds an event, unless it was redacted before.
    pub(super) fn add(&mut self, entry: LogEntry, why: RedactionCause) {
        let LogEntry { origin, event, .. } = entry;
        if Redaction::of(&event.data).is_some() {
            self.already.insert(origin);
            return;
        }
        let target = Target { origin: origin.clone(), event, why };
        self.targets.entry(origin).or_insert(target);
    }

    fn add_all(&mut self, found: Vec<(SessionId, u64)>, why: RedactionCause) -> Result<()> {
        for (session, seq) in found {
            if let Some(entry) = self.entry(&session, seq)? {
                self.add(entry, why);
            }
        }
        Ok(())
    }

    /// Returns the event at a seq of a session, also of one in the trash.
    pub(super) fn entry(&self, session: &SessionId, seq: u64) -> Result<Option<LogEntry>> {
        let (at, direction) = (At::Seq(seq), Direction::Forward);
        let query = Query { at, direction, limit: 1, bare: false };
        let found = self.engine.store.read_in_trash(session, &query)?.events.pop();
        Ok(found.filter(|entry| entry.seq == seq))
    }

    /// Calls `see` for the events of a session: for its own, or for the whole history if `whole` is
    /// set or if an ancestor was erased. A session that cannot be read becomes a problem.
    fn each(
        &mut self,
        id: &SessionId,
        whole: bool,
        bare: bool,
        mut see: impl FnMut(LogEntry),
    ) -> Result<()> {
        let Some(header) = self.sessions.get(id) else { return Ok(()) };
        let whole = whole || self.line_of(header).any(|id| self.erased.contains_key(id));
        let own_from = match header.parent_id {
            Some(_) if !whole => header.seq_of_own(1),
            _ => 0,
        };
        match self.pages(id, own_from, bare, &mut see) {
            Err(Error::Store(error)) if is_of_session(&error) => {
                self.problems.push(error.problem(Some(id)));
                Ok(())
            }
            done => done,
        }
    }

    fn pages(
        &self,
        id: &SessionId,
        from: u64,
        bare: bool,
        see: &mut impl FnMut(LogEntry),
    ) -> Result<()> {
        let mut seq = from;
        loop {
            let (at, direction) = (At::Seq(seq), Direction::Forward);
            let query = Query { at, direction, limit: PAGE, bare };
            let page = self.engine.store.read_in_trash(id, &query)?;
            let next = page.events.last().filter(|_| page.more).map(|last| last.seq + 1);
            page.events.into_iter().for_each(&mut *see);
            let Some(next) = next else { return Ok(()) };
            seq = next;
        }
    }

    /// Returns the session and its ancestors, as far as the store knows them.
    pub(super) fn line_of<'s>(&'s self, header: &'s Header) -> impl Iterator<Item = &'s SessionId> {
        let sessions = self.sessions.len() + self.erased.len();
        let header_of = |id| self.sessions.get(id).or_else(|| self.erased.get(id));
        let parent = move |id: &&'s SessionId| header_of(*id)?.parent_id.as_ref();
        // Damage may lead in a circle.
        std::iter::successors(Some(&header.id), parent).take(sessions)
    }
}

fn is_of_session(error: &StoreError) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::MissingAncestor | ErrorKind::NotFound)
}

/// Parses `SESSION:SEQ`. `None` if it is none.
fn position_of(name: &str) -> Option<(SessionId, u64)> {
    let (session, seq) = name.rsplit_once(':')?;
    Some((session.parse().ok()?, seq.parse().ok()?))
}

fn no_event(name: &str) -> Error {
    Error::invalid("no_event", format!("there is no event {name:?}"))
}

/// What identifies copies of the targets under another origin.
struct Wanted {
    moments: HashSet<(EventType, Timestamp)>,
    ids: HashSet<(EventType, EventId)>,
    payloads: HashMap<(EventType, Data), Vec<(Timestamp, EventId)>>,
    kinds: HashSet<EventType>,
    writers: HashSet<SessionId>,
    /// The sessions of which a writer is a copy.
    originals: HashSet<SessionId>,
}

impl Wanted {
    fn of(targets: &Targets, sessions: &BTreeMap<SessionId, Header>) -> Self {
        let writers: HashSet<_> = targets.keys().map(|origin| origin.session_id.clone()).collect();
        let copies = writers.iter().filter_map(|id| sessions.get(id)?.copy_of.as_ref());
        let originals = copies.map(|copy| copy.session_id.clone()).collect();
        let events = || targets.values().map(|target| &target.event);
        let mut payloads: HashMap<_, Vec<_>> = HashMap::new();
        for Event { id, ts, kind, data, .. } in events() {
            payloads.entry((kind.clone(), data.clone())).or_default().push((*ts, id.clone()));
        }
        Self {
            moments: events().map(|event| (event.kind.clone(), event.ts)).collect(),
            ids: events().map(|event| (event.kind.clone(), event.id.clone())).collect(),
            payloads,
            kinds: events().map(|event| event.kind.clone()).collect(),
            writers,
            originals,
        }
    }

    /// Checks whether a session is linked as a copy to one that wrote a target.
    fn is_linked(&self, header: Option<&Header>) -> bool {
        let Some(header) = header else { return false };
        let of = header.copy_of.as_ref().map(|copy| &copy.session_id);
        of.is_some_and(|of| self.writers.contains(of)) || self.originals.contains(&header.id)
    }

    /// Checks whether an event may be a copy. Its payload is not known yet.
    fn may_be(&self, event: &Event, is_linked: bool) -> bool {
        (is_linked && self.kinds.contains(&event.kind))
            || self.moments.contains(&(event.kind.clone(), event.ts))
            || self.ids.contains(&(event.kind.clone(), event.id.clone()))
    }

    /// Checks whether an event is a copy.
    fn is(&self, event: &Event, is_linked: bool) -> bool {
        let Event { id, ts, kind, data, .. } = event;
        if self.moments.contains(&(kind.clone(), *ts))
            && self.ids.contains(&(kind.clone(), id.clone()))
        {
            return true;
        }
        let same = self.payloads.get(&(kind.clone(), data.clone()));
        same.is_some_and(|same| is_linked || same.iter().any(|(at, name)| at == ts || name == id))
    }
}
