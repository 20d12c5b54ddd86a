//! The state with which the next import of a file continues.

use std::ops::RangeInclusive;

use forklore_core::agent_format::FileFacts;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::comparison::Comparison;
use crate::copy_progress::CopyProgress;
use crate::header_state::HeaderState;
use crate::pushed_state::PushedState;
use crate::route_state::RouteState;
use crate::unfinished_line::UnfinishedLine;

/// The state from which the next import of the same file continues. It is stored as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ResumeState {
    /// The facts that the file states about its session, for example the title and the working
    /// directory.
    pub(crate) facts: FileFacts,
    /// Number of line feeds that imports have read in the file.
    pub(crate) lines: u64,
    /// Whether the last import ended inside a line that is too long to be a record.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) in_long_line: bool,
    /// The file's unfinished last line; `None` if its last line is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unfinished: Option<UnfinishedLine>,
    // The fields of `RouteState`. They are not flattened, because numbers in flattened fields
    // cannot be read where a program enables serde_json's `arbitrary_precision`.
    last_ts: Option<Timestamp>,
    last: Option<u32>,
    leaf: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<(u32, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sidechains: Vec<u32>,
    last_main: Option<u32>,
    /// How far the beginning of the file repeats another file from which it was copied; `None` if
    /// it is no copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) copying: Option<CopyProgress>,
    /// How far the file repeats its earlier revision (the content before it was rewritten); `None`
    /// if it was not rewritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<Comparison>,
    /// The ids of the records that are the history of a session which forklore wrote, and which the
    /// agent stores later; `None` for all other sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) awaited: Option<RangeInclusive<String>>,
    /// The values that imports last wrote to the header of the file's first session.
    #[serde(rename = "told")]
    pub(crate) header: HeaderState,
    /// The state of the reader of the file's format; `None` if the reader has no state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reader: Option<String>,
    /// The state of a file whose lines a program passes on; `None` for a file on a disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pushed: Option<PushedState>,
}

impl ResumeState {
    /// Creates a state that contains only `route`. An import needs `route` to choose the session of
    /// the next record.
    pub(crate) fn of(route: RouteState) -> Self {
        let RouteState { last_ts, last, last_main, leaf, open, sidechains } = route;
        Self { last_ts, last, last_main, leaf, open, sidechains, ..Self::default() }
    }

    /// Creates the state of a file of which nothing was read yet. `comparison` compares a rewritten
    /// file with its earlier revision.
    pub(crate) fn compared(comparison: Option<Comparison>) -> Self {
        Self { comparison, ..Self::default() }
    }

    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the state from which the next import chooses the session of each record. It
    /// describes to which sessions the file's earlier records were appended.
    pub(crate) fn route(&self) -> RouteState {
        RouteState {
            last_ts: self.last_ts,
            last: self.last,
            last_main: self.last_main,
            leaf: self.leaf,
            open: self.open.clone(),
            sidechains: self.sidechains.clone(),
        }
    }

    /// Returns the number in the file of the session that the agent would resume; `None` if that is
    /// not known.
    pub(crate) fn leaf(&self) -> Option<u32> {
        self.leaf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_stored_flat_and_comes_back_whole() {
        let route = RouteState {
            last_ts: Some(Timestamp::UNIX_EPOCH),
            last: Some(3),
            last_main: Some(1),
            leaf: Some(2),
            open: vec![(1, "call".to_owned())],
            sidechains: vec![3],
        };
        let mut state = ResumeState::of(route.clone());
        (state.lines, state.in_long_line, state.reader) = (7, true, Some("reader".to_owned()));
        let text = "{\"facts\":{\"native_id\":null,\"cwd\":null,\"created\":null},\"lines\":7,\
                    \"in_long_line\":true,\"last_ts\":\"1970-01-01T00:00:00Z\",\"last\":3,\
                    \"leaf\":2,\"open\":[[1,\"call\"]],\"sidechains\":[3],\"last_main\":1,\
                    \"told\":{\"title_key\":null,\"leaf\":null},\"reader\":\"reader\"}";
        assert_eq!(state.text(), text);
        assert_eq!(ResumeState::read(text), state);
        assert_eq!(ResumeState::read(text).route(), route);
    }

    #[test]
    fn a_state_that_cannot_be_read_is_empty() {
        assert_eq!(ResumeState::read("{\"lines\":\"x\"}"), ResumeState::default());
        assert_eq!(ResumeState::read("{}"), ResumeState::default());
    }
}
