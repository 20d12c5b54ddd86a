//! Rewritten files. A new revision shares the records that it repeats with the earlier revision,
//! and its session is a branch of the earlier session (docs/semantics.md, Sources).
//!
//! The records of the file are compared in order with those of the earlier revision. After the
//! first difference, a record is still shared if the earlier revision has the same record and the
//! record has no parent or continues a shared record. Therefore a branch that nobody changed is not
//! created again.

use bytestring::ByteString;
use forklore_core::agent_format::{Parent, Record};
use forklore_core::{Cut, Header};
use forklore_engine::Result;
use forklore_store::sources::RecordKey;

use crate::agent_file::AgentFile;
use crate::branch_start::Follows;
use crate::comparison::Comparison;
use crate::copied_prefix::RecordLine;
use crate::earlier_revision::EarlierRevision;
use crate::event_location::{EventLocation, SHARED};
use crate::lookup::Lookup;
use crate::original_events::OriginalEvents;
use crate::output::Output;
use crate::record_keys::record_key;
use crate::renewal::{Renewal, Renewed};

/// Compares a file with its earlier revision (the content before it was rewritten). If `comparison`
/// is `None`, the file was not rewritten and shares no records.
pub(crate) struct Revision {
    comparison: Option<Comparison>,
    /// The reader of the earlier revision. It is opened when it is first needed.
    earlier: Option<EarlierRevision>,
    /// The reader of the conversation that the earlier revision has, if the agent wrote all records
    /// in another form. It is opened when it is first needed.
    original: Option<OriginalEvents>,
}

impl Revision {
    pub(crate) fn new(comparison: Option<Comparison>) -> Self {
        Self { comparison, earlier: None, original: None }
    }

    /// Returns how far the file repeats its earlier revision; `None` if it was not rewritten.
    pub(crate) fn comparison(&self) -> Option<&Comparison> {
        self.comparison.as_ref()
    }

    pub(crate) fn comparison_mut(&mut self) -> Option<&mut Comparison> {
        self.comparison.as_mut()
    }

    /// Returns how often the file has been rewritten, as far as imports noticed; `None` if it was
    /// not rewritten.
    pub(crate) fn number(&self) -> Option<u64> {
        self.comparison.as_ref().map(Comparison::revision)
    }

    /// Returns the event of the record that was read last, or `None` if the earlier revision does
    /// not have that record.
    pub(crate) fn last_shared(&self) -> Option<&EventLocation> {
        self.comparison.as_ref()?.last_shared()
    }

    /// Returns the event of the file's earlier revision that this record repeats. Before the first
    /// difference, the record must repeat the next record of that revision. After the first
    /// difference, the record must repeat the record with the same id, and its parent must be
    /// shared with that revision too. A record without a parent needs no shared parent, but it must
    /// not be a sub-agent's. Returns `None` for a record that is not shared.
    pub(crate) fn unchanged(
        &mut self,
        lookup: Lookup<'_>,
        file: &AgentFile<'_>,
        output: &mut Output<'_>,
        record: &Record,
        text: &ByteString,
    ) -> Result<Option<EventLocation>> {
        let Some((comparison, earlier)) = self.opened(lookup, file)? else { return Ok(None) };
        if !comparison.differs() {
            if let Some(spot) = earlier.next_spot(lookup)?
                && earlier.has(lookup, &spot, record, text)?
            {
                comparison.add_repeated();
                return Ok(Some(spot));
            }
            comparison.end_repeated();
        }
        let Some(native) = &record.native_id else { return Ok(None) };
        let continues_shared = match &record.parent {
            Parent::Previous => false,
            Parent::None => !record.sidechain,
            Parent::Id(id) | Parent::IdOrPrevious(id) => {
                let key = record_key(id.as_bytes());
                shared(comparison, earlier, lookup, output, key)?.is_some()
            }
        };
        if !continues_shared {
            return Ok(None);
        }
        let key = record_key(native.as_bytes());
        let Some(spot) = earlier.find(lookup, key)? else { return Ok(None) };
        Ok(earlier.has(lookup, &spot, record, text)?.then_some(spot))
    }

    /// Compares a record with the conversation of the earlier revision, if the agent wrote all
    /// records in another form. `is_first` means that no record before it is an event of the file.
    pub(crate) fn renewed(
        &mut self,
        lookup: Lookup<'_>,
        file: &AgentFile<'_>,
        line: RecordLine<'_>,
        is_first: bool,
    ) -> Result<Renewed> {
        if !lookup.format.renews_files() {
            return Ok(Renewed::New);
        }
        let Some((comparison, earlier)) = self.opened(lookup, file)? else {
            return Ok(Renewed::New);
        };
        let may_begin = is_first && comparison.repeated() == 0;
        if comparison.renewal_mut().is_none()
            && may_begin
            && let Some(first) = earlier.first_session()
            && let Some(renewal) = Renewal::of(lookup, first)?
        {
            comparison.begin_renewal(renewal);
        }
        let original = &mut self.original;
        let renewal = self.comparison.as_mut().and_then(Comparison::renewal_mut);
        renewal.map_or(Ok(Renewed::New), |renewal| renewal.next(lookup, original, line))
    }

    /// Returns the event of the record that `record` continues, or `None` if that record is not
    /// shared. A shared record is one that the earlier revision also has.
    pub(crate) fn shared_parent(
        &mut self,
        lookup: Lookup<'_>,
        file: &AgentFile<'_>,
        output: &mut Output<'_>,
        record: &Record,
    ) -> Result<Option<EventLocation>> {
        let id = match &record.parent {
            Parent::Previous => return Ok(self.last_shared().cloned()),
            Parent::None => return Ok(None),
            Parent::Id(id) | Parent::IdOrPrevious(id) => id,
        };
        let Some((comparison, earlier)) = self.opened(lookup, file)? else { return Ok(None) };
        shared(comparison, earlier, lookup, output, record_key(id.as_bytes()))
    }

    /// Returns the parent of a rewritten file's first session, and the cut at which the session
    /// begins. The cut is after the record that the file's first new record continues, if the
    /// earlier revision has that continued record. Otherwise the cut is at the start of that
    /// revision's first session. Returns `None` if the file was not rewritten, if it continues
    /// another file and shares no record, or if the earlier revision's first session was deleted.
    pub(crate) fn beginning(
        &mut self,
        lookup: Lookup<'_>,
        file: &AgentFile<'_>,
    ) -> Result<Option<(Header, Cut)>> {
        if let Some(spot) = self.comparison.as_ref().and_then(Comparison::begun) {
            let parent = lookup.engine.store().header(&spot.session)?;
            let cut = lookup.cut(&parent, Follows::Seq(spot.seq))?;
            return Ok(Some((parent, cut)));
        }
        if file.facts().base.is_some() {
            return Ok(None);
        }
        let Some((_, earlier)) = self.opened(lookup, file)? else { return Ok(None) };
        let Some(first) = earlier.first_session() else { return Ok(None) };
        let parent = lookup.engine.store().header(first)?;
        Ok((parent.deleted.is_none()).then(|| (parent, Cut::default())))
    }

    /// Returns the comparison and the reader of the earlier revision. Opens the reader when it is
    /// first needed. Returns `None` if the file was not rewritten.
    fn opened(
        &mut self,
        lookup: Lookup<'_>,
        file: &AgentFile<'_>,
    ) -> Result<Option<(&mut Comparison, &mut EarlierRevision)>> {
        let Some(comparison) = &mut self.comparison else { return Ok(None) };
        let earlier = match self.earlier.take() {
            Some(earlier) => earlier,
            None => {
                let (id, skip) = (comparison.earlier(), comparison.repeated());
                EarlierRevision::open(lookup, file.path(), id, skip)?
            }
        };
        Ok(Some((comparison, self.earlier.insert(earlier))))
    }
}

/// Returns the event of the file's last record with this key, or `None` if that record is not
/// shared. A shared record is one that the earlier revision also has.
fn shared(
    comparison: &Comparison,
    earlier: &EarlierRevision,
    lookup: Lookup<'_>,
    output: &mut Output<'_>,
    key: RecordKey,
) -> Result<Option<EventLocation>> {
    if let Some(spot) = comparison.last_shared_with(key) {
        return Ok(Some(spot.clone()));
    }
    match output.locate(key)? {
        Some(SHARED) => earlier.find(lookup, key),
        _ => Ok(None),
    }
}
