//! The state from which the route of the next record is decided.

use forklore_core::agent_format::Record;
use forklore_core::call::{CallStep, Effect};
use jiff::Timestamp;

/// Maximum number of open calls stored. If there are more, the oldest calls count as abandoned.
const OPEN_CALLS: usize = 1_000;

/// The sessions to which the earlier records were appended. Sessions are given by their numbers in
/// the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RouteState {
    /// The time of the last event.
    pub(crate) last_ts: Option<Timestamp>,
    /// The session to which the last record was appended.
    pub(crate) last: Option<u32>,
    /// The session to which the last record was appended that no sub-agent wrote.
    pub(crate) last_main: Option<u32>,
    /// The session that the agent would resume.
    pub(crate) leaf: Option<u32>,
    /// The ids of calls without a result, each with its session, oldest first.
    pub(crate) open: Vec<(u32, String)>,
    /// The sessions that contain the records of sub-agents.
    pub(crate) sidechains: Vec<u32>,
}

impl RouteState {
    /// Records that a record is appended to a session.
    pub(crate) fn enter(&mut self, session: u32, record: &Record) {
        self.last = Some(session);
        if !record.sidechain {
            self.last_main = Some(session);
        }
        if record.leaf {
            self.leaf = Some(session);
        }
    }

    /// Records the time of a record that gets no event of its own.
    pub(crate) fn pass(&mut self, record: &Record) {
        self.last_ts = record.ts.or(self.last_ts);
    }

    /// Checks whether the call is open in the session.
    pub(crate) fn is_open(&self, session: u32, call: &str) -> bool {
        self.open.iter().any(|(holder, id)| *holder == session && id == call)
    }

    /// Returns the session in which the call was opened last and is still open.
    pub(crate) fn holder_of(&self, call: &str) -> Option<u32> {
        self.open.iter().rev().find(|(_, id)| id == call).map(|(holder, _)| *holder)
    }

    pub(crate) fn open_call(&mut self, session: u32, call: &str) {
        if self.is_open(session, call) {
            return;
        }
        if self.open.len() >= OPEN_CALLS {
            self.open.remove(0);
        }
        self.open.push((session, call.to_owned()));
    }

    /// Opens and closes the calls of an event. An event that starts a turn first closes all calls
    /// of its session.
    pub(crate) fn follow_calls(&mut self, session: u32, effect: &Effect) {
        if effect.starts_turn {
            self.open.retain(|(holder, _)| *holder != session);
        }
        for step in &effect.calls {
            match step {
                CallStep::Open(call) => self.open_call(session, &call.id),
                CallStep::Close(id) => self.close_call(session, id),
            }
        }
    }

    fn close_call(&mut self, session: u32, call: &str) {
        if let Some(at) =
            self.open.iter().rposition(|(holder, id)| *holder == session && id == call)
        {
            self.open.remove(at);
        }
    }
}
