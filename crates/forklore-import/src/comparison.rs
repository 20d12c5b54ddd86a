//! How many records a rewritten file repeats from its earlier revision.

use forklore_store::sources::{RecordKey, SourceId};
use serde::{Deserialize, Serialize};

use crate::event_location::EventLocation;

/// How far a rewritten file repeats its earlier revision. It is stored with the file's source, so
/// that the next import can continue the comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// The number of the new revision, counted from 1.
    revision: u64,
    /// The source id of the earlier revision.
    earlier: u64,
    /// Number of records of the earlier revision that the file repeats in order.
    repeated: u64,
    /// Whether a record of the file differed from the next record of the earlier revision.
    differs: bool,
    /// The file's last record so far, if the file shares that record with the earlier revision: the
    /// key of the record and its event.
    last: Option<(Option<RecordKey>, EventLocation)>,
    /// The event of the earlier revision after which the file's first session begins.
    begun: Option<EventLocation>,
}

impl Comparison {
    /// Creates the comparison for a revision of which nothing was read yet. `earlier` is the source
    /// of the earlier revision.
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

    /// Returns the event of the file's last record so far, if the earlier revision has that record.
    pub(crate) fn last_shared(&self) -> Option<&EventLocation> {
        self.last.as_ref().map(|(_, spot)| spot)
    }

    /// Returns the event of the file's last record so far, if the earlier revision has that record
    /// and the record has this key.
    pub(crate) fn last_shared_with(&self, key: RecordKey) -> Option<&EventLocation> {
        self.last.as_ref().filter(|(last, _)| *last == Some(key)).map(|(_, spot)| spot)
    }

    /// Records that the earlier revision also has the file's last record so far, as the event
    /// `spot`.
    pub(crate) fn end_shared(&mut self, key: Option<RecordKey>, spot: EventLocation) {
        self.last = Some((key, spot));
    }

    /// Records that the file does not share its last record so far.
    pub(crate) fn end_own(&mut self) {
        self.last = None;
    }

    /// Returns the event of the earlier revision after which the file's first session begins.
    pub(crate) fn begun(&self) -> Option<&EventLocation> {
        self.begun.as_ref()
    }

    /// Sets the event of the earlier revision after which the file's first session begins.
    pub(crate) fn begin_after(&mut self, spot: Option<EventLocation>) {
        self.begun = spot;
    }
}
