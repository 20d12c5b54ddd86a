//! Adds quads to an index and removes them.

use oxigraph::model::{GraphNameRef, NamedNodeRef, QuadRef, TermRef};
use rusqlite::Connection;

use super::terms::{self, Numbers};
use super::{Fault, Result};

/// A writer that adds quads to an index and removes them, in a transaction of the caller.
pub(super) struct Writer<'c> {
    pub(super) conn: &'c Connection,
    numbers: Numbers,
    /// The graph and the subject of the last quad. `None` before the first quad. Most quads have
    /// the same graph and subject as the quad before.
    last: Option<(i64, i64)>,
    count: usize,
}

impl<'c> Writer<'c> {
    pub(super) fn new(conn: &'c Connection) -> Self {
        Self { conn, numbers: Numbers::default(), last: None, count: 0 }
    }

    /// Returns the number of quads that were passed to [`put`](Self::put).
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of a term. Adds the term to the index if it is not there.
    pub(super) fn number(&mut self, name: NamedNodeRef<'_>) -> Result<i64> {
        self.numbers.of(self.conn, name)
    }

    /// Adds a quad, unless the index contains it already.
    pub(super) fn put<'a>(&mut self, quad: impl Into<QuadRef<'a>>) -> Result<()> {
        let quad = quad.into();
        let graph: TermRef<'_> = match quad.graph_name {
            GraphNameRef::NamedNode(name) => name.into(),
            GraphNameRef::BlankNode(node) => node.into(),
            GraphNameRef::DefaultGraph => return Err(Fault::Damaged("a quad has no graph")),
        };
        let mut number = |term: TermRef<'a>| self.numbers.of(self.conn, term);
        let (s, p) = (number(quad.subject.into())?, number(quad.predicate.into())?);
        let (o, g) = (number(quad.object)?, number(graph)?);
        if self.last != Some((g, s)) {
            let sql = "INSERT OR IGNORE INTO subject (g, s) VALUES (?, ?)";
            self.conn.prepare_cached(sql)?.execute((g, s))?;
            self.last = Some((g, s));
        }
        let sql = "INSERT OR IGNORE INTO quad (s, p, o, g) VALUES (?, ?, ?, ?)";
        self.conn.prepare_cached(sql)?.execute((s, p, o, g))?;
        self.count += 1;
        Ok(())
    }

    /// Removes all quads of a named graph.
    pub(super) fn clear_graph(&mut self, graph: NamedNodeRef<'_>) -> Result<()> {
        terms::find(self.conn, graph.into())?.map_or(Ok(()), |number| self.clear(number))
    }

    /// Removes all quads of the named graph with a number.
    pub(super) fn clear(&mut self, graph: i64) -> Result<()> {
        self.last = None;
        let sql = "DELETE FROM quad WHERE s IN (SELECT s FROM subject WHERE g = ?1) AND g = ?1";
        self.conn.prepare_cached(sql)?.execute([graph])?;
        self.conn.prepare_cached("DELETE FROM subject WHERE g = ?")?.execute([graph])?;
        Ok(())
    }

    /// Removes all quads about `subject` from a named graph.
    pub(super) fn clear_subject(
        &mut self,
        subject: NamedNodeRef<'_>,
        graph: NamedNodeRef<'_>,
    ) -> Result<()> {
        let (s, g) = (self.number(subject)?, self.number(graph)?);
        self.conn.prepare_cached("DELETE FROM quad WHERE s = ? AND g = ?")?.execute((s, g))?;
        Ok(())
    }
}
