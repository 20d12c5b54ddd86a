//! The location of an event in the store. An import uses it for the events of an earlier revision
//! that a rewritten file repeats.

use forklore_core::SessionId;
use forklore_store::sources::RecordLocation;
use serde::{Deserialize, Serialize};

/// A placeholder for the location of a record that a rewritten file shares with its earlier
/// revision. The actual location must be looked up in that revision, the file's content before the
/// rewrite.
pub(crate) const SHARED: RecordLocation =
    RecordLocation { session: RecordLocation::LAST_SESSION, position: 0, inherited: true };

/// A placeholder for the location of a record that became no event, although it has an id. It lets a
/// push find out that the record is stored.
pub(crate) const SIDE: RecordLocation = RecordLocation { position: 1, ..SHARED };

/// The location of an event in a session's history, which contains inherited and own events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventLocation {
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
}
