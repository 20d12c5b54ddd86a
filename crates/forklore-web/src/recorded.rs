//! The states of files that the events of a history name.

use forklore_store::port::LogEntry;
use serde::Deserialize;

/// The state of the files after an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The log position to which it belongs.
    pub(crate) seq: u64,
    pub(crate) folder: String,
    /// The id of the snapshot, as the event has it.
    pub(crate) snapshot: String,
    /// The snapshot before it. `None` if the history near here names none.
    pub(crate) before: Option<String>,
    /// How many files changed since then.
    pub(crate) changed: Option<u64>,
}

/// What an event says of the snapshot that it names.
#[derive(Deserialize)]
struct Named {
    snapshot: String,
    folder: String,
}

impl State {
    /// Reads the event that names a snapshot. `None` if its content is redacted.
    pub(crate) fn of(stored: &LogEntry) -> Option<Self> {
        let Named { snapshot, folder } = stored.event.data.read().ok()?;
        Some(Self { seq: stored.seq, folder, snapshot, before: None, changed: None })
    }
}
