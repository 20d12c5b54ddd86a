//! Appends events to a session.

use forklore_core::{
    CallStep, Counts, Effect, Event, EventId, OpenCall, OpenCalls, Origin, SessionId,
};
use forklore_store::feed::What;
use forklore_store::port::{Append, Appended};
use forklore_store::rules::{appended, check_append, repeated_seqs, repetition};

use super::{Attempt, WAITING};
use crate::connection::{number, text};
use crate::fault::{Fault, Result};
use crate::number::signed;
use crate::session::Session;

/// The end of a session's log, to which events are added.
pub(super) struct Tail {
    session: Session,
    open: OpenCalls,
}

impl Tail {
    pub(super) fn of(session: Session) -> Self {
        let open = |call: &OpenCall| CallStep::Open(call.clone());
        let calls = session.open.iter().map(open).collect();
        let open = OpenCalls::from_iter([Effect { starts_turn: false, calls }]);
        Self { session, open }
    }

    /// Adds an event behind the head.
    pub(super) fn push(&mut self, attempt: &mut Attempt<'_>, event: &Event) -> Result<()> {
        self.open.step(&event.effect);
        let counts = self.session.header.counts.after(event, &self.open);
        self.session.header.counts = counts;
        self.store(attempt, event, &counts)
    }

    /// Adds the event with which a child begins. It is in front of the inherited events and counts
    /// nowhere.
    pub(super) fn push_fork(&mut self, attempt: &mut Attempt<'_>, event: &Event) -> Result<()> {
        self.store(attempt, event, &Counts::default())
    }

    fn store(&mut self, attempt: &mut Attempt<'_>, event: &Event, counts: &Counts) -> Result<()> {
        let header = &mut self.session.header;
        let seq = header.seq_of_own(header.own_events);
        header.own_events += 1;
        header.own_bytes += event.data.get().len() as u64;
        let origin = Origin { session_id: header.id.clone(), seq };
        let rows = attempt.events.entry(header.root_id.as_str().to_owned()).or_default();
        rows.add(&origin, counts, event)?;
        if rows.size > WAITING {
            attempt.flush_events()?;
        }
        Ok(())
    }

    pub(super) fn end(self) -> Session {
        Session { open: self.open.calls().cloned().collect(), ..self.session }
    }
}

impl Attempt<'_> {
    pub(super) fn append(&mut self, id: &SessionId, append: &Append) -> Result<Appended> {
        let session = self.living(id)?;
        let before = session.header.head_seq();
        if let Some(seqs) = repeated_seqs(&session.header, append)? {
            self.flush_events()?;
            let there = self.ids(&session, signed(*seqs.start()), signed(*seqs.end()))?;
            if let Some(earlier) = repetition(&session.header, append, &seqs, there.iter()) {
                return Ok(earlier);
            }
        }
        check_append(&session.header, append, self.now)?;
        let mut tail = Tail::of(session);
        for event in &append.events {
            tail.push(self, event)?;
        }
        let mut session = tail.end();
        session.header.usage += append.usage;
        session.header.updated = append.now.min(self.now);
        let answer = appended(before, &session.header);
        self.put(session, What::Appended);
        Ok(answer)
    }

    /// Returns the ids of a session's own events from one seq to another.
    fn ids(&self, session: &Session, from: i64, to: i64) -> Result<Vec<EventId>> {
        let sql = "SELECT id FROM forklore.event
             WHERE tenant = $1 AND family = $2 AND session = $3 AND seq BETWEEN $4 AND $5
             ORDER BY seq";
        let (family, id, tenant) = (session.family(), session.id(), self.database.tenant);
        let values = [text(&tenant), text(&family), text(&id), number(&from), number(&to)];
        let rows = self.database.connection.rows(sql, &values)?;
        let parse = |row: &tokio_postgres::Row| {
            let text: String = row.try_get(0)?;
            text.parse().map_err(|_| Fault::damaged(id, None, "the id of an event is no id"))
        };
        rows.iter().map(parse).collect()
    }
}
