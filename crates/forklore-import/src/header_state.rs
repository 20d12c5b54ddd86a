//! What was written to the header of a file's first session, so that only changes are written.

use forklore_core::SessionId;
use forklore_store::port::Change;
use forklore_store::sources::RecordKey;
use serde::{Deserialize, Serialize};

use crate::agent_file::AgentFile;

/// What was written to the header of a file's first session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HeaderState {
    /// The title's record key, the beginning of its sha256. The title itself is deleted with the
    /// session.
    title_key: Option<RecordKey>,
    leaf: Option<u32>,
}

impl HeaderState {
    pub(crate) fn title_key(&self) -> Option<RecordKey> {
        self.title_key
    }

    /// Records that the session is created with the file's title.
    pub(crate) fn create(&mut self, file: &AgentFile<'_>) {
        self.title_key = file.title_key();
    }

    /// Returns the change to the file's title if the title has changed since the last step.
    pub(crate) fn title_change(&mut self, file: &AgentFile<'_>) -> Option<Change> {
        let key = file.title_key();
        if key.is_none() || self.title_key == key {
            return None;
        }
        self.title_key = key;
        Some(Change::Title(file.title()))
    }

    /// Returns the change to the session that the agent would resume, if that has changed. `leaf`
    /// is its number in the file, and `id` its id.
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
