//! The tool calls of a session that have no result yet, to find the tool of a result that does not
//! name its tool.

use std::collections::HashMap;

use forklore_core::{CallStep, Event};
use forklore_index::Result;
use rusqlite::Connection;

/// The open calls of one session. Maps the id of each call to the name of its tool.
pub(crate) struct OpenCalls {
    session: i64,
    tools: HashMap<String, String>,
    is_changed: bool,
}

impl OpenCalls {
    /// Reads the calls that were open when the index last read the session.
    pub(crate) fn of(conn: &Connection, session: i64) -> Result<Self> {
        let mut statement =
            conn.prepare_cached("SELECT call, tool FROM open_call WHERE session = ?")?;
        let calls = statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let tools = calls.collect::<rusqlite::Result<_>>()?;
        Ok(Self { session, tools, is_changed: false })
    }

    /// Adds the calls that an event opens. If the event starts a turn, first removes all earlier
    /// calls.
    pub(crate) fn open(&mut self, event: &Event) {
        if event.effect.starts_turn && !self.tools.is_empty() {
            self.tools.clear();
            self.is_changed = true;
        }
        for step in &event.effect.calls {
            if let CallStep::Open(call) = step {
                self.tools.entry(call.id.clone()).or_insert_with(|| call.name.clone());
                self.is_changed = true;
            }
        }
    }

    /// Removes the calls that an event closes.
    pub(crate) fn close(&mut self, event: &Event) {
        for step in &event.effect.calls {
            if let CallStep::Close(call) = step {
                self.is_changed |= self.tools.remove(call).is_some();
            }
        }
    }

    /// Returns the tool of an open call. Returns `None` if the call is not open.
    pub(crate) fn tool(&self, call: &str) -> Option<&str> {
        self.tools.get(call).map(String::as_str)
    }

    /// Writes the calls into the index, if they changed.
    pub(crate) fn save(&self, conn: &Connection) -> Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        let sql = "DELETE FROM open_call WHERE session = ?";
        conn.prepare_cached(sql)?.execute([self.session])?;
        let sql = "INSERT INTO open_call (session, call, tool) VALUES (?, ?, ?)";
        let mut statement = conn.prepare_cached(sql)?;
        for (call, tool) in &self.tools {
            statement.execute((self.session, call, tool))?;
        }
        Ok(())
    }
}
