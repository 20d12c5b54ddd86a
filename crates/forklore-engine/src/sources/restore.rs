//! `restore`: writes back, byte for byte, the file from which a session was imported.

use std::collections::VecDeque;
use std::io::Write;

use forklore_core::{Header, Redaction, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::port::{At, Direction, LogEntry, Query};
use forklore_store::sources::{FindSource, LineEnd, Source, SourceSpan, WaitingLine};
use sha2::{Digest, Sha256};

use super::json_layout::Spread;
use crate::{Engine, Error, Result};

const PAGE_EVENTS: u64 = 512;
/// Maximum number of events per read while a pretty-printed file is restored.
const PREFETCH_EVENTS: u64 = 64;

/// Describes an imported file that was written back, and how many bytes were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The first path at which an import found the file.
    pub path: String,
    /// Number of bytes written to the output.
    pub bytes: u64,
    /// The revision of the restored file: how many times the agent had rewritten the file before it
    /// had this content.
    pub revision: u64,
}

impl Engine {
    /// Writes to `out` the file from which the session was imported, as the last import found it.
    /// An unfinished last line is included.
    ///
    /// # Errors
    /// `not_found` if the session was not imported from a file, `conflict` if a session of that
    /// file was deleted or an event of it redacted, `corrupt` if the restored bytes differ from the imported bytes.
    pub fn restore(&self, session: &SessionId, out: &mut dyn Write) -> Result<Restored> {
        let header = self.store().header(session)?;
        let found = self.sources()?.sources(&FindSource::Session(header.id))?;
        let Some(source) = found.into_iter().next() else {
            return Err(Error::NoSource(session.clone()));
        };
        self.restore_source(source, out)
    }

    /// Writes to `out` the imported file that `source` describes, byte for byte.
    pub(crate) fn restore_source(
        &self,
        mut source: Source,
        out: &mut dyn Write,
    ) -> Result<Restored> {
        let headers = self.headers_of(&source)?;
        self.refuse_redacted(&source, &headers)?;
        let mut restoring = Restoring {
            engine: self,
            headers,
            out,
            hash: Sha256::new(),
            bytes: 0,
            living: None,
            prefetched: None,
            waiting: WaitingLine::default(),
        };
        let mut step = 0;
        while let Some(ranges) = self.sources()?.source_spans(source.id, step)? {
            if restoring.bytes >= source.read.offset {
                // An import goes on with the file meanwhile: these bytes are new.
                source = self.present_source(source)?;
                restoring.headers = self.headers_of(&source)?;
            }
            ranges.iter().try_for_each(|range| restoring.range(range))?;
            step += 1;
        }
        restoring.end(&source)?;
        Ok(Restored {
            path: source.paths.into_iter().next().map(|seen| seen.path).unwrap_or_default(),
            bytes: restoring.bytes,
            revision: source.revision,
        })
    }

    /// Returns what the store has recorded about a file by now.
    fn present_source(&self, source: Source) -> Result<Source> {
        let Some(seen) = source.paths.first() else { return Ok(source) };
        let found = self.sources()?.sources(&FindSource::Path(seen.path.clone()))?;
        Ok(found.into_iter().find(|found| found.id == source.id).unwrap_or(source))
    }

    /// Returns an error if an event that was read from the file was redacted.
    fn refuse_redacted(&self, source: &Source, headers: &[Header]) -> Result<()> {
        for (session, header) in source.sessions.iter().zip(headers) {
            if let Some(seq) = self.redacted_of_file(session, header)?.first() {
                let (at, direction) = (At::Seq(*seq), Direction::Forward);
                let query = Query { at, direction, limit: 1, bare: false };
                let events = self.store().read(&session.id, &query)?.events;
                events.iter().try_for_each(|entry| check_redacted(&session.id, entry))?;
            }
        }
        Ok(())
    }

    fn headers_of(&self, source: &Source) -> Result<Vec<Header>> {
        let headers = source.sessions.iter().map(|session| self.store().header(&session.id));
        let headers = headers.collect::<Result<Vec<_>, StoreError>>()?;
        let gone = headers.iter().filter(|header| header.deleted.is_some());
        let gone: Vec<_> = gone.map(|header| header.id.clone()).collect();
        if gone.is_empty() { Ok(headers) } else { Err(Error::SourceGone { sessions: gone }) }
    }
}

struct Restoring<'a> {
    engine: &'a Engine,
    headers: Vec<Header>,
    out: &'a mut dyn Write,
    hash: Sha256,
    bytes: u64,
    /// The session that was checked last and found not to be deleted, if any was checked. It comes
    /// from an earlier revision of the file.
    living: Option<SessionId>,
    /// Events of one session that were read in advance and are not written yet.
    prefetched: Option<(SessionId, VecDeque<LogEntry>)>,
    /// The file's unfinished last line, according to the spans so far.
    waiting: WaitingLine,
}

impl Restoring<'_> {
    fn range(&mut self, range: &SourceSpan) -> Result<()> {
        self.waiting.follow(range);
        match range {
            // Only after the last span is it known whether these bytes still wait.
            SourceSpan::Waiting { .. } => Ok(()),
            SourceSpan::Other(bytes) | SourceSpan::Raw { bytes, .. } => self.write(bytes),
            SourceSpan::Events { session, from, count, end } => {
                let header = self.header(*session)?;
                let (id, first) = (header.id.clone(), header.seq_of_own(*from));
                self.events(&id, first, *count, *end)
            }
            SourceSpan::Spread { session, position, margin, indent, end } => {
                let header = self.header(*session)?;
                let (id, seq) = (header.id.clone(), header.seq_of_own(*position));
                let event = self.spread_event(&id, seq)?.event;
                let spread = Spread { margin, indent, end: *end };
                self.write(&spread.apply(event.data.get().as_bytes()))
            }
            SourceSpan::Inherited { session, seq, count, end } => {
                let id = self.header(*session)?.id.clone();
                self.events(&id, *seq, *count, *end)
            }
            SourceSpan::Patched { session, seq, at, removed, inserted, end } => {
                let patch = (*at, *removed, inserted.as_slice());
                self.patched(*session, *seq, &[patch], *end)
            }
            SourceSpan::PatchedOften { session, seq, patches, end } => {
                let patches = patches.iter().map(|it| (it.at, it.removed, it.inserted.as_slice()));
                self.patched(*session, *seq, &patches.collect::<Vec<_>>(), *end)
            }
            SourceSpan::Shared { session, seq, count, end } => {
                self.must_live(session)?;
                self.events(session, *seq, *count, *end)
            }
            SourceSpan::SharedSpread { session, seq, margin, indent, end } => {
                self.must_live(session)?;
                let event = self.spread_event(session, *seq)?.event;
                let spread = Spread { margin, indent, end: *end };
                self.write(&spread.apply(event.data.get().as_bytes()))
            }
            SourceSpan::Gone(_) => Err(Error::SourceGone { sessions: Vec::new() }),
        }
    }

    /// Writes the payload of an inherited event with replacements.
    fn patched(
        &mut self,
        session: u32,
        seq: u64,
        patches: &[Replacement<'_>],
        end: LineEnd,
    ) -> Result<()> {
        let id = self.header(session)?.id.clone();
        let event = self.page(&id, seq, 1)?.pop();
        let event = event.ok_or_else(|| damaged(Some(&id), "no event"))?.event;
        let pieces = patched(event.data.get().as_bytes(), patches);
        let pieces = pieces.ok_or_else(|| damaged(Some(&id), "bytes of an event"))?;
        pieces.iter().try_for_each(|piece| self.write(piece))?;
        self.write(end.bytes())
    }

    /// Returns an error if `session` was deleted. `session` comes from an earlier revision of the
    /// file to restore, and the file shares events with it.
    fn must_live(&mut self, session: &SessionId) -> Result<()> {
        if self.living.as_ref() == Some(session) {
            return Ok(());
        }
        if self.engine.store().header(session)?.deleted.is_some() {
            return Err(Error::SourceGone { sessions: vec![session.clone()] });
        }
        self.living = Some(session.clone());
        Ok(())
    }

    fn header(&self, session: u32) -> Result<&Header> {
        let header = usize::try_from(session).ok().and_then(|at| self.headers.get(at));
        header.ok_or_else(|| damaged(None, "an unknown session"))
    }

    fn events(&mut self, id: &SessionId, first: u64, count: u64, end: LineEnd) -> Result<()> {
        let mut done = 0;
        while done < count {
            for stored in self.page(id, first + done, count - done)? {
                self.write(stored.event.data.get().as_bytes())?;
                self.write(end.bytes())?;
                done += 1;
            }
        }
        Ok(())
    }

    /// Returns the event at `seq`. Also reads several following events in advance, because the next
    /// call usually needs the next event.
    fn spread_event(&mut self, id: &SessionId, seq: u64) -> Result<LogEntry> {
        let next = self.prefetched.take().filter(|(of, _)| of == id);
        let mut prefetched = next.map(|(_, read_next)| read_next).unwrap_or_default();
        if prefetched.front().is_none_or(|next| next.seq != seq) {
            prefetched = self.page(id, seq, PREFETCH_EVENTS)?.into();
        }
        let event = prefetched.pop_front().ok_or_else(|| damaged(Some(id), "no event"))?;
        self.prefetched = Some((id.clone(), prefetched));
        Ok(event)
    }

    /// Reads up to `most` events of a session, starting at `seq`. Returns an error if there is no
    /// event.
    fn page(&self, id: &SessionId, seq: u64, most: u64) -> Result<Vec<LogEntry>> {
        let limit = usize::try_from(most.min(PAGE_EVENTS)).unwrap_or(1);
        let query = Query { at: At::Seq(seq), direction: Direction::Forward, limit, bare: false };
        let events = self.engine.store().read(id, &query)?.events;
        if events.is_empty() {
            return Err(damaged(Some(id), "events that are not there"));
        }
        // The file may share events with a session of an earlier revision.
        events.iter().try_for_each(|entry| check_redacted(id, entry))?;
        Ok(events)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|error| Error::io("cannot write the file", error))
    }

    /// Checks the bytes that were read as records. Then writes the unfinished last line, and checks
    /// the whole file.
    fn end(&mut self, source: &Source) -> Result<()> {
        if self.bytes != source.read.offset {
            return Err(damaged(None, "other bytes than were read"));
        }
        self.check(&source.read.sha256)?;
        let waiting = std::mem::take(&mut self.waiting);
        let Some(sha256) = waiting.sha256() else { return Ok(()) };
        self.write(waiting.bytes())?;
        self.check(sha256)
    }

    fn check(&self, sha256: &[u8; 32]) -> Result<()> {
        let same = <[u8; 32]>::from(self.hash.clone().finalize()) == *sha256;
        if same { Ok(()) } else { Err(damaged(None, "other bytes than were read")) }
    }
}

/// Returns an error if an event was redacted.
fn check_redacted(session: &SessionId, entry: &LogEntry) -> Result<()> {
    let Some(redaction) = Redaction::of(&entry.event.data) else { return Ok(()) };
    let (session, seq, reason) = (session.clone(), entry.seq, redaction.reason);
    Err(Error::SourceRedacted { session, seq, reason })
}

/// A replacement in a payload: its offset, the number of replaced bytes, and the bytes in their
/// place.
type Replacement<'b> = (u64, u64, &'b [u8]);

/// Applies `patches` to `payload` and returns the result as consecutive pieces. The patches must be
/// in the order of the payload. Returns `None` if the bytes to replace are not all within
/// `payload`, or overlap.
fn patched<'b>(payload: &'b [u8], patches: &[Replacement<'b>]) -> Option<Vec<&'b [u8]>> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    for (at, removed, inserted) in patches {
        let at = usize::try_from(*at).ok()?;
        pieces.extend([payload.get(from..at)?, inserted]);
        from = at.checked_add(usize::try_from(*removed).ok()?)?;
    }
    pieces.push(payload.get(from..)?);
    Some(pieces)
}

fn damaged(session: Option<&SessionId>, what: &str) -> Error {
    let error = StoreError::Corrupt {
        session: session.cloned(),
        seq: None,
        location: "the list of the file's ranges".into(),
        message: format!("it names {what}"),
    };
    error.into()
}
