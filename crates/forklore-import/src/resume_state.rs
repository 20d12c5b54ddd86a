//! The state of a file that is stored between two imports of it.

use forklore_core::agent_format::FileFacts;
use forklore_store::sources::RecordKey;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::copied_prefix::CopyProgress;
use crate::revision::Comparison;

/// Maximum number of open calls stored; older ones count as abandoned.
const OPEN_CALLS: usize = 1_000;

/// The state of a file that is stored with its source between two imports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ResumeState {
    /// Facts about the session that the file contains.
    pub(crate) facts: FileFacts,
    /// Number of line feeds read.
    pub(crate) lines: u64,
    /// Whether the last import stopped inside a line that is too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) in_long_line: bool,
    /// The time of the last event.
    pub(crate) last_ts: Option<Timestamp>,
    /// The session to which the last record was written.
    pub(crate) last: Option<u32>,
    /// The session that the agent would resume.
    pub(crate) leaf: Option<u32>,
    /// Calls without a result, each with its session, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) open: Vec<(u32, String)>,
    /// Sessions that contain a sub-agent's records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sidechains: Vec<u32>,
    /// The session to which the last record outside of sub-agents was written.
    pub(crate) last_main: Option<u32>,
    /// How far the file repeats another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) copying: Option<CopyProgress>,
    /// How far the file repeats its earlier revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<Comparison>,
    /// What was written to the header of the first session.
    #[serde(rename = "told")]
    pub(crate) header: HeaderState,
    /// The state of the dialect's reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reader: Option<String>,
}

/// What was written to the header of a file's first session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HeaderState {
    /// The title's record key, the beginning of its sha256. The title itself is deleted with the
    /// session.
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

    /// Checks whether the call is open in the session.
    pub(crate) fn is_open(&self, session: u32, call: &str) -> bool {
        self.open.iter().any(|(holder, id)| *holder == session && id == call)
    }

    /// Returns the session that made the call last and has no result for it.
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
