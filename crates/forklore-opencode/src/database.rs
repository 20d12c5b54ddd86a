//! Reads sessions from a copy of opencode's database.

use std::collections::HashSet;
use std::io::{BufRead, Write};
use std::path::Path;

use forklore_core::session_container::{ExpandError, Found, Inside, Trouble};
use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, ToSql};

use crate::copy::Copy;
use crate::journal::{self, Entry};
use crate::line::{MessageState, text, text_field, with};
use crate::lines::Lines;
use crate::schema::{Schema, unreadable};

/// The columns of opencode's session table whose values never change, each with its name in
/// `opencode export`.
const FIXED: [(&str, &str); 6] = [
    ("id", "id"),
    ("slug", "slug"),
    ("project_id", "projectID"),
    ("parent_id", "parentID"),
    ("directory", "directory"),
    ("version", "version"),
];
/// An unfinished message counts as abandoned if the last write to its session is more than this
/// many milliseconds older than the last write of any message in the database.
const LONG_AFTER: i64 = 600_000;
/// The columns of opencode's session table whose strings are JSON.
const JSON: [&str; 5] = ["revert", "permission", "model", "metadata", "summary_diffs"];

/// An open copy of opencode's database.
pub(crate) struct Opened {
    database: Connection,
    schema: Schema,
    /// The time of the last write to any message in the database, in milliseconds since 1970.
    newest: i64,
    _copy: Copy,
}

impl Opened {
    pub(crate) fn of(path: &Path) -> Result<Self, ExpandError> {
        let copy = Copy::of(path)?;
        // SQLite may apply the write-ahead log to the copy, because no other process uses the copy.
        let database = Connection::open(&copy.path).map_err(unreadable)?;
        database.pragma_update(None, "query_only", true).map_err(unreadable)?;
        let schema = Schema::of(&database)?;
        let mut tables = vec![("message", schema.updated())];
        tables.extend(schema.has_journal.then_some(("session_message", "time_updated")));
        let mut newest = 0;
        for (table, updated) in tables {
            let sql = format!("SELECT coalesce(max({updated}), 0) FROM {table}");
            let of_table: i64 =
                database.query_row(&sql, [], |row| row.get(0)).map_err(unreadable)?;
            newest = newest.max(of_table);
        }
        Ok(Self { database, schema, newest, _copy: copy })
    }

    /// Returns a hash that changes if the session has changed. It covers the session's row; the
    /// number, total length and times of its messages and parts; and whether opencode abandoned the
    /// session.
    fn state(&self, id: &str, session: &str) -> rusqlite::Result<i64> {
        let updated = self.schema.updated();
        let mut state = fold(0, session.bytes().fold(0, |sum, byte| fold(sum, i64::from(byte))));
        for table in ["message", "part"] {
            let sql = format!(
                "SELECT count(*), coalesce(sum({updated}), 0), coalesce(sum(length(data)), 0) \
                 FROM {table} WHERE session_id = ?"
            );
            let mut query = self.database.prepare_cached(&sql)?;
            let sums: [i64; 3] =
                query.query_row([id], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
            state = sums.into_iter().fold(state, fold);
        }
        if self.schema.has_journal
            && let Some(sums) = journal::sums(&self.database, id)?
        {
            state = sums.into_iter().fold(state, fold);
        }
        Ok(fold(state, i64::from(self.is_left(id)?)))
    }

    /// Checks whether opencode abandoned this session. That is the case if opencode's last write of
    /// a message or part of the session is more than [`LONG_AFTER`] older than the last write of
    /// any message in the database.
    fn is_left(&self, id: &str) -> rusqlite::Result<bool> {
        let updated = self.schema.updated();
        let sql = format!(
            "SELECT max((SELECT coalesce(max({updated}), 0) FROM message WHERE session_id = ?1), \
                        (SELECT coalesce(max({updated}), 0) FROM part WHERE session_id = ?1))"
        );
        let mut query = self.database.prepare_cached(&sql)?;
        let mut last: i64 = query.query_row([id], |row| row.get(0))?;
        if self.schema.has_journal {
            last = last.max(journal::last_write(&self.database, id)?);
        }
        Ok(self.newest.saturating_sub(last) > LONG_AFTER)
    }

    /// Converts a row of the session table to two JSON objects. The first contains the values that
    /// never change, the second all values.
    fn session(&self, row: &Row<'_>) -> rusqlite::Result<(String, String)> {
        let (mut fixed, mut whole) = (Vec::new(), Vec::new());
        let mut created = None;
        for (at, column) in self.schema.session.iter().enumerate() {
            let value = row.get_ref(at)?;
            if matches!(value, ValueRef::Null) {
                continue;
            }
            let value = json(value, JSON.contains(&column.as_str()));
            if column == "time_created" {
                created = Some(value.clone());
            }
            match FIXED.iter().find(|(name, _)| name == column) {
                Some((_, name)) => fixed.push((*name, value)),
                None => whole.push((column.as_str(), value)),
            }
        }
        let time = format!("{{\"created\":{}}}", created.unwrap_or_else(|| "0".into()));
        fixed.push(("time", time));
        let object = |fields: &[(&str, String)]| {
            let fields: Vec<_> = fields.iter().map(|(name, text)| (*name, text.as_str())).collect();
            with("{}", &fields)
        };
        let all = object(&[fixed.as_slice(), whole.as_slice()].concat());
        Ok((object(&fixed), all))
    }

    /// Returns the sessions that a query selects by their ids and times.
    fn found(&self, sql: &str, parameters: &[&dyn ToSql]) -> rusqlite::Result<Vec<Found>> {
        let mut query = self.database.prepare(sql)?;
        let all = query.query_map(parameters, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut found = Vec::new();
        for row in all {
            let (id, created): (String, i64) = row?;
            let (_, whole) = self.row(&id)?;
            let state = self.state(&id, &whole)?;
            let caller = text_field(&whole, "parentID");
            let created = Timestamp::from_millisecond(created).ok();
            found.push(Found { id, caller, created, state });
        }
        Ok(found)
    }

    fn row(&self, id: &str) -> rusqlite::Result<(String, String)> {
        let sql = format!("SELECT {} FROM session WHERE id = ?", self.columns());
        let mut query = self.database.prepare_cached(&sql)?;
        query.query_row([id], |row| self.session(row))
    }

    fn columns(&self) -> String {
        let quoted =
            self.schema.session.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
        quoted.collect::<Vec<_>>().join(",")
    }

    /// Reads the messages of a session from the database, in the order of the conversation.
    fn messages(&self, session: &str) -> rusqlite::Result<Vec<Stored>> {
        let sql = "SELECT id, time_created, data FROM message WHERE session_id = ? \
                   ORDER BY time_created, id";
        stored(&self.database, sql, session)
    }

    /// Reads the messages of a session that opencode's second version wrote, except for those
    /// whose ids are in `first_version`.
    fn entries(
        &self,
        session: &str,
        first_version: &HashSet<String>,
    ) -> rusqlite::Result<Vec<Entry>> {
        if !self.schema.has_journal {
            return Ok(Vec::new());
        }
        journal::entries(&self.database, session, first_version)
    }

    fn parts(&self, session: &str, message: &str) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT id, time_created, data FROM part WHERE message_id = ? \
                   ORDER BY time_created, id";
        let parts = stored(&self.database, sql, message)?;
        let (session, message) = (text(session), text(message));
        let owners = [("sessionID", session.as_str()), ("messageID", message.as_str())];
        Ok(parts.iter().map(|part| part.object(&owners)).collect())
    }

    /// Checks whether opencode still writes a message. It stores a message before its parts.
    fn is_begun(&self, session: &str, message: &Stored) -> rusqlite::Result<bool> {
        let state = MessageState::of(&message.data);
        // As for a response, the fields of a message without times do not show its state.
        Ok(state.is_unfinished()
            || state.time.is_some() && self.parts(session, &message.id)?.is_empty())
    }

    /// Reads the message parts of a session that belong to no existing message.
    fn orphans(&self, session: &str) -> rusqlite::Result<Vec<Stored>> {
        let sql = "SELECT id, time_created, data FROM part WHERE session_id = ? \
                   AND message_id NOT IN (SELECT id FROM message) ORDER BY time_created, id";
        stored(&self.database, sql, session)
    }
}

impl Inside for Opened {
    fn sessions(&mut self) -> Result<Vec<Found>, ExpandError> {
        let sql = "SELECT id, time_created FROM session ORDER BY time_created, id";
        self.found(sql, &[]).map_err(unreadable)
    }

    fn family(&mut self, id: &str) -> Result<Vec<Found>, ExpandError> {
        let sql = match self.schema.session.iter().any(|column| column == "parent_id") {
            true => {
                "WITH RECURSIVE family(id) AS (SELECT ?1 UNION
                    SELECT session.id FROM session JOIN family ON session.parent_id = family.id)
                 SELECT id, time_created FROM session WHERE id IN (SELECT id FROM family)
                 ORDER BY time_created, id"
            }
            false => "SELECT id, time_created FROM session WHERE id = ?1",
        };
        self.found(sql, &[&id]).map_err(unreadable)
    }

    fn lines(
        &mut self,
        id: &str,
        earlier: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> Result<Vec<Trouble>, ExpandError> {
        let mut lines = Lines::behind(earlier, out)?;
        let mut problems = Vec::new();
        let (fixed, whole) = self.row(id).map_err(unreadable)?;
        lines.session(&fixed)?;
        let mut messages = self.messages(id).map_err(unreadable)?;
        let mut there: HashSet<_> = messages.iter().map(|message| message.id.clone()).collect();
        let mut entries = self.entries(id, &there).map_err(unreadable)?;
        there.extend(entries.iter().map(|entry| entry.id.clone()));
        lines.deleted(&there)?;
        let unfinished = match entries.last() {
            Some(last) => last.is_unfinished(),
            None => match messages.last() {
                Some(last) => self.is_begun(id, last).map_err(unreadable)?,
                None => false,
            },
        };
        if unfinished && !self.is_left(id).map_err(unreadable)? {
            if entries.pop().is_none() {
                messages.pop();
            }
            problems
                .push(Trouble::Unfinished("the last message is not finished; it waits".to_owned()));
        }
        let session = text(id);
        for message in &messages {
            let info = message.object(&[("sessionID", &session)]);
            let parts = self.parts(id, &message.id).map_err(unreadable)?;
            lines.message(&message.id, &info, &parts)?;
        }
        for entry in &entries {
            lines.journal_message(&entry.id, &entry.object(id))?;
        }
        let orphans = self.orphans(id).map_err(unreadable)?;
        for part in &orphans {
            lines.orphan(&part.id, &part.object(&[("sessionID", &session)]))?;
        }
        if !orphans.is_empty() {
            let message = crate::orphans_found(orphans.len());
            problems.push(Trouble::Damage(message));
        }
        lines.whole(&whole)?;
        Ok(problems)
    }
}

/// A row of opencode's table `message` or `part`.
struct Stored {
    id: String,
    created: i64,
    data: String,
}

impl Stored {
    /// Returns the row as a JSON object in the form of `opencode export`. Adds the ids and the time
    /// to the JSON in `data`, because the database stores them in columns.
    fn object(&self, owners: &[(&str, &str)]) -> String {
        let (id, time) = (text(&self.id), format!("{{\"created\":{}}}", self.created));
        let state = MessageState::of(&self.data);
        let mut fields = Vec::new();
        if state.time.is_none() {
            fields.push(("time", time.as_str()));
        }
        if state.id.is_none() {
            fields.push(("id", id.as_str()));
        }
        fields.extend_from_slice(owners);
        with(&self.data, &fields)
    }
}

fn stored(database: &Connection, sql: &str, of: &str) -> rusqlite::Result<Vec<Stored>> {
    let mut query = database.prepare_cached(sql)?;
    let rows = query.query_map([of], |row| {
        let data = row.get_ref(2)?;
        let bytes = data.as_bytes().unwrap_or_default();
        let data = String::from_utf8_lossy(bytes).into_owned();
        Ok(Stored { id: row.get(0)?, created: row.get(1)?, data })
    })?;
    rows.collect()
}

/// Converts the value of a database column to JSON. If `is_json` is set and the value is a string
/// that is valid JSON, returns that JSON on one line.
fn json(value: ValueRef<'_>, is_json: bool) -> String {
    match value {
        ValueRef::Null => "null".into(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => text(&number),
        ValueRef::Text(bytes) => {
            let output = String::from_utf8_lossy(bytes);
            let object = is_json && serde_json::from_str::<serde::de::IgnoredAny>(&output).is_ok();
            if object { output.replace(['\n', '\r'], " ") } else { text(&*output) }
        }
        ValueRef::Blob(bytes) => text(&String::from_utf8_lossy(bytes)),
    }
}

/// Adds the number `next` to the hash `sum`, as the hash function FNV-1a does.
fn fold(sum: i64, next: i64) -> i64 {
    (sum ^ next).wrapping_mul(0x0100_0000_01b3)
}
