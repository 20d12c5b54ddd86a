//! How many records a rewritten file repeats from its earlier revision.

use forklore_store::sources::{RecordKey, SourceId};
use serde::{Deserialize, Serialize};

use crate::event_location::EventLocation;
use crate::renewal::Renewal;

/// How far a rewritten file repeats its earlier revision (the content before the rewrite). It is
/// stored with the imported file, so that the next import can continue the comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// How often the file has been rewritten. It is 1 after the first rewrite.
    revision: u64,
    /// The store's id of the earlier revision.
    earlier: u64,
    /// How many records a rewritten file repeats from its earlier revision, in the same order.
    repeated: u64,
    /// Whether the comparison has found a difference between the rewritten file and its earlier
    /// revision.
    differs: bool,
    /// The record that was read last, if the earlier revision also has it; otherwise `None`.
    /// Contains the record's key, and the event of the earlier revision that the record repeats.
    last: Option<(Option<RecordKey>, EventLocation)>,
    /// The event of the earlier revision after which the rewritten file's first session begins as a
    /// branch. `None` if the session begins after no event, or has not begun yet.
    begun: Option<EventLocation>,
    /// How far the rewritten file repeats the conversation of its earlier revision in another form.
    /// `None` if the file repeats records byte for byte, or repeats none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    renewal: Option<Renewal>,
}

impl Comparison {
    /// Creates the comparison for a rewritten file of which nothing was read yet. `earlier`
    /// identifies the earlier revision. `revision` is how often the file has been rewritten.
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

    /// Returns how far the rewritten file repeats the conversation of its earlier revision in
    /// another form. `None` if the two are not compared in this way.
    pub(crate) fn renewal_mut(&mut self) -> Option<&mut Renewal> {
        self.renewal.as_mut()
    }

    /// Begins to compare the rewritten file with the conversation of its earlier revision. The
    /// agent may have written the records of this conversation in another form.
    pub(crate) fn begin_renewal(&mut self, renewal: Renewal) {
        self.renewal = Some(renewal);
    }

    /// Counts one more record that the rewritten file repeats in order from its earlier revision
    /// (the content before the rewrite).
    pub(crate) fn add_repeated(&mut self) {
        self.repeated += 1;
    }

    /// Records that the rewritten file differs from its earlier revision, beginning with the record
    /// that was read last.
    pub(crate) fn end_repeated(&mut self) {
        self.differs = true;
    }

    /// Returns the event of the record that was read last, or `None` if the earlier revision does
    /// not have that record.
    pub(crate) fn last_shared(&self) -> Option<&EventLocation> {
        self.last.as_ref().map(|(_, spot)| spot)
    }

    /// Returns the event of the record that was read last, if it is a shared record with this key.
    /// A shared record is one that the earlier revision also has. Returns `None` otherwise.
    pub(crate) fn last_shared_with(&self, key: RecordKey) -> Option<&EventLocation> {
        self.last.as_ref().filter(|(last, _)| *last == Some(key)).map(|(_, spot)| spot)
    }

    /// Records that the earlier revision also has the record that was read last. `key` is the
    /// record's key, and `spot` is the event of the earlier revision that the record repeats.
    pub(crate) fn end_shared(&mut self, key: Option<RecordKey>, spot: EventLocation) {
        self.last = Some((key, spot));
    }

    /// Records that the earlier revision does not have the record that was read last.
    pub(crate) fn end_own(&mut self) {
        self.last = None;
    }

    /// Returns the event after which the rewritten file's first session begins as a branch. The
    /// event belongs to the earlier revision. Returns `None` if the session begins after no event,
    /// or has not begun yet.
    pub(crate) fn begun(&self) -> Option<&EventLocation> {
        self.begun.as_ref()
    }

    /// Sets the event after which the rewritten file's first session begins as a branch. The event
    /// belongs to the earlier revision.
    pub(crate) fn begin_after(&mut self, spot: Option<EventLocation>) {
        self.begun = spot;
    }
}
