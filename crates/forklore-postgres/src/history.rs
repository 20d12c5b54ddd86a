//! Where the events of a session's history are: its own, and those that it inherits.

use forklore_core::Counts;
use forklore_store::Error;
use tokio_postgres::Row;

use crate::connection::{Statement, number, text, truth};
use crate::database::Database;
use crate::fault::{Fault, Result};
use crate::number::{signed, unsigned};
use crate::session::Session;

/// A session with the sessions that wrote what it inherits, the nearest first.
pub(crate) struct History {
    pub(crate) session: Session,
    pub(crate) ancestors: Vec<Ancestor>,
}

/// A session that wrote a part of another session's history.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Ancestor {
    id: String,
    /// Whether its own copy of its history is meant, so that the history begins with it.
    whole: bool,
    base: Option<String>,
    /// The counts of what it inherits itself.
    inherited: Counts,
}

/// A range of a history: events that one session wrote, or copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) session: String,
    /// Whether the range counts in seqs of that session. Otherwise it counts in inheritable events,
    /// and has no others.
    pub(crate) own: bool,
    /// The first and the last event. In the history they have the same numbers as seqs.
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// The session `$3`, whose own copy is meant if `$4`, and its ancestors, the nearest first. Each
/// inherits fewer events than the one before it, so damaged rows cannot lead in a circle. With the
/// limit, the database finds each by its key, whatever it assumes of the family's size.
const CHAIN: &str = "WITH RECURSIVE chain (level, id, whole, base, next_whole, inherited, index,
         turns) AS (
     SELECT 1, s.id, $4, s.base, s.base_whole, s.inherited, s.inherited_index, s.inherited_turns
     FROM forklore.session s WHERE s.tenant = $1 AND s.family = $2 AND s.id = $3
     UNION ALL
     SELECT c.level + 1, s.id, c.next_whole, s.base, s.base_whole, s.inherited, s.inherited_index,
         s.inherited_turns
     FROM chain c, LATERAL (
         SELECT id, base, base_whole, inherited, inherited_index, inherited_turns
         FROM forklore.session WHERE tenant = $1 AND family = $2 AND id = c.base LIMIT 1) s
     WHERE NOT c.whole AND (c.next_whole OR s.inherited < c.inherited)
 )";

impl History {
    /// Finds the ancestors of a session.
    pub(crate) fn of(database: Database<'_>, session: Session) -> Result<Self> {
        let family = session.family();
        let rows = match Self::ancestors(&database.tenant, &family, &session) {
            Some(statement) => database.connection.rows(&statement.sql, &statement.values)?,
            None => Vec::new(),
        };
        Self::read(session, &rows)
    }

    /// Returns the statement that finds the ancestors of a session; `None` if it needs none.
    pub(crate) fn ancestors<'a>(
        tenant: &'a &str,
        family: &'a &str,
        session: &'a Session,
    ) -> Option<Statement<'a>> {
        let (base, whole) = session.origin.base.as_ref().filter(|_| !session.origin.owned)?;
        let sql = format!(
            "{CHAIN} SELECT id, whole, base, inherited, index, turns FROM chain ORDER BY level"
        );
        Some(Statement::new(sql, vec![text(tenant), text(family), text(base), truth(whole)]))
    }

    /// Reads the rows of the ancestors of a session.
    pub(crate) fn read(session: Session, rows: &[Row]) -> Result<Self> {
        let mut ancestors = Vec::new();
        for row in rows {
            let count = |at: usize| -> Result<u64> { Ok(unsigned(row.try_get(at)?)) };
            let inherited = Counts {
                inheritable: count(3)?,
                index: count(4)?,
                turns: count(5)?,
                ..Counts::default()
            };
            let (id, whole) = (row.try_get(0)?, row.try_get(1)?);
            ancestors.push(Ancestor { id, whole, base: row.try_get(2)?, inherited });
        }
        let history = Self { session, ancestors };
        match history.missing() {
            Some(missing) => Err(history.lost(missing).into()),
            None => Ok(history),
        }
    }

    /// Returns the id of the first ancestor that the store no longer has.
    fn missing(&self) -> Option<&str> {
        if self.session.origin.owned {
            return None;
        }
        let base = self.session.origin.base.as_ref().map(|(id, _)| id.as_str());
        match self.ancestors.last() {
            None => base,
            Some(last) if last.whole => None,
            Some(last) => last.base.as_deref(),
        }
    }

    fn lost(&self, ancestor: &str) -> Error {
        let missing = format!("session {ancestor}, whose events it inherits, is gone");
        Error::MissingAncestor { session: self.session.header.id.clone(), missing }
    }

    /// Returns the error for an event that this history should have at `seq` and that is not there.
    pub(crate) fn hole(&self, seq: i64) -> Fault {
        let part = self.parts(seq, seq).into_iter().next();
        match part.filter(|part| !part.own) {
            Some(part) => {
                let missing = format!("event {seq} of it, which session {} wrote", part.session);
                let session = self.session.header.id.clone();
                Error::MissingAncestor { session, missing }.into()
            }
            None => Fault::damaged(self.session.id(), Some(unsigned(seq)), "it is gone"),
        }
    }

    /// Returns all ranges, in the order of the history.
    fn all(&self) -> Vec<Part> {
        let header = &self.session.header;
        let own = |from, to| {
            let session = header.id.as_str().to_owned();
            Part { session, own: true, from, to }
        };
        if self.ancestors.is_empty() {
            return vec![own(0, header.head_seq())];
        }
        let mut high = signed(header.inherited.inheritable);
        let mut parts = vec![own(high + 1, header.head_seq())];
        for ancestor in &self.ancestors {
            let low = if ancestor.whole { 0 } else { signed(ancestor.inherited.inheritable) };
            let session = ancestor.id.clone();
            parts.push(Part { session, own: false, from: low + 1, to: high });
            high = low;
        }
        parts.push(own(0, 0));
        parts.reverse();
        parts
    }

    /// Returns the ranges of the events from the seq `from` to the seq `to`, both inclusive.
    pub(crate) fn parts(&self, from: i64, to: i64) -> Vec<Part> {
        let clipped = self.all().into_iter().map(|part| Part {
            from: part.from.max(from),
            to: part.to.min(to),
            ..part
        });
        clipped.filter(|part| part.from <= part.to).collect()
    }

    /// Returns the ranges of the first `inheritable` inheritable events.
    pub(crate) fn inherited(&self, inheritable: i64) -> Vec<Part> {
        let Session { header, origin, .. } = &self.session;
        let mut high = inheritable;
        let mut parts = Vec::new();
        let mut add = |session: &str, low: i64| {
            if low < high {
                let session = session.to_owned();
                parts.push(Part { session, own: false, from: low + 1, to: high });
                high = low;
            }
        };
        let own = if origin.owned { 0 } else { signed(header.inherited.inheritable) };
        add(header.id.as_str(), own);
        for ancestor in &self.ancestors {
            let low = if ancestor.whole { 0 } else { signed(ancestor.inherited.inheritable) };
            add(&ancestor.id, low);
        }
        parts
    }

    /// Returns the range in which a count of the history first exceeds `than`. `of` reads the count
    /// of what a session inherits; the caller has checked that the count at the head exceeds it.
    pub(crate) fn part_exceeding(&self, than: u64, of: impl Fn(&Counts) -> u64) -> Part {
        let mut high = self.session.header.inherited;
        let own = |from| Part {
            session: self.session.id().to_owned(),
            own: true,
            from,
            to: self.session.header.head_seq(),
        };
        if self.ancestors.is_empty() {
            return own(0);
        }
        if of(&high) <= than {
            return own(signed(high.inheritable) + 1);
        }
        for ancestor in &self.ancestors {
            let low = if ancestor.whole { Counts::default() } else { ancestor.inherited };
            if of(&low) <= than {
                let (from, to) = (signed(low.inheritable) + 1, signed(high.inheritable));
                return Part { session: ancestor.id.clone(), own: false, from, to };
            }
            high = low;
        }
        own(0)
    }

    /// Returns the base of a child that inherits the first `inheritable` events of this history:
    /// the session that wrote the last of them, and whether its own copy is meant.
    pub(crate) fn base(&self, inheritable: u64) -> Option<(String, bool)> {
        let Session { header, origin, .. } = &self.session;
        if inheritable == 0 {
            return None;
        }
        if origin.owned || inheritable > header.inherited.inheritable {
            return Some((header.id.as_str().to_owned(), origin.owned));
        }
        let wrote = |one: &&Ancestor| one.whole || inheritable > one.inherited.inheritable;
        self.ancestors.iter().find(wrote).map(|one| (one.id.clone(), one.whole))
    }

    /// Returns the statement for the counts of a session's history after so many inheritable events.
    /// `id` is the id of the session.
    pub(crate) fn counts<'a>(
        tenant: &'a &str,
        family: &'a &str,
        (session, id): (&'a Session, &'a &str),
        inheritable: &'a i64,
    ) -> Statement<'a> {
        let event = "forklore.event e WHERE e.tenant = $1 AND e.family = $2 AND e.class < 3";
        let columns = "SELECT e.index, e.turns, e.bytes, e.open";
        let base = session.origin.base.as_ref();
        let is_inherited = *inheritable <= signed(session.header.inherited.inheritable);
        match base.filter(|_| !session.origin.owned && is_inherited) {
            None => {
                let sql = format!("{columns} FROM {event} AND e.session = $3 AND e.kept = $4");
                let values = vec![text(tenant), text(family), text(id), number(inheritable)];
                Statement::new(sql, values)
            }
            Some((base, whole)) => {
                let writer = "(SELECT id FROM chain WHERE whole OR inherited < $5
                     ORDER BY level LIMIT 1)";
                let sql = format!(
                    "{CHAIN} {columns} FROM {event} AND e.session = {writer} AND e.kept = $5"
                );
                let ids = [text(tenant), text(family), text(base)];
                let values = ids.into_iter().chain([truth(whole), number(inheritable)]);
                Statement::new(sql, values.collect())
            }
        }
    }

    /// Reads the answer to [`counts`](Self::counts).
    pub(crate) fn counts_of(&self, inheritable: u64, row: Option<&Row>) -> Result<Counts> {
        let Some(row) = row else {
            let missing = format!("event {inheritable} of what can be inherited is gone");
            let reader = self.session.header.id.clone();
            return Err(Error::MissingAncestor { session: reader, missing }.into());
        };
        let count = |at: usize| -> Result<u64> { Ok(unsigned(row.try_get(at)?)) };
        Ok(Counts {
            inheritable,
            index: count(0)?,
            turns: count(1)?,
            bytes: count(2)?,
            open: count(3)?,
        })
    }
}
