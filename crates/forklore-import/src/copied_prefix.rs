//! Files that begin with a copy of another file's records, as some agents make them to fork: their
//! session becomes a fork that shares what was copied (docs/semantics.md, Words and Sources).
//!
//! Before the file has a session, each record is compared with the next event of the session from
//! which it may be copied. The file's session begins at the first record that differs.

use bytestring::ByteString;
use forklore_core::agent_format::{AgentFormat, Record};
use forklore_core::{Data, Event, Header};
use forklore_engine::Result;
use forklore_store::sources::{FindSource, LineEnd, RecordKey, RecordLocation, Source, SourceId};

use crate::agent_file::AgentFile;
use crate::batch::Batch;
use crate::copy_links::recorded_copies;
use crate::copy_progress::CopyProgress;
use crate::lookup::Lookup;
use crate::original_events::OriginalEvents;
use crate::output::Output;
use crate::record_keys::{key_of, native_key, record_key};
use crate::record_patch::{DIFFERENCE, NAMELESS, RecordPatch};

/// A record, and how the file contains it.
#[derive(Clone, Copy)]
pub(crate) struct RecordLine<'r> {
    pub(crate) record: &'r Record,
    pub(crate) text: &'r ByteString,
    pub(crate) end: LineEnd,
}

/// A file compared with the session from which its beginning may be copied.
pub(crate) struct CopiedPrefix {
    /// How far the file repeats that session, once it was found.
    progress: Option<CopyProgress>,
    /// The events that the records read so far repeat.
    original: Option<OriginalEvents>,
}

impl CopiedPrefix {
    pub(crate) fn new(progress: Option<CopyProgress>) -> Self {
        Self { progress, original: None }
    }

    pub(crate) fn progress(&self) -> Option<&CopyProgress> {
        self.progress.as_ref()
    }

    /// Ends the comparison, and returns how far the file repeats the session, if it repeats
    /// anything.
    pub(crate) fn end(&mut self) -> Option<CopyProgress> {
        self.original = None;
        self.progress.take().filter(|progress| progress.copied() > 0)
    }

    /// Checks whether a record repeats the next event of another file's session. Its bytes are then
    /// accounted for, and it needs no event of its own.
    pub(crate) fn repeats(
        &mut self,
        lookup: Lookup<'_>,
        file: &AgentFile<'_>,
        output: &mut Output<'_>,
        line: RecordLine<'_>,
    ) -> Result<bool> {
        let record = line.record;
        if record.sidechain {
            return Ok(false);
        }
        let repeated = if lookup.format.renames_copies() {
            // The record's id is new in the copy, so it does not identify the original.
            let nameless = Record { native_id: None, ..record.clone() };
            self.compare(lookup, file, output, RecordLine { record: &nameless, ..line })?
        } else {
            self.compare(lookup, file, output, line)?
        };
        if repeated && let Some(progress) = &mut self.progress {
            let location = progress.follow(record);
            output.remember(key_of(record), location);
        }
        Ok(repeated)
    }

    /// Checks whether a record, as the original may have it, repeats an event.
    fn compare(
        &mut self,
        lookup: Lookup<'_>,
        file: &AgentFile<'_>,
        output: &mut Output<'_>,
        line: RecordLine<'_>,
    ) -> Result<bool> {
        let RecordLine { record, text, end } = line;
        if self.progress.is_none() {
            self.progress = find_original(lookup, file, output, record)?;
        }
        let Some(progress) = &mut self.progress else { return Ok(false) };
        let mut original = match self.original.take() {
            Some(original) => original,
            None => {
                let sources = originals(lookup, file, output.source(), progress.name())?;
                let session = progress.session().clone();
                OriginalEvents::open(lookup, sources, session, progress.copied())?
            }
        };
        let repeated = if record.class.is_inherited() {
            same_event(lookup, progress, &mut original, output.batch(), line)?
        } else {
            // A record that is not inherited becomes no event of the fork: its bytes are stored
            // with the source.
            let found = match native_key(record) {
                Some(key) => original.contains(lookup, key)?,
                None => original.passed(record, text, most(lookup.format, record)),
            };
            if found {
                output.batch().retain_line(text.as_bytes(), end);
            }
            found
        };
        if repeated {
            self.original = Some(original);
        }
        Ok(repeated)
    }
}

/// Accepts a record that repeats the next event of the original, or of a branch of it that begins
/// here.
fn same_event(
    lookup: Lookup<'_>,
    progress: &mut CopyProgress,
    original: &mut OriginalEvents,
    batch: &mut Batch,
    line: RecordLine<'_>,
) -> Result<bool> {
    let RecordLine { record, text, end } = line;
    if let Some(key) = native_key(record)
        && !original.is_next(record)
    {
        let Some(branch) = original.branch(lookup, key, progress.copied())? else {
            return Ok(false);
        };
        *original = branch;
    }
    if !original.is_next(record) {
        return Ok(false);
    }
    let Some(next) = original.next() else { return Ok(false) };
    let most = most(lookup.format, record);
    let Some(exchange) = RecordPatch::of(next.event.data.get(), text, most) else {
        return Ok(false);
    };
    if !exchange.is_empty() && !says_the_same(lookup.format, &next.event, text) {
        return Ok(false);
    }
    let copied = next.counts.inheritable;
    progress.repeat(original.session(), next.seq, copied);
    batch.repeated(exchange.range(copied, end));
    original.advance()?;
    Ok(true)
}

/// Finds a file that begins with the same record, or that the file names as its original.
fn find_original(
    lookup: Lookup<'_>,
    file: &AgentFile<'_>,
    output: &mut Output<'_>,
    record: &Record,
) -> Result<Option<CopyProgress>> {
    let native = record.native_id.as_deref();
    let name = native.map(|native| first_record_name(lookup.format, native));
    if let Some(name) = name {
        output.batch().name(name);
    }
    for source in originals(lookup, file, output.source(), name)? {
        let location = match native_key(record) {
            Some(key) => lookup.sources.locate_record(source.id, key)?,
            None => Some(RecordLocation::own(0, 0)),
        };
        let Some(location) = location else { continue };
        if let Some(Header { id, .. }) = lookup.session_at(&source, location)? {
            return Ok(Some(CopyProgress::of(name, id)));
        }
    }
    Ok(None)
}

/// Returns the files that this one may repeat, oldest first. `own` is the source of this file, and
/// `name` the key under which files that begin with its first record are found.
fn originals(
    lookup: Lookup<'_>,
    file: &AgentFile<'_>,
    own: Option<SourceId>,
    name: Option<RecordKey>,
) -> Result<Vec<Source>> {
    let mut sources = match name {
        Some(name) => lookup.sources.sources(&FindSource::Name(name))?,
        None => Vec::new(),
    };
    if let Some(original) = &file.facts().copied_from {
        sources.extend(lookup.sources.sources(&FindSource::Path(original.clone()))?);
        sources.extend(lookup.sources_of(original)?);
    }
    let copies = recorded_copies(lookup, file, own)?;
    let is_own = |source: &Source| source.paths.iter().any(|seen| seen.path == file.path());
    sources.retain(|source| {
        Some(source.id) != own
            && source.dialect == lookup.format.name()
            && !copies.iter().any(|copy| copy.id == source.id)
            && !is_own(source)
    });
    sources.sort_by_key(|source| source.id);
    sources.dedup_by_key(|source| source.id);
    Ok(sources)
}

/// Returns the maximum number of bytes in which the record may differ from the event that it
/// repeats.
fn most(format: &dyn AgentFormat, record: &Record) -> usize {
    let named = record.native_id.is_some() || format.renames_copies();
    if named { DIFFERENCE } else { NAMELESS }
}

/// Checks whether a record differs from the event only in what is not part of the conversation.
fn says_the_same(format: &dyn AgentFormat, event: &Event, text: &ByteString) -> bool {
    let record = Data::from_checked(text.clone());
    format.says_the_same(&event.kind, &record, &event.data)
}

/// Returns the key under which files that begin with this record are found.
fn first_record_name(format: &dyn AgentFormat, native: &str) -> RecordKey {
    record_key(format!("{}\0first record\0{native}", format.name()).as_bytes())
}
