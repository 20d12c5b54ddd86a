//! Rewritten files: a revision shares the records that it repeats with the revision before it, and
//! its session is a branch there (docs/semantics.md, Sources).
//!
//! The records of the file are compared in order with those of the earlier revision. After the
//! first difference a record is still shared if it is the same record and continues a shared one.
//! So a branch that nobody changed is not created again.

use bytestring::ByteString;
use forklore_core::agent_format::{Parent, Record};
use forklore_core::{Cut, Header, SessionKind};
use forklore_engine::Result;
use forklore_store::sources::{RecordKey, RecordLocation};
use serde::{Deserialize, Serialize};

use crate::begin::{Begin, BranchParent, Follows};
use crate::earlier_revision::{EarlierRevision, Spot};
use crate::file_session::Following;
use crate::opened::record_key;
use crate::reading::Reading;
use crate::route::Route;

/// The location recorded for a record of an earlier revision, where it must be looked up.
pub(crate) const SHARED: RecordLocation =
    RecordLocation { session: RecordLocation::LAST_SESSION, position: 0, inherited: true };

/// How far a file repeats its earlier revision; stored with its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// The number of the revision, from 1.
    pub(crate) revision: u64,
    /// The source id of the earlier revision.
    pub(crate) earlier: u64,
    /// Number of its records that were repeated in order.
    repeated: u64,
    /// Whether a record differed from the next one of the earlier revision.
    differs: bool,
    /// The last record, if it is a shared one.
    last: Option<(Option<RecordKey>, Spot)>,
    /// The record of the earlier revision after which the file's session begins.
    begun: Option<Spot>,
}

impl Comparison {
    /// Returns the comparison for a revision of which nothing was read yet.
    pub(crate) fn of(revision: u64, earlier: u64) -> Self {
        Self { revision, earlier, ..Self::default() }
    }

    /// Checks whether the last record is a shared one.
    pub(crate) fn ends_shared(&self) -> bool {
        self.last.is_some()
    }

    /// Records that the last record is the file's own.
    pub(crate) fn took_own(&mut self) {
        self.last = None;
    }
}

impl Reading<'_> {
    /// Returns the event of an earlier revision's session that this record repeats. Until the first
    /// difference that is the next record in order, and later the same record if it continues a
    /// shared one.
    pub(crate) fn unchanged(&mut self, record: &Record, text: &ByteString) -> Result<Option<Spot>> {
        let Some(mut earlier) = self.take_earlier()? else { return Ok(None) };
        let found = self.unchanged_in(&mut earlier, record, text);
        self.earlier = Some(earlier);
        found
    }

    fn take_earlier(&mut self) -> Result<Option<EarlierRevision>> {
        let Some(comparison) = &self.state.comparison else { return Ok(None) };
        if let Some(earlier) = self.earlier.take() {
            return Ok(Some(earlier));
        }
        let (path, skip) = (&self.file.seen.path, comparison.repeated);
        EarlierRevision::open(self.engine, self.sources, path, comparison.earlier, skip).map(Some)
    }

    fn unchanged_in(
        &mut self,
        earlier: &mut EarlierRevision,
        record: &Record,
        text: &ByteString,
    ) -> Result<Option<Spot>> {
        let Some(comparison) = &mut self.state.comparison else { return Ok(None) };
        if !comparison.differs {
            if let Some(spot) = earlier.next_spot(self.engine, self.sources)?
                && earlier.has(self.engine, &spot, record, text)?
            {
                comparison.repeated += 1;
                return Ok(Some(spot));
            }
            comparison.differs = true;
        }
        let Some(native) = &record.native_id else { return Ok(None) };
        let continues_shared = match &record.parent {
            Parent::Previous => false,
            Parent::None => !record.sidechain,
            Parent::Id(id) => self.shared_in(earlier, record_key(id.as_bytes()))?.is_some(),
        };
        if !continues_shared {
            return Ok(None);
        }
        let key = record_key(native.as_bytes());
        let Some(spot) = earlier.find(self.engine, self.sources, key)? else { return Ok(None) };
        Ok(earlier.has(self.engine, &spot, record, text)?.then_some(spot))
    }

    /// Records a shared record, which needs no event of its own.
    pub(crate) fn take_shared(&mut self, record: &Record, spot: Spot) {
        let named = record.key.as_ref().or(record.native_id.as_ref());
        let key = named.map(|name| record_key(name.as_bytes()));
        self.tip = None;
        if let Some(key) = key {
            self.batch.found(key, SHARED);
        }
        self.state.last_ts = record.ts.or(self.state.last_ts);
        if let Some(comparison) = &mut self.state.comparison {
            comparison.last = Some((key, spot));
        }
    }

    /// Returns the shared record that this record continues, if it continues one.
    pub(crate) fn shared_parent(&mut self, record: &Record) -> Result<Option<Spot>> {
        let Some(comparison) = &self.state.comparison else { return Ok(None) };
        let id = match &record.parent {
            Parent::Previous => return Ok(comparison.last.clone().map(|(_, spot)| spot)),
            Parent::None => return Ok(None),
            Parent::Id(id) => id,
        };
        let Some(earlier) = self.take_earlier()? else { return Ok(None) };
        let found = self.shared_in(&earlier, record_key(id.as_bytes()));
        self.earlier = Some(earlier);
        found
    }

    fn shared_in(&mut self, earlier: &EarlierRevision, key: RecordKey) -> Result<Option<Spot>> {
        if let Some((Some(last), spot)) =
            self.state.comparison.as_ref().and_then(|comparison| comparison.last.as_ref())
            && *last == key
        {
            return Ok(Some(spot.clone()));
        }
        match self.locate(key)? {
            Some(SHARED) => earlier.find(self.engine, self.sources, key),
            _ => Ok(None),
        }
    }

    /// Returns the route of a record that continues a shared one.
    pub(crate) fn route_after_shared(&self, record: &Record, spot: Spot) -> Result<Route> {
        let header = self.engine.store().header(&spot.session)?;
        if header.deleted.is_some() {
            return Ok(Route::Nowhere(SHARED));
        }
        let begun = self.state.comparison.as_ref().and_then(|comparison| comparison.begun.as_ref());
        if begun == Some(&spot)
            && self.session(0).is_some_and(|first| {
                first.events == u64::from(first.forked) && first.following == Following::Follows
            })
        {
            return Ok(Route::Into(0));
        }
        let enters = record.sidechain && header.kind != SessionKind::Delegate;
        let kind = if enters { SessionKind::Delegate } else { SessionKind::Branch };
        let parent = BranchParent::Earlier(spot.session);
        Ok(Route::Fork(Begin { parent, after: Follows::Seq(spot.seq), kind }))
    }

    /// Sets the shared record after which the file's session will begin.
    pub(crate) fn begin_after(&mut self, spot: Option<Spot>) {
        if let Some(comparison) = &mut self.state.comparison {
            comparison.begun = spot;
        }
    }

    /// Returns where the session of a revision begins: after the last record that both revisions
    /// have, or at the start. Returns `None` if the file is not a revision, if it continues another
    /// file and shares nothing, or if the earlier revision's first session was deleted.
    pub(crate) fn revision_beginning(&mut self) -> Result<Option<(Header, Cut)>> {
        let Some(comparison) = &self.state.comparison else { return Ok(None) };
        if let Some(spot) = comparison.begun.clone() {
            let parent = self.engine.store().header(&spot.session)?;
            let cut = self.lookup().cut(&parent, Follows::Seq(spot.seq))?;
            return Ok(Some((parent, cut)));
        }
        if self.state.facts.base.is_some() {
            return Ok(None);
        }
        let Some(earlier) = self.take_earlier()? else { return Ok(None) };
        let first = earlier.first_session().cloned();
        self.earlier = Some(earlier);
        let Some(first) = first else { return Ok(None) };
        let parent = self.engine.store().header(&first)?;
        Ok((parent.deleted.is_none()).then(|| (parent, Cut::default())))
    }

    /// Creates the session of a revision in which nothing is new, so that the revision can be
    /// restored.
    pub(crate) fn begin_unchanged_revision(&mut self) -> Result<()> {
        let Some(comparison) = &self.state.comparison else { return Ok(()) };
        let Some((_, spot)) = comparison.last.clone() else { return Ok(()) };
        if self.sessions.is_empty() {
            self.begin_after(Some(spot));
            self.begin_first(None)?;
            self.state.leaf = Some(0);
        }
        Ok(())
    }

    /// Returns the number of the file's revision, if the file has no session yet.
    pub(crate) fn revision(&self) -> Option<u64> {
        let comparison = self.state.comparison.as_ref()?;
        self.sessions.is_empty().then_some(comparison.revision)
    }
}
