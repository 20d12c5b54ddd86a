//! What must be remembered of a file between two imports of it.

use forklore_core::agent_format::FileFacts;
use forklore_store::sources::RecordKey;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::copied_prefix::CopyProgress;
use crate::revision::Comparison;

/// Open calls remembered; older ones are taken to be abandoned.
const OPEN_CALLS: usize = 1_000;

/// What must be remembered of a file between two imports of it; kept with its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ResumeState {
    /// What the file told of its session.
    pub(crate) facts: FileFacts,
    /// Line feeds so far.
    pub(crate) lines: u64,
    /// Whether the file stands inside a line that is too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) in_long_line: bool,
    /// The time of the last event.
    pub(crate) last_ts: Option<Timestamp>,
    /// The session that was written last.
    pub(crate) last: Option<u32>,
    /// The session that the agent would resume.
    pub(crate) leaf: Option<u32>,
    /// Calls without a result, with the session that holds them, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) open: Vec<(u32, String)>,
    /// Sessions that hold a sub-agent's records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sidechains: Vec<u32>,
    /// The session of the main line that was written last.
    pub(crate) last_main: Option<u32>,
    /// How far it repeats another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) copying: Option<CopyProgress>,
    /// How far it repeats its earlier revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<Comparison>,
    /// What the header of the first session says by now.
    #[serde(rename = "told")]
    pub(crate) header: HeaderState,
    /// What the dialect's reader remembers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reader: Option<String>,
}

/// What the header of a file's first session says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HeaderState {
    /// The title, as the beginning of its sha256: the text itself goes with the session.
    pub(crate) title_key: Option<RecordKey>,
    pub(crate) leaf: Option<u32>,
}

impl ResumeState {
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether the call is open in the session.
    pub(crate) fn is_open(&self, session: u32, call: &str) -> bool {
        self.open.iter().any(|(holder, id)| *holder == session && id == call)
    }

    /// The session that opened the call last and has no result for it.
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

    pub(crate) fn close_call(&mut self, session: u32, call: &str) {
        if let Some(at) =
            self.open.iter().rposition(|(holder, id)| *holder == session && id == call)
        {
            self.open.remove(at);
        }
    }

    pub(crate) fn close_all(&mut self, session: u32) {
        self.open.retain(|(holder, _)| *holder != session);
    }
}
