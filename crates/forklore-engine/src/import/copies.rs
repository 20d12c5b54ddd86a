//! Files that begin with a copy of another file's records, as agents make them to fork: their
//! session is a fork that shares what was copied (SPEC 1, 11).
//!
//! While no session of the file is begun, each record is compared with the next event of the
//! session it may be copied from. The first that differs begins the file's session, there.

use bytestring::ByteString;
use forklore_model::dialect::Record;
use forklore_model::{Cut, Header, SessionId, SessionKind};
use forklore_store::port::{At, Stored};
use forklore_store::sources::{FindSource, LineEnd, Place, Range, RecordKey, Source, SourceId};
use serde::{Deserialize, Serialize};

use super::begin::Behind;
use super::opened::record_key;
use super::reading::Reading;
use super::session::FileSession;
use crate::Result;
use crate::events::Events;

/// The most bytes in which a copied record differs from its original: ids and times.
const DIFFERENCE: usize = 512;

/// How far a file repeats the records of another one; kept with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Copying {
    /// The name of the first record, by which both files go.
    name: RecordKey,
    /// The session that holds the last event repeated.
    session: SessionId,
    /// How many inheritable events were repeated.
    kept: u64,
    /// The seq of the last of them there.
    seq: u64,
    /// Whether the agent would resume at one of them.
    leaf: bool,
}

/// The events that the next records may repeat.
pub(super) struct Original {
    /// Files that begin with the same record, the oldest first.
    sources: Vec<Source>,
    session: SessionId,
    events: Events,
    /// The next inheritable event.
    next: Option<Stored>,
}

impl Reading<'_> {
    /// Whether a record repeats the next event of another file's session; it is then accounted
    /// for and needs no event of its own.
    pub(super) fn repeats(
        &mut self,
        record: &Record,
        text: &ByteString,
        end: LineEnd,
    ) -> Result<bool> {
        let Some(native) = record.native_id.as_deref().filter(|_| !record.sidechain) else {
            return Ok(false);
        };
        if self.state.copying.is_none() && self.state.first.is_none() {
            let name = self.first_record_name(native);
            self.state.first = Some(name);
            self.batch.names.push(name);
            self.find_original(name, native)?;
        }
        if self.state.copying.is_some() && self.original.is_none() {
            self.open_original()?;
        }
        let Some(mut original) = self.original.take() else { return Ok(false) };
        let key = record_key(native.as_bytes());
        let repeated = if record.class.is_inherited() {
            self.same_event(&mut original, native, key, text, end)?
        } else {
            // What nobody inherits is no event of the fork: its bytes stay with the file.
            self.is_in(&original, key)?.then(|| self.batch.keep_line(text.as_bytes(), end))
        };
        if repeated.is_some() {
            self.original = Some(original);
            self.follow(record, key);
        }
        Ok(repeated.is_some())
    }

    /// Goes on behind a repeated record.
    fn follow(&mut self, record: &Record, key: RecordKey) {
        self.state.last_ts = record.ts.or(self.state.last_ts);
        let Some(copying) = &mut self.state.copying else { return };
        copying.leaf |= record.leaf;
        let place = Place { session: 0, position: copying.kept, inherited: true };
        self.tip = Some((key, place));
        self.batch.found(key, place);
    }

    /// What files go by that begin with this record.
    fn first_record_name(&self, native: &str) -> RecordKey {
        record_key(format!("{}\0first record\0{native}", self.dialect.name()).as_bytes())
    }

    /// Looks for a file that begins with the same record.
    fn find_original(&mut self, name: RecordKey, native: &str) -> Result<()> {
        let key = record_key(native.as_bytes());
        for source in self.originals(name)? {
            let Some(place) = self.sources.place(source.id, key)? else { continue };
            let Some(session) = self.session_at(&source, place)? else { continue };
            let session = session.id;
            self.state.copying = Some(Copying { name, session, kept: 0, seq: 0, leaf: false });
            return Ok(());
        }
        Ok(())
    }

    fn originals(&self, name: RecordKey) -> Result<Vec<Source>> {
        let mut sources = self.sources.sources(&FindSource::Name(name))?;
        let copies: Vec<SourceId> = self.known_copies()?.iter().map(|copy| copy.id).collect();
        sources.retain(|source| {
            Some(source.id) != self.source && !copies.contains(&source.id) && !self.is_own(source)
        });
        sources.reverse();
        Ok(sources)
    }

    /// Whether it is an earlier revision of the file.
    fn is_own(&self, source: &Source) -> bool {
        source.paths.iter().any(|seen| seen.path == self.seen.path)
    }

    fn session_at(&self, source: &Source, place: Place) -> Result<Option<Header>> {
        let session = usize::try_from(place.session).ok().and_then(|at| source.sessions.get(at));
        let Some(session) = session else { return Ok(None) };
        let header = self.engine.store().header(&session.id)?;
        Ok(Some(header).filter(|header| header.deleted.is_none()))
    }

    fn open_original(&mut self) -> Result<()> {
        let Some(copying) = self.state.copying.clone() else { return Ok(()) };
        let sources = self.originals(copying.name)?;
        let original = self.original_behind(sources, copying.session, copying.kept);
        self.original = Some(original?);
        Ok(())
    }

    fn original_behind(
        &self,
        sources: Vec<Source>,
        session: SessionId,
        kept: u64,
    ) -> Result<Original> {
        let events = self.engine.events(&session, At::Kept(kept + 1));
        let mut original = Original { sources, session, events, next: None };
        original.advance()?;
        Ok(original)
    }

    /// Takes a record as the next event of the original, or of a branch of it that begins here.
    fn same_event(
        &mut self,
        original: &mut Original,
        native: &str,
        key: RecordKey,
        text: &ByteString,
        end: LineEnd,
    ) -> Result<Option<()>> {
        if original.next.as_ref().is_none_or(|next| next.event.id.as_str() != native) {
            let Some(branch) = self.branch(original, key)? else { return Ok(None) };
            *original = branch;
        }
        let Some(next) = original.next.take_if(|next| next.event.id.as_str() == native) else {
            return Ok(None);
        };
        let Some(exchange) = Exchange::between(next.event.data.get(), text) else {
            original.next = Some(next);
            return Ok(None);
        };
        if let Some(copying) = &mut self.state.copying {
            copying.session.clone_from(&original.session);
            copying.seq = next.seq;
            copying.kept = next.counts.kept;
        }
        self.batch.repeated(exchange.range(next.counts.kept, end));
        original.advance()?;
        Ok(Some(()))
    }

    fn is_in(&self, original: &Original, key: RecordKey) -> Result<bool> {
        for source in &original.sources {
            if self.sources.place(source.id, key)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The branch that goes on with this record where the last one repeated ends.
    fn branch(&self, original: &Original, key: RecordKey) -> Result<Option<Original>> {
        let kept = self.state.copying.as_ref().map_or(0, |copying| copying.kept);
        for source in &original.sources {
            let Some(place) = self.sources.place(source.id, key)? else { continue };
            let Some(header) = self.session_at(source, place)? else { continue };
            let begins_here = header.parent_id.as_ref() == Some(&original.session)
                && header.inherited.kept == kept
                && header.kind == SessionKind::Branch;
            if begins_here && !place.inherited {
                let sources = original.sources.clone();
                return self.original_behind(sources, header.id, kept).map(Some);
            }
        }
        Ok(None)
    }

    /// Where the file's session begins in another one, if what was read so far was repeated.
    pub(super) fn copied_beginning(&mut self) -> Result<Option<(Header, Cut)>> {
        self.original = None;
        let Some(copying) = self.state.copying.take().filter(|copying| copying.kept > 0) else {
            return Ok(None);
        };
        if copying.leaf {
            self.state.leaf = Some(0);
        }
        let parent = self.engine.store().header(&copying.session)?;
        let cut = self.cut(&parent, Behind::Inherited(copying.seq))?;
        Ok(Some((parent, cut)))
    }

    /// Begins the session of a file that holds nothing but a copy.
    pub(super) fn begin_copy(&mut self) -> Result<()> {
        if self.sessions.is_empty() && self.state.copying.is_some() {
            self.begin_first(None)?;
        }
        Ok(())
    }
}

impl Original {
    /// Goes on to the next inheritable event.
    fn advance(&mut self) -> Result<()> {
        self.next = None;
        for stored in self.events.by_ref() {
            let stored = stored?;
            if stored.event.class.is_inherited() {
                self.next = Some(stored);
                break;
            }
        }
        Ok(())
    }
}

impl FileSession {
    /// Whether nothing stands behind the place.
    pub(super) fn ends_at(&self, place: Place) -> bool {
        match place.inherited {
            false => self.tip() == Some(place.position),
            // Behind what it inherits stands the event that says so, at the position 0.
            true => {
                self.inherited == place.position && self.events == u64::from(self.inherited > 0)
            }
        }
    }
}

/// How a copied record differs from the event it repeats: some bytes instead of others.
#[derive(Debug, PartialEq)]
struct Exchange<'t> {
    at: usize,
    removed: usize,
    inserted: &'t [u8],
}

impl<'t> Exchange<'t> {
    /// None where they differ in more than a few bytes.
    fn between(event: &str, record: &'t str) -> Option<Self> {
        let (event, record) = (event.as_bytes(), record.as_bytes());
        let alike = |(a, b): &(&u8, &u8)| a == b;
        let at = event.iter().zip(record).take_while(alike).count();
        let (event, record) = (event.get(at..)?, record.get(at..)?);
        let behind = event.iter().rev().zip(record.iter().rev()).take_while(alike).count();
        let removed = event.len() - behind;
        let inserted = record.get(..record.len() - behind)?;
        (removed.max(inserted.len()) <= DIFFERENCE).then_some(Self { at, removed, inserted })
    }

    fn range(&self, seq: u64, end: LineEnd) -> Range {
        if self.removed == 0 && self.inserted.is_empty() {
            return Range::Inherited { session: 0, seq, count: 1, end };
        }
        Range::Patched {
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
        assert_eq!(of("", &"x".repeat(DIFFERENCE + 1)), None);
    }
}
