//! The state from which the route of the next record is decided.

use forklore_core::agent_format::Record;
use forklore_core::call::{CallStep, Effect};
use jiff::Timestamp;

/// Maximum number of stored tool calls without a result. If there are more, the import forgets the
/// oldest calls.
const OPEN_CALLS: usize = 1_000;

/// The sessions to which a file's records were appended so far, by their numbers in the file. The
/// import needs them to choose the session of the next record.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RouteState {
    /// The time that the next record gets if it has none. It is the time of the last event that was
    /// added, or of a later record that has a time but no event of its own. `None` if there is
    /// neither.
    pub(crate) last_ts: Option<Timestamp>,
    /// The session to which the last record was appended, by its number in the file; `None` before
    /// the first record.
    pub(crate) last: Option<u32>,
    /// The session to which the last record that is not a sub-agent's was appended, by its number
    /// in the file.
    pub(crate) last_main: Option<u32>,
    /// The session that the agent would resume, by its number in the file; `None` if that is
    /// not known.
    pub(crate) leaf: Option<u32>,
    /// The ids of tool calls without a result, oldest first. Each comes with its session's number
    /// in the file.
    pub(crate) open: Vec<(u32, String)>,
    /// The sessions that contain records of sub-agents, by their numbers in the file.
    pub(crate) sidechains: Vec<u32>,
}

impl RouteState {
    /// Records that `record` was appended to the session with this number in the file.
    pub(crate) fn enter(&mut self, session: u32, record: &Record) {
        self.last = Some(session);
        if !record.sidechain {
            self.last_main = Some(session);
        }
        if record.leaf {
            self.leaf = Some(session);
        }
    }

    /// Records the time of a record that gets no event of its own. The next record gets this time
    /// if it has none.
    pub(crate) fn pass(&mut self, record: &Record) {
        self.last_ts = record.ts.or(self.last_ts);
    }

    /// Checks whether the tool call with the id `call` has no result yet in this session.
    pub(crate) fn is_open(&self, session: u32, call: &str) -> bool {
        self.open.iter().any(|(holder, id)| *holder == session && id == call)
    }

    /// Returns the number of the session that waits for the result of the tool call with the id
    /// `call`. If there are several, returns the session that made the call last. Returns `None` if
    /// there is none.
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

    /// Updates which tool calls of the session have no result, after an event with this `effect`.
    /// The effect states the event's tool calls and results, and whether it starts a turn. An event
    /// that starts a turn first closes all earlier calls of the session.
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
