//! Which values the imports of a file wrote to the header of the file's first session. An import
//! compares them with the present values, and writes only changes.

use forklore_core::SessionId;
use forklore_store::port::Change;
use forklore_store::sources::RecordKey;
use serde::{Deserialize, Serialize};

use crate::agent_file::AgentFile;

/// The values that imports last wrote to the header of a file's first session. An import compares
/// them with the present values, so that it writes only changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HeaderState {
    /// The first 8 bytes of the sha256 of the session's title; `None` if no import wrote a title.
    /// The title itself is not stored here, because it must disappear when the session is deleted.
    title_key: Option<RecordKey>,
    leaf: Option<u32>,
}

impl HeaderState {
    pub(crate) fn title_key(&self) -> Option<RecordKey> {
        self.title_key
    }

    /// Records the file's present title, because the file's first session is created with this
    /// title.
    pub(crate) fn create(&mut self, file: &AgentFile<'_>) {
        self.title_key = file.title_key();
    }

    /// Returns a change that sets the session's title to the title in the file. Returns `None` if
    /// the file has no title, or if an import already wrote this title.
    pub(crate) fn title_change(&mut self, file: &AgentFile<'_>) -> Option<Change> {
        let key = file.title_key();
        if key.is_none() || self.title_key == key {
            return None;
        }
        self.title_key = key;
        Some(Change::Title(file.title()))
    }

    /// Returns a header change that names the session which the agent would resume. `leaf` is that
    /// session's number in the file, and `id` is its id. Returns `None` if imports last wrote the
    /// same session, or if there is no such session.
    pub(crate) fn leaf_change(
        &mut self,
        leaf: Option<u32>,
        id: Option<&SessionId>,
    ) -> Option<Change> {
        if self.leaf == leaf {
            return None;
        }
        self.leaf = leaf;
        id.map(|id| Change::Leaf(Some(id.clone())))
    }
}
