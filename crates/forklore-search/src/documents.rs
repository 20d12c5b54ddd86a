//! Adds documents to the index and removes them. A document is an event, or the title and label of
//! a session.

use std::collections::HashMap;

use forklore_core::Role;
use forklore_index::Result;
use rusqlite::{Connection, OptionalExtension};

use crate::document::{Document, indexed};
use crate::paths::absolute;
use crate::sessions::integer;

/// A property by which searches select documents, such as the tool. Each facet has a number. The
/// index stores the numbers of a document's facets as words of the document. So a search selects
/// documents by facets as it does by words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Facet {
    kind: &'static str,
    value: String,
}

impl Facet {
    pub(crate) fn workspace(path: &str) -> Self {
        Self { kind: "workspace", value: path.to_owned() }
    }

    /// Returns the facet of records that this agent wrote. `None` means forklore itself.
    pub(crate) fn agent(name: Option<&str>) -> Self {
        Self { kind: "agent", value: name.unwrap_or(FORKLORE).to_owned() }
    }

    pub(crate) fn tool(name: &str) -> Self {
        Self { kind: "tool", value: name.to_owned() }
    }

    pub(crate) fn role(role: Role) -> Self {
        Self { kind: "role", value: role.as_str().to_owned() }
    }

    /// Returns the number of the facet. `None` if the index does not contain the facet.
    pub(crate) fn number(&self, conn: &Connection) -> Result<Option<i64>> {
        let sql = "SELECT number FROM facet WHERE kind = ? AND value = ?";
        let mut statement = conn.prepare_cached(sql)?;
        Ok(statement.query_row((self.kind, &self.value), |row| row.get(0)).optional()?)
    }
}

/// The name by which searches select the records that forklore itself wrote.
pub(crate) const FORKLORE: &str = "forklore";

/// What a document contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionPart {
    /// A conversation event.
    Event,
    /// The title and the label of a session.
    Head,
    /// A summary.
    Summary,
}

impl SessionPart {
    /// Returns the number by which the index names the part.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Event => 0,
            Self::Head => 1,
            Self::Summary => 2,
        }
    }

    /// Returns the part with a number of the index.
    pub(crate) fn of(number: i64) -> Self {
        match number {
            1 => Self::Head,
            2 => Self::Summary,
            _ => Self::Event,
        }
    }
}

/// The position of a document's event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    /// The number that the index gave the session that wrote the event.
    pub(crate) session: i64,
    /// The number of inheritable events up to the event.
    pub(crate) ordinal: u64,
    /// The seq of the event in the session that wrote it.
    pub(crate) seq: u64,
    /// The conversation index of the event. For a summary, the conversation index of the message
    /// after the summary.
    pub(crate) index: u64,
    /// The time of the event, in microseconds.
    pub(crate) ts: i64,
}

/// A writer that adds documents to the index and removes them, in a transaction that the caller
/// began.
pub(crate) struct Writer<'c> {
    pub(crate) conn: &'c Connection,
    facets: HashMap<Facet, i64>,
}

impl<'c> Writer<'c> {
    pub(crate) fn new(conn: &'c Connection) -> Self {
        Self { conn, facets: HashMap::new() }
    }

    /// Adds the document of an event. Its texts must have the form that [`Document::indexed`]
    /// returns. The paths in `document` are relative to `workspace`.
    pub(crate) fn put(
        &mut self,
        at: Position,
        document: &Document,
        workspace: &str,
        facets: impl IntoIterator<Item = Facet>,
    ) -> Result<()> {
        let facets = self.facet_words(facets)?;
        let tool = document.tools.first().map(|tool| self.facet(Facet::tool(tool))).transpose()?;
        let is_summary = !document.summary.is_empty();
        let part = if is_summary { SessionPart::Summary } else { SessionPart::Event };
        let row = self.insert(at, part, tool)?;
        let Document { text, reasoning, call, result, summary, .. } = document;
        let sql = "INSERT INTO words (rowid, text, reasoning, call, result, summary, facet)
            VALUES (?, ?, ?, ?, ?, ?, ?)";
        let values = (row, text, reasoning, call, result, summary, facets);
        self.conn.prepare_cached(sql)?.execute(values)?;
        document.paths.iter().try_for_each(|(_, path)| self.touch(row, &absolute(workspace, path)))
    }

    /// Adds the document of a session's title and label. Returns the document's number.
    pub(crate) fn put_head(
        &mut self,
        at: Position,
        title: Option<&str>,
        label: Option<&str>,
        facets: impl IntoIterator<Item = Facet>,
    ) -> Result<i64> {
        let facets = self.facet_words(facets)?;
        let row = self.insert(at, SessionPart::Head, None)?;
        let sql = "INSERT INTO words (rowid, title, label, facet) VALUES (?, ?, ?, ?)";
        let (title, label) = (title.map(indexed), label.map(indexed));
        self.conn.prepare_cached(sql)?.execute((row, title, label, facets))?;
        Ok(row)
    }

    /// Records that a tool call in the document `row` names a path.
    fn touch(&self, row: i64, path: &str) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO path (path) VALUES (?)";
        self.conn.prepare_cached(sql)?.execute([path])?;
        let sql = "INSERT OR IGNORE INTO touch (path, document)
            SELECT number, ? FROM path WHERE path = ?";
        self.conn.prepare_cached(sql)?.execute((row, path))?;
        Ok(())
    }

    fn insert(&self, at: Position, part: SessionPart, tool: Option<i64>) -> Result<i64> {
        let sql = "INSERT INTO document (session, part, ordinal, seq, position, ts, tool)
            VALUES (?, ?, ?, ?, ?, ?, ?)";
        let (ordinal, seq, index) = (integer(at.ordinal), integer(at.seq), integer(at.index));
        let mut statement = self.conn.prepare_cached(sql)?;
        Ok(statement.insert((at.session, part.number(), ordinal, seq, index, at.ts, tool))?)
    }

    fn facet_words(&mut self, facets: impl IntoIterator<Item = Facet>) -> Result<String> {
        let mut words = String::new();
        for facet in facets {
            let number = self.facet(facet)?;
            words.push_str(&format!("f{number} "));
        }
        Ok(words)
    }

    fn facet(&mut self, facet: Facet) -> Result<i64> {
        if let Some(number) = self.facets.get(&facet) {
            return Ok(*number);
        }
        let number = match facet.number(self.conn)? {
            Some(number) => number,
            None => {
                let sql = "INSERT INTO facet (kind, value) VALUES (?, ?)";
                self.conn.prepare_cached(sql)?.insert((facet.kind, &facet.value))?
            }
        };
        self.facets.insert(facet, number);
        Ok(number)
    }

    /// Removes the document with the number `row`.
    pub(crate) fn remove(&self, row: i64) -> Result<()> {
        self.conn.prepare_cached("DELETE FROM words WHERE rowid = ?")?.execute([row])?;
        self.conn.prepare_cached("DELETE FROM document WHERE number = ?")?.execute([row])?;
        let sql = "DELETE FROM path WHERE number IN (SELECT path FROM touch WHERE document = ?1)
            AND NOT EXISTS (SELECT 1 FROM touch WHERE path = number AND document <> ?1)";
        self.conn.prepare_cached(sql)?.execute([row])?;
        self.conn.prepare_cached("DELETE FROM touch WHERE document = ?")?.execute([row])?;
        Ok(())
    }

    /// Removes the documents of a session's events whose ordinal is above `ordinal`. The ordinal of
    /// an event is the number of inheritable events up to it.
    pub(crate) fn remove_after(&self, session: i64, ordinal: u64) -> Result<()> {
        let sql = "SELECT number FROM document WHERE session = ? AND part <> 1 AND ordinal > ?";
        let mut statement = self.conn.prepare_cached(sql)?;
        let rows: Vec<i64> = statement
            .query_map((session, integer(ordinal)), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        rows.into_iter().try_for_each(|row| self.remove(row))
    }
}
