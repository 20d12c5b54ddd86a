//! The simple model of a store: it stores the complete log of each session in a list, and computes
//! all answers from these lists.

use std::collections::BTreeMap;

use forklore_core::Usage;
use forklore_core::{
    Counts, Event, Header, Lease, OpenCalls, Origin, SessionId, SessionKind, Strategy, Tombstone,
};
use jiff::Timestamp;

use super::call::{Answer, Call, answer};
use forklore_store::error::{Error, Result};
use forklore_store::port::{
    Append, Appended, Change, Changed, Children, LogEntry, NewSession, Removed,
};

/// The expiry time that stands for a lease which is still valid.
pub(super) const NEVER: Timestamp = Timestamp::MAX;
/// The expiry time that stands for a lease which has expired.
pub(super) const EXPIRED: Timestamp = Timestamp::MIN;

/// The reference model of a store: all sessions ever created, in the order of creation.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) sessions: Vec<Session>,
}

/// A session in the reference model of a store: its header and its complete log.
#[derive(Clone, Debug)]
pub(super) struct Session {
    /// The header as it was written last. Its counts may be out of date, because the reference
    /// model computes them from the log.
    header: Header,
    prefix: Vec<Line>,
    own: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    origin: Origin,
    event: Event,
    /// The session whose segment would contain this event in a store that shares prefixes.
    needed_by: SessionId,
}

impl Model {
    /// Returns, for each session, one session id per event of its prefix: the session whose segment
    /// would contain the event in a store that shares prefixes.
    pub(super) fn references(&self) -> BTreeMap<&SessionId, Vec<&SessionId>> {
        let all = self.sessions.iter();
        all.map(|reported| {
            (reported.id(), reported.prefix.iter().map(|line| &line.needed_by).collect())
        })
        .collect()
    }
}

/// Returns the running counts of a log after each of its events.
fn running<'a>(lines: impl Iterator<Item = &'a Line>) -> impl Iterator<Item = Counts> {
    let mut open = OpenCalls::default();
    let mut sum = Counts::default();
    lines.map(move |Line { event, .. }| {
        if event.class.is_inherited() {
            open.step(&event.effect);
            sum = sum.after(event, &open);
        }
        sum
    })
}

fn counts<'a>(lines: impl Iterator<Item = &'a Line>) -> Counts {
    running(lines).last().unwrap_or_default()
}

impl Session {
    pub(super) fn id(&self) -> &SessionId {
        &self.header.id
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.header.deleted.is_some()
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        let first = usize::from(self.header.parent_id.is_some()).min(self.own.len());
        let (fork, tail) = self.own.split_at(first);
        fork.iter().chain(&self.prefix).chain(tail)
    }

    fn inheritable(&self) -> impl Iterator<Item = &Line> {
        self.lines().filter(|line| line.event.class.is_inherited())
    }

    /// Returns the number of inheritable events in the session's history, which is the highest
    /// possible cut.
    pub(super) fn inheritable_count(&self) -> u64 {
        self.inheritable().count() as u64
    }

    pub(super) fn head(&self) -> i64 {
        self.lines().count() as i64 - 1
    }

    pub(super) fn header(&self) -> Header {
        let bytes = |line: &Line| line.event.data.get().len() as u64;
        Header {
            inherited: counts(self.prefix.iter()),
            counts: counts(self.lines()),
            own_events: self.own.len() as u64,
            own_bytes: self.own.iter().map(bytes).sum(),
            ..self.header.clone()
        }
    }

    pub(super) fn log(&self) -> Vec<LogEntry> {
        let counts = running(self.lines());
        let stored = |(seq, (line, counts)): (u64, (&Line, Counts))| LogEntry {
            seq,
            origin: line.origin.clone(),
            counts,
            event: line.event.clone(),
        };
        (0..).zip(self.lines().zip(counts)).map(stored).collect()
    }

    fn write(&mut self, events: &[Event]) {
        for event in events {
            let origin = Origin { session_id: self.id().clone(), seq: (self.head() + 1) as u64 };
            let line = Line { origin, event: event.clone(), needed_by: self.id().clone() };
            self.own.push(line);
        }
    }

    fn holder(&self) -> Option<&str> {
        let lease = self.header.lease.as_ref().filter(|lease| lease.expires == NEVER);
        lease.map(|lease| lease.owner.as_str())
    }
}

impl Model {
    pub(super) fn tell(&mut self, call: &Call) -> Answer {
        match call {
            Call::Create(new) => {
                answer(self.create(new), |header| Answer::Created(Box::new(header)))
            }
            Call::Append(session, append) => answer(self.append(session, append), Answer::Appended),
            Call::Change(session, change) => {
                answer(self.change(session, change), |changed| Answer::Changed(Box::new(changed)))
            }
            Call::Remove(sessions, children, now) => {
                answer(self.remove(sessions, *children, *now), Answer::Removed)
            }
        }
    }

    fn find(&self, id: &SessionId) -> Result<usize> {
        let found = self.sessions.iter().position(|reported| reported.id() == id);
        found.ok_or_else(|| Error::NotFound(id.clone()))
    }

    fn living(&self, id: &SessionId) -> Result<usize> {
        let at = self.find(id)?;
        if self.sessions[at].is_deleted() { Err(Error::Deleted(id.clone())) } else { Ok(at) }
    }

    fn living_sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.iter().filter(|reported| !reported.is_deleted())
    }

    fn label_is_free(&self, root: &SessionId, header: &Header) -> Result<()> {
        let same = self.living_sessions().find(|reported| {
            reported.header.root_id == *root
                && reported.header.label == header.label
                && reported.id() != &header.id
        });
        same.map_or(Ok(()), |reported| {
            Err(Error::LabelInUse { label: header.label.clone(), by: reported.id().clone() })
        })
    }

    fn create(&mut self, new: &NewSession) -> Result<Header> {
        if self.sessions.iter().any(|reported| reported.id().fold() == new.id.fold()) {
            return Err(Error::IdInUse(new.id.clone()));
        }
        let mut header = new.header(None, Counts::default(), new.created);
        let mut prefix = Vec::new();
        if let Some(from) = &new.from {
            let parent = &self.sessions[self.living(&from.parent)?];
            if from.cut.inheritable > parent.inheritable_count() {
                return Err(Error::Invalid("the cut lies behind the end".into()));
            }
            header.root_id = parent.header.root_id.clone();
            header.depth = parent.header.depth + 1;
            if new.kind == SessionKind::Branch {
                prefix =
                    parent.inheritable().take(from.cut.inheritable as usize).cloned().collect();
            }
            if from.strategy == Strategy::ReplayV1 {
                prefix.iter_mut().for_each(|line| line.needed_by = new.id.clone());
            }
        }
        self.label_is_free(&header.root_id, &header)?;
        let mut session = Session { header, prefix, own: Vec::new() };
        // `session_fork` is the first event of the child. The prefix follows it, and then the tail.
        let prefix = std::mem::take(&mut session.prefix);
        let (fork, tail) = new.events.split_at(usize::from(new.from.is_some()));
        session.write(fork);
        session.prefix = prefix;
        session.write(tail);
        let header = session.header();
        self.sessions.push(session);
        Ok(header)
    }

    fn append(&mut self, session: &SessionId, append: &Append) -> Result<Appended> {
        let at = self.living(session)?;
        let state = &mut self.sessions[at];
        let (head, count) = (state.head(), append.events.len() as i64);
        if count == 0 {
            return Err(Error::Invalid("no events".into()));
        }
        let answer = |from: i64, head_seq: i64, repeated: bool| Appended {
            from_seq: from as u64,
            to_seq: (from + count - 1) as u64,
            head_seq,
            repeated,
        };
        let last_inherited = match state.header.parent_id {
            Some(_) => state.prefix.len() as i64,
            None => -1,
        };
        let own = last_inherited..head;
        if let Some(expected) = append.expect.filter(|expected| own.contains(expected)) {
            let behind: Vec<_> = state
                .lines()
                .skip((expected + 1) as usize)
                .take(count as usize)
                .map(|line| &line.event.id)
                .collect();
            if behind == append.events.iter().map(|event| &event.id).collect::<Vec<_>>() {
                return Ok(answer(expected + 1, head, true));
            }
        }
        match (state.holder(), append.owner.as_deref()) {
            (Some(holder), None) => {
                return Err(Error::Leased { session: session.clone(), owner: holder.into() });
            }
            (holder, Some(owner)) if holder != Some(owner) => {
                return Err(Error::LeaseLost { session: session.clone(), owner: owner.into() });
            }
            _ => {}
        }
        match append.expect {
            Some(expected) if expected != head => {
                return Err(Error::Conflict { session: session.clone(), expected, head });
            }
            _ => {}
        }
        state.write(&append.events);
        let Usage { input, output, cached, cost } = append.usage;
        state.header.usage.input += input;
        state.header.usage.output += output;
        state.header.usage.cached += cached;
        state.header.usage.cost += cost;
        state.header.updated = append.now;
        Ok(answer(head + 1, head + count, false))
    }

    fn change(&mut self, session: &SessionId, change: &Change) -> Result<Changed> {
        let at = self.living(session)?;
        let mut copied_events = 0;
        if let Change::Label(label) = change {
            let header = Header { label: label.clone(), ..self.sessions[at].header.clone() };
            self.label_is_free(&header.root_id, &header)?;
        }
        let head = self.sessions[at].head();
        let state = &mut self.sessions[at];
        match change {
            Change::Label(label) => state.header.label = label.clone(),
            Change::Title(title) => state.header.title = title.clone(),
            Change::Leaf(leaf) => state.header.leaf = leaf.clone(),
            Change::CopyOf(copy_of) => state.header.copy_of = copy_of.clone(),
            Change::Hold { owner, lasts } => {
                let holder = state.holder();
                if let Some(other) = holder.filter(|holder| holder != owner) {
                    return Err(Error::Leased { session: session.clone(), owner: other.into() });
                }
                let began = state.header.lease.as_ref().map(|lease| lease.began_at);
                let began_at = began.filter(|_| holder.is_some()).unwrap_or(head);
                let expires = if lasts.is_zero() { EXPIRED } else { NEVER };
                state.header.lease = Some(Lease { owner: owner.clone(), expires, began_at });
            }
            Change::Release { owner } => {
                if state.header.lease.as_ref().is_none_or(|lease| lease.owner != *owner) {
                    let owner = owner.clone();
                    return Err(Error::LeaseLost { session: session.clone(), owner });
                }
                state.header.lease = None;
            }
            Change::Undelete(_) => unreachable!("no random history brings sessions back"),
            Change::Detach => {
                state.header.detached = true;
                for line in state.prefix.iter_mut().filter(|line| line.needed_by != *session) {
                    line.needed_by = session.clone();
                    copied_events += 1;
                }
            }
        }
        Ok(Changed { header: state.header(), copied_events })
    }

    fn remove(&mut self, ids: &[SessionId], children: Children, now: Timestamp) -> Result<Removed> {
        for id in ids {
            let session = &self.sessions[self.find(id)?];
            if let Some(owner) = session.holder() {
                return Err(Error::Leased { session: id.clone(), owner: owner.into() });
            }
            let builds_on = |child: &&Session| {
                let Header { parent_id, kind, detached, .. } = &child.header;
                parent_id.as_ref() == Some(id)
                    && *kind == SessionKind::Branch
                    && !detached
                    && !ids.contains(child.id())
            };
            let left: Vec<_> =
                self.living_sessions().filter(builds_on).map(|child| child.id().clone()).collect();
            if children == Children::Refuse && !session.is_deleted() && !left.is_empty() {
                return Err(Error::HasChildren {
                    session: id.clone(),
                    count: left.len(),
                    children: left,
                });
            }
        }
        let mut deleted = Vec::new();
        for id in ids {
            let Ok(at) = self.living(id) else { continue };
            let header = &mut self.sessions[at].header;
            header.deleted = Some(Tombstone { deleted: now, restorable: false });
            header.lease = None;
            deleted.push(id.clone());
        }
        let needed = |id: &&SessionId| {
            self.living_sessions()
                .any(|reported| reported.prefix.iter().any(|line| line.needed_by == **id))
        };
        let retained_segments = deleted.iter().filter(needed).count() as u64;
        Ok(Removed { deleted, retained_segments })
    }
}
