//! Finds a record of an agent in the history that a session inherits.

use forklore_core::Header;
use forklore_engine::Result;
use forklore_store::sources::{FindSource, RecordKey, RecordLocation, Source};

use crate::event_location::EventLocation;
use crate::lookup::Lookup;

/// Maximum number of ancestors whose files are searched for a record.
const ANCESTORS: usize = 64;

impl Lookup<'_> {
    /// Returns the event of the record with this key in the files of the ancestors of a session,
    /// nearest ancestor first. Returns `None` if no ancestor's file has the record, or if its
    /// session was deleted.
    pub(crate) fn inherited_record(
        &self,
        session: &Header,
        key: RecordKey,
    ) -> Result<Option<EventLocation>> {
        let mut next = session.parent_id.clone();
        for _ in 0..ANCESTORS {
            let Some(ancestor) = next else { return Ok(None) };
            for source in self.sources.sources(&FindSource::Session(ancestor.clone()))? {
                if let Some(found) = self.record_in(&source, key)? {
                    return Ok(Some(found));
                }
            }
            next = self.engine.store().header(&ancestor)?.parent_id;
        }
        Ok(None)
    }

    /// Returns the event of the record with this key in an imported file. Returns `None` if the
    /// file does not have the record, or if its session was deleted.
    pub(crate) fn record_in(
        &self,
        source: &Source,
        key: RecordKey,
    ) -> Result<Option<EventLocation>> {
        let Some(location) = self.sources.locate_record(source.id, key)? else { return Ok(None) };
        let Some(header) = self.session_at(source, location)? else { return Ok(None) };
        let RecordLocation { position, inherited, .. } = location;
        let seq = if inherited { position } else { header.seq_of_own(position) };
        Ok(Some(EventLocation { session: header.id, seq }))
    }
}
