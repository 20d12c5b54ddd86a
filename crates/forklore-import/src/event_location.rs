//! Events of earlier revisions that records of a file repeat.

use forklore_core::SessionId;
use forklore_store::sources::RecordLocation;
use serde::{Deserialize, Serialize};

/// The location recorded for a record that the file shares with an earlier revision. The actual
/// location must be looked up in the earlier revision.
pub(crate) const SHARED: RecordLocation =
    RecordLocation { session: RecordLocation::LAST_SESSION, position: 0, inherited: true };

/// An event in the history of a session, inherited or own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventLocation {
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
}
