//! Files that begin with a copy of another file's records, as some agents make them to fork: their
//! session becomes a fork that shares what was copied (docs/semantics.md, Words and Sources).
//!
//! Before the file has a session, each record is compared with the next event of the session from
//! which it may be copied. The file's session begins at the first record that differs.

use std::collections::VecDeque;

use bytestring::ByteString;
use forklore_core::agent_format::Record;
use forklore_core::{Cut, Data, Event, Header, Selector, SessionId, SessionKind};
use forklore_engine::Events;
use forklore_engine::Result;
use forklore_store::port::{At, LogEntry};
use forklore_store::sources::{
    FindSource, LineEnd, RecordKey, RecordLocation, Source, SourceId, SourceSpan,
};
use serde::{Deserialize, Serialize};

use crate::file_session::FileSession;
use crate::opened::record_key;
use crate::reading::Reading;

/// Maximum number of differing bytes between a copied record and its original: ids and times.
pub(crate) const DIFFERENCE: usize = 512;
/// The same limit for records without an id.
pub(crate) const NAMELESS: usize = 64;
/// Maximum number of events that are not inherited among which a record without an id is searched.
const PASSED: usize = 256;

/// How far a file repeats the records of another one; stored with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CopyProgress {
    /// The key of the first record, by which both files are found.
    name: Option<RecordKey>,
    /// The session that contains the last repeated event.
    session: SessionId,
    /// Number of inheritable events that were repeated.
    #[serde(rename = "kept")]
    copied: u64,
    /// The seq of the last of them in `session`.
    seq: u64,
    /// Whether the agent would resume at one of them.
    leaf: bool,
}

impl CopyProgress {
    /// Returns the session that contains the last repeated event.
    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }
}

/// The events that the next records may repeat.
pub(crate) struct OriginalEvents {
    /// Files that begin with the same record, oldest first.
    sources: Vec<Source>,
    session: SessionId,
    events: Events,
    /// The next inheritable event.
    next: Option<LogEntry>,
    /// The events before `next` that are not inherited.
    passed: VecDeque<LogEntry>,
}

impl Reading<'_> {
    /// Checks whether a record repeats the next event of another file's session. Its bytes are then
    /// accounted for, and it needs no event of its own.
    pub(crate) fn repeats(
        &mut self,
        record: &Record,
        text: &ByteString,
        end: LineEnd,
    ) -> Result<bool> {
        if record.sidechain {
            return Ok(false);
        }
        if !self.file.format.renames_copies() {
            return self.repeats_as(record, record, text, end);
        }
        // The record's id is new in the copy, so it does not identify the original.
        let nameless = Record { native_id: None, ..record.clone() };
        self.repeats_as(record, &nameless, text, end)
    }

    /// Checks whether a record repeats an event. `copied` is the record as the original may have
    /// it.
    fn repeats_as(
        &mut self,
        record: &Record,
        copied: &Record,
        text: &ByteString,
        end: LineEnd,
    ) -> Result<bool> {
        if self.state.copying.is_none() {
            self.find_original(copied)?;
        }
        if self.original.is_none() {
            self.open_original()?;
        }
        let Some(mut original) = self.original.take() else { return Ok(false) };
        let repeated = if copied.class.is_inherited() {
            self.same_event(&mut original, copied, text, end)?
        } else {
            // A record that is not inherited becomes no event of the fork: its bytes are stored
            // with the source.
            let located = match key_of(copied) {
                Some(key) => self.is_in(&original, key)?,
                None => original.passed(copied, text, self.most(copied)),
            };
            located.then(|| self.batch.retain_line(text.as_bytes(), end))
        };
        if repeated.is_some() {
            self.original = Some(original);
            self.follow(record);
        }
        Ok(repeated.is_some())
    }

    /// Returns the maximum number of bytes in which the record may differ from the event that it
    /// repeats.
    fn most(&self, record: &Record) -> usize {
        let named = record.native_id.is_some() || self.file.format.renames_copies();
        if named { DIFFERENCE } else { NAMELESS }
    }

    /// Updates the state after a repeated record.
    fn follow(&mut self, record: &Record) {
        self.state.last_ts = record.ts.or(self.state.last_ts);
        let Some(copying) = &mut self.state.copying else { return };
        copying.leaf |= record.leaf;
        let location = RecordLocation { session: 0, position: copying.copied, inherited: true };
        let named = record.key.as_ref().or(record.native_id.as_ref());
        if let Some(key) = named.map(|name| record_key(name.as_bytes())) {
            self.tip = Some((key, location));
            self.batch.found(key, location);
        }
    }

    /// Returns the key under which files that begin with this record are found.
    fn first_record_name(&self, native: &str) -> RecordKey {
        record_key(format!("{}\0first record\0{native}", self.file.format.name()).as_bytes())
    }

    /// Finds a file that begins with the same record, or that the file names as its original.
    fn find_original(&mut self, record: &Record) -> Result<()> {
        let name = record.native_id.as_deref().map(|native| self.first_record_name(native));
        self.batch.names.extend(name);
        for source in self.originals(name)? {
            let location = match key_of(record) {
                Some(key) => self.sources.locate_record(source.id, key)?,
                None => Some(RecordLocation::own(0, 0)),
            };
            let Some(location) = location else { continue };
            let Some(Header { id: session, .. }) = self.lookup().session_at(&source, location)?
            else {
                continue;
            };
            self.state.copying =
                Some(CopyProgress { name, session, copied: 0, seq: 0, leaf: false });
            return Ok(());
        }
        Ok(())
    }

    /// Returns the files that this one may repeat, oldest first.
    fn originals(&self, name: Option<RecordKey>) -> Result<Vec<Source>> {
        let mut sources = match name {
            Some(name) => self.sources.sources(&FindSource::Name(name))?,
            None => Vec::new(),
        };
        if let Some(original) = &self.state.facts.copied_from {
            sources.extend(self.sources.sources(&FindSource::Path(original.clone()))?);
            sources.extend(self.lookup().sources_of(original)?);
        }
        let copies: Vec<SourceId> = self.recorded_copies()?.iter().map(|copy| copy.id).collect();
        sources.retain(|source| {
            Some(source.id) != self.source
                && source.dialect == self.file.format.name()
                && !copies.contains(&source.id)
                && !self.is_own(source)
        });
        sources.sort_by_key(|source| source.id);
        sources.dedup_by_key(|source| source.id);
        Ok(sources)
    }

    /// Checks whether a source is an earlier revision of this file.
    fn is_own(&self, source: &Source) -> bool {
        source.paths.iter().any(|seen| seen.path == self.file.seen.path)
    }

    fn open_original(&mut self) -> Result<()> {
        let Some(copying) = self.state.copying.clone() else { return Ok(()) };
        let sources = self.originals(copying.name)?;
        let original = self.original_behind(sources, copying.session, copying.copied);
        self.original = Some(original?);
        Ok(())
    }

    fn original_behind(
        &self,
        sources: Vec<Source>,
        session: SessionId,
        copied: u64,
    ) -> Result<OriginalEvents> {
        let events = self.engine.events(&session, At::Inheritable(copied + 1));
        let passed = VecDeque::new();
        let mut original = OriginalEvents { sources, session, events, next: None, passed };
        original.advance()?;
        Ok(original)
    }

    /// Accepts a record that repeats the next event of the original, or of a branch of it that
    /// begins here.
    fn same_event(
        &mut self,
        original: &mut OriginalEvents,
        record: &Record,
        text: &ByteString,
        end: LineEnd,
    ) -> Result<Option<()>> {
        if let Some(key) = key_of(record)
            && !original.is_next(record)
        {
            let Some(branch) = self.branch(original, key)? else { return Ok(None) };
            *original = branch;
        }
        if !original.is_next(record) {
            return Ok(None);
        }
        let Some(next) = &original.next else { return Ok(None) };
        let Some(exchange) = Exchange::of(next.event.data.get(), text, self.most(record)) else {
            return Ok(None);
        };
        if !exchange.is_empty() && !self.says_the_same(&next.event, text) {
            return Ok(None);
        }
        if let Some(copying) = &mut self.state.copying {
            copying.session.clone_from(&original.session);
            copying.seq = next.seq;
            copying.copied = next.counts.inheritable;
        }
        self.batch.repeated(exchange.range(next.counts.inheritable, end));
        original.advance()?;
        Ok(Some(()))
    }

    /// Checks whether a record differs from the event only in what is not part of the conversation.
    fn says_the_same(&self, event: &Event, text: &ByteString) -> bool {
        let record = Data::from_checked(text.clone());
        self.file.format.says_the_same(&event.kind, &record, &event.data)
    }

    fn is_in(&self, original: &OriginalEvents, key: RecordKey) -> Result<bool> {
        for source in &original.sources {
            if self.sources.locate_record(source.id, key)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the branch that begins after the last repeated event and continues with this record.
    fn branch(&self, original: &OriginalEvents, key: RecordKey) -> Result<Option<OriginalEvents>> {
        let copied = self.state.copying.as_ref().map_or(0, |copying| copying.copied);
        for source in &original.sources {
            let Some(location) = self.sources.locate_record(source.id, key)? else { continue };
            let Some(header) = self.lookup().session_at(source, location)? else { continue };
            let begins_here = header.parent_id.as_ref() == Some(&original.session)
                && header.inherited.inheritable == copied
                && header.kind == SessionKind::Branch;
            if begins_here && !location.inherited {
                let sources = original.sources.clone();
                return self.original_behind(sources, header.id, copied).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns the session and the cut at which the file's session begins, if anything was repeated
    /// so far.
    pub(crate) fn copied_beginning(&mut self) -> Result<Option<(Header, Cut)>> {
        self.original = None;
        let Some(copying) = self.state.copying.take().filter(|copying| copying.copied > 0) else {
            return Ok(None);
        };
        if copying.leaf {
            self.state.leaf = Some(0);
        }
        let parent = self.engine.store().header(&copying.session)?;
        let seq = i64::try_from(copying.seq).unwrap_or(i64::MAX);
        let cut = self.engine.cut(&parent, &Selector::Seq(seq))?;
        Ok(Some((parent, cut)))
    }

    /// Creates the session of a file that contains nothing but a copy.
    pub(crate) fn begin_copy(&mut self) -> Result<()> {
        if self.sessions.is_empty() && self.state.copying.is_some() {
            self.begin_first(None)?;
        }
        Ok(())
    }
}

/// Returns the key of a record that has its own id.
fn key_of(record: &Record) -> Option<RecordKey> {
    record.native_id.as_deref().map(|native| record_key(native.as_bytes()))
}

impl OriginalEvents {
    /// Advances to the next inheritable event.
    fn advance(&mut self) -> Result<()> {
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

    /// Checks by its type, and its id if it has one, whether the record may repeat the next event.
    fn is_next(&self, record: &Record) -> bool {
        self.next.as_ref().is_some_and(|LogEntry { event, .. }| {
            let native = record.native_id.as_deref();
            event.kind == record.kind && native.is_none_or(|native| event.id.as_str() == native)
        })
    }

    /// Checks whether a record without an id, which is not inherited, also precedes the next event
    /// of the original.
    fn passed(&mut self, record: &Record, text: &ByteString, most: usize) -> bool {
        let same = |stored: &LogEntry| {
            stored.event.kind == record.kind
                && Exchange::of(stored.event.data.get(), text, most).is_some()
        };
        let at = self.passed.iter().position(same);
        at.map(|at| self.passed.drain(..=at)).is_some()
    }
}

impl FileSession {
    /// Checks whether nothing follows the location.
    pub(crate) fn ends_at(&self, location: RecordLocation) -> bool {
        match location.inherited {
            false => self.tip() == Some(location.position),
            // The inherited events are followed by `session_fork`, the session's own event at
            // position 0.
            true => self.inherited == location.position && self.events == u64::from(self.forked),
        }
    }
}

/// The difference between a copied record and the event that it repeats: one range of bytes is
/// replaced.
#[derive(Debug, PartialEq)]
pub(crate) struct Exchange<'t> {
    at: usize,
    removed: usize,
    inserted: &'t [u8],
}

impl<'t> Exchange<'t> {
    /// Returns the difference, or `None` if more than `most` bytes differ.
    pub(crate) fn of(event: &str, text: &'t str, most: usize) -> Option<Self> {
        Self::between(event, text).filter(|it| it.removed.max(it.inserted.len()) <= most)
    }

    fn between(event: &str, record: &'t str) -> Option<Self> {
        let (event, record) = (event.as_bytes(), record.as_bytes());
        let alike = |(a, b): &(&u8, &u8)| a == b;
        let at = event.iter().zip(record).take_while(alike).count();
        let (event, record) = (event.get(at..)?, record.get(at..)?);
        let behind = event.iter().rev().zip(record.iter().rev()).take_while(alike).count();
        let removed = event.len() - behind;
        let inserted = record.get(..record.len() - behind)?;
        Some(Self { at, removed, inserted })
    }

    fn is_empty(&self) -> bool {
        self.removed == 0 && self.inserted.is_empty()
    }

    fn range(&self, seq: u64, end: LineEnd) -> SourceSpan {
        if self.is_empty() {
            return SourceSpan::Inherited { session: 0, seq, count: 1, end };
        }
        SourceSpan::Patched {
            session: 0,
            seq,
            at: self.at as u64,
            removed: self.removed as u64,
            inserted: self.inserted.to_vec(),
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_is_the_bytes_between_what_is_alike() {
        let of = |event, record| Exchange::between(event, record);
        let found = |at, removed, inserted| Some(Exchange { at, removed, inserted });
        assert_eq!(of("{\"s\":\"abc\"}", "{\"s\":\"abc\"}"), found(11, 0, b"".as_slice()));
        assert_eq!(of("{\"s\":\"abc\"}", "{\"s\":\"xyz\"}"), found(6, 3, b"xyz".as_slice()));
        assert_eq!(of("aa", "aaa"), found(2, 0, b"a".as_slice()));
        assert_eq!(of("aaa", "aa"), found(2, 1, b"".as_slice()));
        assert_eq!(of("", "x"), found(0, 0, b"x".as_slice()));
    }
}
