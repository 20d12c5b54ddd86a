//! Events outside of the file's own sessions that records of the file repeat.

use forklore_core::SessionId;
use forklore_store::sources::RecordLocation;
use serde::{Deserialize, Serialize};

/// The location recorded for a record of an earlier revision, where it must be looked up.
pub(crate) const SHARED: RecordLocation =
    RecordLocation { session: RecordLocation::LAST_SESSION, position: 0, inherited: true };

/// An event in the history of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventLocation {
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
}
