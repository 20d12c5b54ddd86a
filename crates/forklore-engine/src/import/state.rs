//! What must be remembered of a file between two imports of it.

use forklore_core::agent_format::FileFacts;
use forklore_store::sources::RecordKey;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::copies::Copying;

/// Open calls remembered; older ones are taken to be abandoned.
const OPEN_CALLS: usize = 1_000;

/// What must be remembered of a file between two imports of it; kept with its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// What the file told of its session.
    pub(super) facts: FileFacts,
    /// Line feeds so far.
    pub(super) lines: u64,
    /// Whether the file stands inside a line that is too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) in_long_line: bool,
    /// The time of the last event.
    pub(super) last_ts: Option<Timestamp>,
    /// The session that was written last.
    pub(super) last: Option<u32>,
    /// The session that the agent would resume.
    pub(super) leaf: Option<u32>,
    /// Calls without a result, with the session that holds them, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) open: Vec<(u32, String)>,
    /// Sessions that hold a sub-agent's records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) sidechains: Vec<u32>,
    /// The session of the main line that was written last.
    pub(super) last_main: Option<u32>,
    /// How far it repeats another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) copying: Option<Copying>,
    /// What the header of the first session says by now.
    pub(super) told: Told,
    /// What the dialect's reader remembers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reader: Option<String>,
}

/// What the header of a file's first session says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    /// The title, as the beginning of its sha256: the text itself goes with the session.
    pub(super) title_key: Option<RecordKey>,
    pub(super) leaf: Option<u32>,
}

impl State {
    pub(super) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether the call is open in the session.
    pub(super) fn is_open(&self, session: u32, call: &str) -> bool {
        self.open.iter().any(|(holder, id)| *holder == session && id == call)
    }

    /// The session that opened the call last and has no result for it.
    pub(super) fn holder_of(&self, call: &str) -> Option<u32> {
        self.open.iter().rev().find(|(_, id)| id == call).map(|(holder, _)| *holder)
    }

    pub(super) fn open_call(&mut self, session: u32, call: &str) {
        if self.is_open(session, call) {
            return;
        }
        if self.open.len() >= OPEN_CALLS {
            self.open.remove(0);
        }
        self.open.push((session, call.to_owned()));
    }

    pub(super) fn close_call(&mut self, session: u32, call: &str) {
        if let Some(at) =
            self.open.iter().rposition(|(holder, id)| *holder == session && id == call)
        {
            self.open.remove(at);
        }
    }

    pub(super) fn close_all(&mut self, session: u32) {
        self.open.retain(|(holder, _)| *holder != session);
    }
}
