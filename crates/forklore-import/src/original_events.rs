//! Reads the events of another file's session, which the records of a file may repeat.

use std::collections::VecDeque;

use bytestring::ByteString;
use forklore_core::agent_format::Record;
use forklore_core::{SessionId, SessionKind};
use forklore_engine::{Events, Result};
use forklore_store::port::{At, LogEntry};
use forklore_store::sources::{FindSource, RecordKey, Source};

use crate::copied_prefix::branch_name;
use crate::lookup::Lookup;
use crate::record_patch::{Limit, RecordPatch};

/// Maximum number of retained events between two inheritable events of the original, the session
/// from which a file was copied. If there are more events, only the first are retained. A copied
/// record without an id is compared with the retained events.
const PASSED: usize = 256;

/// Reads the events of the original, the session from which a file was copied. The next records of
/// the file may repeat these events.
pub(crate) struct OriginalEvents {
    /// The imported files that may contain the original session or a branch of it, in the order in
    /// which they are tried.
    sources: Vec<Source>,
    session: SessionId,
    events: Events,
    /// The next inheritable event (event that forks inherit) of the original session. The next
    /// inheritable record of the copy may repeat it. `None` at the end of the session.
    next: Option<LogEntry>,
    /// The events of the original session between the previous inheritable event and `next`. Forks
    /// do not inherit them. Only the first [`PASSED`] of them are retained.
    passed: VecDeque<LogEntry>,
}

impl OriginalEvents {
    /// Opens the events of the original `session` after its first `copied` inheritable events.
    /// `sources` are the imported files that may contain a branch of the session.
    pub(crate) fn open(
        lookup: Lookup<'_>,
        sources: Vec<Source>,
        session: SessionId,
        copied: u64,
    ) -> Result<Self> {
        let events = lookup.engine.events(&session, At::Inheritable(copied + 1));
        let mut original = Self { sources, session, events, next: None, passed: VecDeque::new() };
        original.advance()?;
        Ok(original)
    }

    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the next event of the original session that forks inherit, or `None` at the end.
    pub(crate) fn next(&self) -> Option<&LogEntry> {
        self.next.as_ref()
    }

    /// Advances to the next event of the original session that forks inherit.
    pub(crate) fn advance(&mut self) -> Result<()> {
        self.next = None;
        self.passed.clear();
        for stored in self.events.by_ref() {
            let stored = stored?;
            if stored.event.class.is_inherited() {
                self.next = Some(stored);
                break;
            }
            if self.passed.len() < PASSED {
                self.passed.push_back(stored);
            }
        }
        Ok(())
    }

    /// Checks whether a copied record may repeat the next event of the original session. Their
    /// types must be equal, and also their ids if the record has one.
    pub(crate) fn is_next(&self, record: &Record) -> bool {
        self.next.as_ref().is_some_and(|LogEntry { event, .. }| {
            let native = record.native_id.as_deref();
            event.kind == record.kind && native.is_none_or(|native| event.id.as_str() == native)
        })
    }

    /// Checks whether a copied record without an id repeats an event before the original's next
    /// inheritable event. Only events that forks do not inherit count. The types must be equal, and
    /// the content may differ by at most `most`. Drops the found event and the events before it.
    pub(crate) fn passed(&mut self, record: &Record, text: &ByteString, most: Limit) -> bool {
        let same = |stored: &LogEntry| {
            stored.event.kind == record.kind
                && RecordPatch::of(stored.event.data.get(), text, most).is_some()
        };
        let at = self.passed.iter().position(same);
        at.map(|at| self.passed.drain(..=at)).is_some()
    }

    /// Checks whether an imported file in `sources` contains a record with this key.
    pub(crate) fn contains(&self, lookup: Lookup<'_>, key: RecordKey) -> Result<bool> {
        for source in &self.sources {
            if lookup.sources.locate_record(source.id, key)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the events of a branch of the original session. The branch must begin after the
    /// session's first `copied` inheritable events and contain the record with this key. Returns
    /// `None` if there is no such branch.
    pub(crate) fn branch(
        &self,
        lookup: Lookup<'_>,
        key: RecordKey,
        copied: u64,
    ) -> Result<Option<Self>> {
        let name = branch_name(lookup.format, key);
        let copies = lookup.sources.sources(&FindSource::Name(name))?;
        for source in self.sources.iter().chain(&copies) {
            let Some(location) = lookup.sources.locate_record(source.id, key)? else { continue };
            let Some(header) = lookup.session_at(source, location)? else { continue };
            let begins_here = header.parent_id.as_ref() == Some(&self.session)
                && header.inherited.inheritable == copied
                && header.kind == SessionKind::Branch;
            if begins_here && !location.inherited {
                let mut sources = self.sources.clone();
                if !sources.iter().any(|it| it.id == source.id) {
                    sources.push(source.clone());
                }
                return Self::open(lookup, sources, header.id, copied).map(Some);
            }
        }
        Ok(None)
    }
}
