//! Reads the messages of opencode's second version, which are in the table `session_message`. Each
//! row is a message with its content, numbered in the order of the session.

use std::collections::HashSet;

use rusqlite::Connection;

use crate::line::{MessageState, text, with};

/// A row of the table `session_message`.
pub(crate) struct Entry {
    pub(crate) id: String,
    kind: String,
    seq: i64,
    created: i64,
    data: String,
}

impl Entry {
    /// Returns the row as one JSON object. Adds the values that the database stores in columns.
    pub(crate) fn object(&self, session: &str) -> String {
        let state = MessageState::of(&self.data);
        let (id, kind) = (text(&self.id), text(&self.kind));
        let (session, seq) = (text(session), self.seq.to_string());
        let time = format!("{{\"created\":{}}}", self.created);
        let missing = [
            ("id", &id, state.id.is_none()),
            ("type", &kind, state.kind.is_none()),
            ("time", &time, state.time.is_none()),
        ];
        let missing = missing.iter().filter(|(_, _, is_missing)| *is_missing);
        let mut fields: Vec<_> = missing.map(|(name, value, _)| (*name, value.as_str())).collect();
        fields.extend([("sessionID", session.as_str()), ("seq", seq.as_str())]);
        with(&self.data, &fields)
    }

    /// Checks whether opencode has not completed the message.
    pub(crate) fn is_unfinished(&self) -> bool {
        MessageState::of(&self.data).is_unfinished_entry(&self.kind)
    }
}

/// Reads the messages of a session in the order of the conversation. Skips those whose ids are in
/// `first_version`: opencode may have written a message of its first version again in the second.
pub(crate) fn entries(
    database: &Connection,
    session: &str,
    first_version: &HashSet<String>,
) -> rusqlite::Result<Vec<Entry>> {
    let sql = "SELECT id, type, seq, time_created, data FROM session_message \
               WHERE session_id = ? ORDER BY seq, id";
    let mut query = database.prepare_cached(sql)?;
    let rows = query.query_map([session], |row| {
        let data = row.get_ref(4)?;
        let bytes = data.as_bytes().unwrap_or_default();
        Ok(Entry {
            id: row.get(0)?,
            kind: row.get(1)?,
            seq: row.get(2)?,
            created: row.get(3)?,
            data: String::from_utf8_lossy(bytes).into_owned(),
        })
    })?;
    let is_of_first = |entry: &rusqlite::Result<Entry>| {
        entry.as_ref().is_ok_and(|it| first_version.contains(&it.id))
    };
    rows.filter(|entry| !is_of_first(entry)).collect()
}

/// Returns the number, the times and the total length of the session's messages. Returns `None` if
/// it has none.
pub(crate) fn sums(database: &Connection, session: &str) -> rusqlite::Result<Option<[i64; 3]>> {
    let sql = "SELECT count(*), coalesce(sum(time_updated + seq), 0), \
                      coalesce(sum(length(data)), 0) \
               FROM session_message WHERE session_id = ?";
    let mut query = database.prepare_cached(sql)?;
    let sums: [i64; 3] =
        query.query_row([session], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    let [count, ..] = sums;
    Ok((count > 0).then_some(sums))
}

/// Returns the time at which a message of the session was last written, in milliseconds since 1970.
pub(crate) fn last_write(database: &Connection, session: &str) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(max(time_updated), 0) FROM session_message WHERE session_id = ?";
    database.prepare_cached(sql)?.query_row([session], |row| row.get(0))
}
