//! How far a rewritten file repeats the revision before it.

use forklore_store::sources::{RecordKey, SourceId};
use serde::{Deserialize, Serialize};

use crate::event_location::EventLocation;

/// How far a file repeats its earlier revision; stored with its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// The number of the revision, from 1.
    revision: u64,
    /// The source id of the earlier revision.
    earlier: u64,
    /// Number of its records that were repeated in order.
    repeated: u64,
    /// Whether a record differed from the next one of the earlier revision.
    differs: bool,
    /// The last record, if it is a shared one.
    last: Option<(Option<RecordKey>, EventLocation)>,
    /// The record of the earlier revision after which the file's session begins.
    begun: Option<EventLocation>,
}

impl Comparison {
    /// Returns the comparison for a revision of which nothing was read yet.
    pub(crate) fn of(revision: u64, earlier: SourceId) -> Self {
        Self { revision, earlier: earlier.0, ..Self::default() }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn earlier(&self) -> SourceId {
        SourceId(self.earlier)
    }

    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }

    pub(crate) fn differs(&self) -> bool {
        self.differs
    }

    /// Records that the file repeats one more record in order.
    pub(crate) fn add_repeated(&mut self) {
        self.repeated += 1;
    }

    /// Records that the file no longer repeats the earlier revision in order.
    pub(crate) fn end_repeated(&mut self) {
        self.differs = true;
    }

    /// Returns the last record if it is a shared one.
    pub(crate) fn last_shared(&self) -> Option<&EventLocation> {
        self.last.as_ref().map(|(_, spot)| spot)
    }

    /// Returns the last record if it is a shared one with this key.
    pub(crate) fn last_shared_with(&self, key: RecordKey) -> Option<&EventLocation> {
        self.last.as_ref().filter(|(last, _)| *last == Some(key)).map(|(_, spot)| spot)
    }

    /// Records that the last record is a shared one.
    pub(crate) fn end_shared(&mut self, key: Option<RecordKey>, spot: EventLocation) {
        self.last = Some((key, spot));
    }

    /// Records that the last record is the file's own.
    pub(crate) fn end_own(&mut self) {
        self.last = None;
    }

    /// Returns the shared record after which the file's session begins.
    pub(crate) fn begun(&self) -> Option<&EventLocation> {
        self.begun.as_ref()
    }

    /// Sets the shared record after which the file's session begins.
    pub(crate) fn begin_after(&mut self, spot: Option<EventLocation>) {
        self.begun = spot;
    }
}
