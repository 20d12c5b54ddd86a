//! Files that begin with a copy of another file's records. Some agents write such files to fork a
//! session. The file's session becomes a branch that inherits the copied records from the original
//! session (docs/semantics.md, Words and Sources).
//!
//! Each record is compared with the next event of the session that may be the original. The file's
//! session begins at the first record that differs.

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
use crate::record_patch::{DIFFERENCE, Limit, NAMELESS, RecordPatch};

/// Maximum number of imported files that are recorded under the same first record. When an import
/// searches for the original of a copy, it reads the files that are recorded under the copy's first
/// record. Without this limit, the import of very many such files would read all of them for each
/// file.
const ORIGINALS: usize = 16;

/// A record of a session file, with the text and the line terminator that it has in the file.
#[derive(Clone, Copy)]
pub(crate) struct RecordLine<'r> {
    pub(crate) record: &'r Record,
    pub(crate) text: &'r ByteString,
    pub(crate) end: LineEnd,
}

/// Compares the first records of a session file with another session, from which the agent may have
/// copied them.
pub(crate) struct CopiedPrefix {
    /// How far this file repeats the original: the session whose records the agent may have copied
    /// into it. `None` until the original is found.
    progress: Option<CopyProgress>,
    /// The events of the original session that the next records of the copied file may repeat;
    /// `None` until they are opened.
    original: Option<OriginalEvents>,
    /// The last record that repeated an event.
    last: Option<RecordKey>,
}

impl CopiedPrefix {
    pub(crate) fn new(progress: Option<CopyProgress>) -> Self {
        Self { progress, original: None, last: None }
    }

    pub(crate) fn progress(&self) -> Option<&CopyProgress> {
        self.progress.as_ref()
    }

    /// Returns the last record of the file that repeated an event.
    pub(crate) fn last(&self) -> Option<RecordKey> {
        self.last
    }

    /// Ends the comparison of the file with its original session. Returns how far the file repeats
    /// that session, or `None` if it repeats no event.
    pub(crate) fn end(&mut self) -> Option<CopyProgress> {
        self.original = None;
        self.progress.take().filter(|progress| progress.copied() > 0)
    }

    /// Checks whether a record repeats the next event of the session from which the file may be
    /// copied. Such a record becomes no event of its own. Instead, `output` stores how to restore
    /// it.
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
            // The agent gave the copied record a new id, so this id does not identify the original.
            let nameless = Record { native_id: None, ..record.clone() };
            self.compare(lookup, file, output, RecordLine { record: &nameless, ..line })?
        } else {
            self.compare(lookup, file, output, line)?
        };
        if repeated && let Some(progress) = &mut self.progress {
            let location = progress.follow(record);
            output.remember(key_of(record), location);
            self.last = key_of(record).or(self.last);
        }
        Ok(repeated)
    }

    /// Checks whether a record repeats an event of the session from which the file may be copied.
    /// If the agent gives copied records new ids, the caller must remove the record's id first.
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
                let mut sources = originals(lookup, file, output.source(), progress.name())?;
                let session = progress.session().clone();
                let of_session = lookup.sources.sources(&FindSource::Session(session.clone()))?;
                for source in of_session {
                    if !sources.iter().any(|it| it.id == source.id) {
                        sources.push(source);
                    }
                }
                OriginalEvents::open(lookup, sources, session, progress.copied())?
            }
        };
        let repeated = if record.class.is_inherited() {
            same_event(lookup, progress, &mut original, output.batch(), line)?
        } else {
            // A copied record of a class that forks do not inherit becomes no event of the branch.
            // Its bytes are stored with the source.
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

/// Checks whether a record repeats the next event of the original session, or the first event of a
/// branch that begins before that event. If it does, advances `original` to the event after the
/// repeated one.
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

/// Finds the session from which the file may be copied. Searches the imported files with the same
/// first record, and the file that this file names as its original. Returns `None` if no such
/// session is found.
fn find_original(
    lookup: Lookup<'_>,
    file: &AgentFile<'_>,
    output: &mut Output<'_>,
    record: &Record,
) -> Result<Option<CopyProgress>> {
    let native = record.native_id.as_deref();
    let name = native.map(|native| first_record_name(lookup.format, native));
    if let Some(name) = name
        && lookup.sources.sources(&FindSource::Name(name))?.len() < ORIGINALS
    {
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

/// Returns the imported files from which this file may be copied: first those that this file names
/// as its original, then those with the same first record, whose key is `name`. Both groups are in
/// the order of import. Leaves out files of other agents, copies of this file, and this file
/// itself, whose id in the store is `own`.
fn originals(
    lookup: Lookup<'_>,
    file: &AgentFile<'_>,
    own: Option<SourceId>,
    name: Option<RecordKey>,
) -> Result<Vec<Source>> {
    let mut named = Vec::new();
    if let Some(original) = &file.facts().copied_from {
        named = lookup.sources.sources(&FindSource::Path(original.clone()))?;
        named.extend(lookup.sources_of(original)?);
    }
    let mut alike = match name {
        Some(name) => lookup.sources.sources(&FindSource::Name(name))?,
        None => Vec::new(),
    };
    named.sort_by_key(|source| source.id);
    named.dedup_by_key(|source| source.id);
    alike.retain(|source| named.iter().all(|named| named.id != source.id));
    alike.sort_by_key(|source| source.id);
    alike.dedup_by_key(|source| source.id);
    let copies = recorded_copies(lookup, file, own)?;
    let is_own = |source: &Source| source.paths.iter().any(|seen| seen.path == file.path());
    let mut sources = [named, alike].concat();
    sources.retain(|source| {
        Some(source.id) != own
            && source.dialect == lookup.format.name()
            && !copies.iter().any(|copy| copy.id == source.id)
            && !is_own(source)
    });
    Ok(sources)
}

/// Returns how much a copied record may differ from its original event. A record without an id may
/// differ less, unless the agent gives all copies new ids.
fn most(format: &dyn AgentFormat, record: &Record) -> Limit {
    let named = record.native_id.is_some() || format.renames_copies();
    if named { DIFFERENCE } else { NAMELESS }
}

/// Checks whether a record and an event have the same conversation content, as the agent's format
/// compares them.
fn says_the_same(format: &dyn AgentFormat, event: &Event, text: &ByteString) -> bool {
    let record = Data::from_checked(text.clone());
    format.says_the_same(&event.kind, &record, &event.data)
}

/// Returns the key under which the store finds a copied file. `key` is the key of the first record
/// that the file does not share with its original.
pub(crate) fn branch_name(format: &dyn AgentFormat, key: RecordKey) -> RecordKey {
    record_key(format!("{}\0copy goes on with\0{key:x}", format.name()).as_bytes())
}

/// Returns the key under which the store finds imported files that begin with the same record.
/// `native` is that record's id.
fn first_record_name(format: &dyn AgentFormat, native: &str) -> RecordKey {
    record_key(format!("{}\0first record\0{native}", format.name()).as_bytes())
}
