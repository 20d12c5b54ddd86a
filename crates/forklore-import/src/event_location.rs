//! Events of earlier revisions that records of a file repeat.

use forklore_core::SessionId;
use forklore_store::sources::RecordLocation;
use serde::{Deserialize, Serialize};

/// A marker location for a record that a rewritten file shares with its earlier revision (the
/// content before the rewrite). The actual location must be looked up in the earlier revision.
pub(crate) const SHARED: RecordLocation =
    RecordLocation { session: RecordLocation::LAST_SESSION, position: 0, inherited: true };

/// The location of an event in a session's history, which contains inherited and own events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventLocation {
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
}
