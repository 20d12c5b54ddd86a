//! Verifies a store: reads all its data and reports the problems.

use std::borrow::Cow;
use std::collections::HashSet;

use forklore_core::lineage::{Span, Unit};
use forklore_core::{Counts, ErrorKind, Header, SessionId};
use forklore_store::port::{Direction, Problem, Verification};
use forklore_store::{Error, Result};
use rusqlite::Connection;

use crate::ancestry;
use crate::fault::Fault;
use crate::feed;
use crate::history::{History, Stretch};
use crate::integer::signed;
use crate::operation;
use crate::private_segment;
use crate::row::Row;
use crate::segment::{self, Next, Range, Segment, Wanted};
use crate::session::{self, Session};
use crate::sources;
use crate::store::SqliteStore;

/// Maximum number of positions that verification reads in one read transaction. Between two
/// transactions, a checkpoint can write the WAL back.
const BATCH: u64 = 4_096;

/// Number of reads with too many steps after which the verification of a whole store stops. Each
/// such read takes long, and in a damaged file every session may cause some.
const ENDLESS: u64 = 20;

/// Verifies one session, including all events that it inherits.
pub(crate) fn session(store: &SqliteStore, id: &SessionId) -> Result<Verification> {
    let mut check = Check::new(store);
    let found = store.read_with("reading", |conn| {
        session::living(conn, id)?;
        session::with_notes(conn, id)
    });
    let session = match found {
        Err(error @ (Error::NotFound(_) | Error::Deleted(_))) => return Err(error),
        Err(error) => {
            check.problem(Some(id), None, &error);
            return Ok(check.found);
        }
        Ok(session) => session,
    };
    check.found.sessions = 1;
    check.lineage(&session);
    check.head(&session);
    for stretch in check.stretches(&session) {
        check.range(stretch.range, Some(&session.header), stretch.base.inheritable);
    }
    Ok(check.found)
}

/// Verifies the database file and all its content. Reads events that several sessions share only
/// once.
pub(crate) fn all(store: &SqliteStore) -> Result<Verification> {
    let mut check = Check::new(store);
    // This finds pages that lead in a circle, and does not follow them.
    check.file();
    check.each(session::next, |check, sid| {
        let read = |conn: &Connection| session::numbered(conn, sid);
        match check.store.read_with("reading", read) {
            Ok(session) => check.stored(&session),
            Err(error) => check.problem(None, None, &error),
        }
    });
    if let Err(error) = store.read_with("reading", feed::check) {
        check.problem(None, None, &error);
    }
    match operation::check(store) {
        Err(error) => check.problem(None, None, &error),
        Ok(damaged) => damaged.iter().for_each(|error| check.problem(None, None, error)),
    }
    match store.read_with("reading", private_segment::all) {
        Err(error) => check.problem(None, None, &error),
        Ok(found) => {
            for private in found.iter().filter(|private| private.heartbeat.is_none()) {
                let (segment, to) = (private.segment, private.inheritable_to);
                check.range(Range { segment, from: 0, to, inherited: false }, None, 0);
                check.nothing_behind(segment, to, None);
            }
        }
    }
    check.each(sources::next, |check, source| {
        if let Err(error) = check.store.read_with("reading", |conn| sources::check(conn, source)) {
            check.problem(None, None, &error);
        }
    });
    Ok(check.found)
}

struct Check<'s> {
    store: &'s SqliteStore,
    found: Verification,
    /// The ids of the ancestry pages (lists of inherited ranges) that were already checked.
    pages: HashSet<i64>,
    /// The numbers of the sessions whose ancestors were already checked up to the root.
    sound: HashSet<Segment>,
    /// The verification stops when this store handle has ended this many operations because they
    /// took too many steps.
    endless: u64,
}

impl<'s> Check<'s> {
    fn new(store: &'s SqliteStore) -> Self {
        let (found, pages, sound) = <_>::default();
        Self { store, found, pages, sound, endless: store.endless() + ENDLESS }
    }

    fn problem(&mut self, session: Option<&SessionId>, seq: Option<u64>, error: &Error) {
        let (mut session_id, mut at) = (session.cloned(), seq);
        if let Error::Corrupt { session, seq, .. } = error {
            session_id = session.clone().or(session_id);
            at = seq.or(at);
        }
        self.found.problems.push(Problem {
            session_id,
            seq: at,
            attachment: None,
            kind: error.kind(),
            message: error.to_string(),
        });
    }

    /// Checks the database file with SQLite's own integrity check.
    fn file(&mut self) {
        let messages = self.store.read_with("checking", |conn| {
            let mut statement = conn.prepare("PRAGMA integrity_check(20)")?;
            let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        });
        match messages {
            Err(error) => self.problem(None, None, &error),
            Ok(messages) => {
                for message in messages.into_iter().filter(|message| message != "ok") {
                    let kind = ErrorKind::Corrupt;
                    let message = format!("{}: {message}", self.store.path().display());
                    self.found.problems.push(Problem {
                        session_id: None,
                        seq: None,
                        attachment: None,
                        kind,
                        message,
                    });
                }
            }
        }
    }

    /// Calls `look` with the number of each row of a table, in ascending order. `next` returns the
    /// lowest number that is greater than a given one.
    fn each(
        &mut self,
        next: impl Fn(&Connection, i64) -> Result<Option<i64>, Fault>,
        mut look: impl FnMut(&mut Self, i64),
    ) {
        let mut last = 0;
        loop {
            if self.store.endless() >= self.endless {
                let location = self.store.path().display().to_string();
                let message = "too many reads of it do not end; the rest was not verified".into();
                let error = Error::Corrupt { session: None, seq: None, location, message };
                return self.problem(None, None, &error);
            }
            match self.store.read_with("reading", |conn| next(conn, last)) {
                Ok(Some(number)) if number > last => {
                    look(self, number);
                    last = number;
                }
                Ok(_) => return,
                Err(error) => return self.problem(None, None, &error),
            }
        }
    }

    /// Verifies a session: its row, its own events, its list of inherited ranges and its ancestors.
    /// For an erased session, checks only the events that remain. A session in the trash is checked
    /// like a living one, but not counted.
    fn stored(&mut self, session: &Session) {
        let own = Range {
            segment: session.sid,
            from: 0,
            to: session.header.own_events,
            inherited: false,
        };
        if session.header.is_erased() {
            let to = session.inheritable_to.unwrap_or_default();
            self.range(
                Range { to, ..own },
                Some(&session.header),
                session.header.inherited.inheritable,
            );
            self.nothing_behind(session.sid, to, Some(&session.header.id));
            return;
        }
        self.found.sessions += u64::from(session.header.deleted.is_none());
        self.lineage(session);
        self.range(own, Some(&session.header), session.header.inherited.inheritable);
        self.head(session);
        self.ancestry(session);
    }

    /// Checks that a session's ancestors exist, up to the root, and form no circle.
    fn lineage(&mut self, session: &Session) {
        let mut seen = HashSet::from([session.sid]);
        let mut parent = session.parent;
        while let Some(sid) = parent.filter(|sid| !self.sound.contains(sid)) {
            let id = &session.header.id;
            if !seen.insert(sid) {
                self.found.problems.push(Problem {
                    session_id: Some(id.clone()),
                    seq: None,
                    attachment: None,
                    kind: ErrorKind::LineageCycle,
                    message: format!("the ancestors of session {id} run in a circle"),
                });
                return;
            }
            let read = |conn: &Connection| Ok(session::identity(conn, sid)?.parent);
            match self.store.read_with("reading", read) {
                Ok(next) => parent = next,
                Err(error) => return self.problem(Some(id), None, &error),
            }
        }
        self.sound.extend(seen);
    }

    /// Checks that a session's header counts all events of its segment. No other check detects a
    /// header with too few events, because a history is read only up to the head in its header.
    fn head(&mut self, session: &Session) {
        let header = &session.header;
        let checked = self.store.read_with("reading", |conn| {
            let location = || format!("session row {}", session.sid);
            let end = segment::end(conn, session.sid)?;
            if end > header.own_events {
                let recorded = header.own_events;
                let message = format!("it knows {recorded} of the {end} events of its segment");
                return Err(Fault::damaged(location(), &message));
            }
            let last = header.own_events.checked_sub(1);
            let row = last.map(|last| segment::at(conn, session.sid, last)).transpose()?.flatten();
            let counts = row.map(|row| row.counts.based_on(header.inherited));
            // The numbers of open calls are not compared, because the first event of a fork does
            // not record which calls its prefix left open.
            let recorded =
                |counts: Counts| (counts.inheritable, counts.index, counts.turns, counts.bytes);
            match counts {
                Some(counts) if recorded(counts) != recorded(header.counts) => {
                    Err(Fault::damaged(location(), "its counts are not those of its last event"))
                }
                _ => Ok(()),
            }
        });
        if let Err(error) = checked {
            self.problem(Some(&header.id), None, &error);
        }
    }

    /// Checks that a segment has no events from position `to` on. The segment is that of an erased
    /// session, or a private copy of events. Its events from `to` on should have been erased.
    fn nothing_behind(&mut self, segment: Segment, to: u64, owner: Option<&SessionId>) {
        let checked = self.store.read_with("reading", |conn| {
            let end = segment::end(conn, segment)?;
            let message = format!("it was cut at position {to} and has events up to {end}");
            let left = || Fault::damaged(format!("segment {segment}"), &message);
            (end <= to).then_some(()).ok_or_else(left)
        });
        if let Err(error) = checked {
            self.problem(owner, None, &error);
        }
    }

    /// Checks the list of event ranges that a session inherits. A part of the list that several
    /// sessions share (an ancestry page) is checked only once.
    fn ancestry(&mut self, session: &Session) {
        let mut seen = std::mem::take(&mut self.pages);
        let checked = self.store.read_with("reading", |conn| {
            let list = History::of(conn, Cow::Borrowed(session))?.ancestry;
            check_counts(conn, &list.spans, session.header.inherited)?;
            let mut next: Vec<_> = list.page.into_iter().collect();
            while let Some(id) = next.pop() {
                if seen.insert(id) {
                    let page = ancestry::page(conn, id)?;
                    check_counts(conn, &page.before.spans, page.end)?;
                    next.extend(page.others());
                }
            }
            Ok(())
        });
        self.pages = seen;
        if let Err(error) = checked {
            self.problem(Some(&session.header.id), None, &error);
        }
    }

    /// Divides a session's history into stretches: consecutive events that are stored in one
    /// segment. Checks that the first and the last event of each inherited stretch exist. Stops at
    /// the first failure, reports it as a problem, and returns the stretches before it.
    fn stretches(&mut self, session: &Session) -> Vec<Stretch> {
        let header = &session.header;
        let mut stretches = Vec::new();
        let mut seq = 0;
        while i64::try_from(seq).is_ok_and(|seq| seq <= header.head_seq()) {
            let found = self.store.read_with("reading", |conn| {
                let history = History::of(conn, Cow::Borrowed(session))?;
                let stretch = history.stretch(conn, seq)?;
                if stretch.range.inherited {
                    // Check only the first and the last event here. [`Check::range`] reads the
                    // events between them.
                    history.row(conn, stretch.seqs.0)?;
                    history.row(conn, stretch.seqs.1)?;
                }
                Ok(stretch)
            });
            match found {
                Ok(stretch) => {
                    seq = stretch.seqs.1 + 1;
                    stretches.push(stretch);
                }
                Err(error) => {
                    self.problem(Some(&header.id), Some(seq), &error);
                    break;
                }
            }
        }
        stretches
    }

    /// Reads all events of a range of a segment, and reports damage and gaps. `owner` is the header
    /// of the session in whose history the range is, if any. `inherited` is the number of inherited
    /// events before the range.
    fn range(&mut self, range: Range, owner: Option<&Header>, inherited: u64) {
        let living = owner.is_some_and(|header| !header.is_erased()) && !range.inherited;
        let seq = |position: u64| match owner {
            Some(header) if !range.inherited => header.seq_of_own(position),
            _ => inherited + position + 1,
        };
        let mut from = range.from;
        let mut behind = Some((range.from, 0));
        while from < range.to {
            let batch = Range { from, to: range.to.min(from.saturating_add(BATCH)), ..range };
            let mut next = from;
            let mut gaps = Vec::new();
            let read = self.store.read_with("reading", |conn| {
                segment::visit(conn, batch, Direction::Forward, Wanted::ALL, |row| {
                    let position = segment::position(row.k);
                    if !follows(behind, &row, living) {
                        gaps.push(position);
                    }
                    behind = Some((position + 1, row.counts.inheritable));
                    next = position + 1;
                    self.found.events += 1;
                    Ok(Next::Row)
                })
            });
            for position in gaps {
                self.gap(owner, range.segment, seq(position));
            }
            from = batch.to;
            if let Err(error) = read {
                let position = self.first(batch, next);
                self.problem(owner.map(|header| &header.id), position.map(seq), &error);
                from = position.map_or(range.to, |position| position + 1);
                behind = None;
            } else if from == range.to && behind.is_none_or(|(behind, _)| behind != range.to) {
                self.gap(owner, range.segment, seq(range.to));
            }
        }
    }

    /// Returns the first position of the range, from `from` on, that has an event. Returns `None`
    /// if there is none or the search fails.
    fn first(&self, range: Range, from: u64) -> Option<u64> {
        let probe = self.store.read_with("reading", |conn| {
            segment::probe(conn, range.segment, from, range.to, Unit::Inheritable)
        });
        probe.ok().flatten().map(|run| run.from.max(from))
    }

    fn gap(&mut self, owner: Option<&Header>, segment: Segment, seq: u64) {
        self.found.problems.push(Problem {
            session_id: owner.map(|header| header.id.clone()),
            seq: Some(seq),
            attachment: None,
            kind: ErrorKind::MissingAncestor,
            message: format!("an event before seq {seq} is missing in segment {segment}"),
        });
    }
}

/// Checks that no event is missing directly before `row`. `behind` describes the event read before
/// it: the position after that event, and the number of inheritable events up to it. Returns true
/// if `behind` is `None`, i.e. unknown. If `living` is set, `row` is an own event of a living
/// session and must have the next position; otherwise, positions may be without an event.
fn follows(behind: Option<(u64, u64)>, row: &Row, living: bool) -> bool {
    let Some((position, stored)) = behind else {
        return true;
    };
    let one = u64::from(row.event.class.is_inherited());
    row.counts.inheritable == stored + one && (!living || segment::position(row.k) == position)
}

/// Checks that each span (range of inherited events) ends with the counts with which the next span
/// begins. The last span must end with the counts `end`.
fn check_counts(conn: &Connection, spans: &[Span], end: Counts) -> Result<(), Fault> {
    let ends = spans.iter().skip(1).map(|span| span.base).chain([end]);
    for (span, end) in spans.iter().zip(ends) {
        let last = segment::at(conn, signed(span.segment), span.to.saturating_sub(1))?;
        let counts = last.map(|row| row.counts.based_on(span.base));
        if counts
            .is_none_or(|counts| counts.inheritable != end.inheritable || counts.index != end.index)
        {
            let (segment, to) = (span.segment, span.to);
            let message = "it does not end where the next one begins";
            return Err(Fault::damaged(format!("span of segment {segment} to {to}"), message));
        }
    }
    Ok(())
}
