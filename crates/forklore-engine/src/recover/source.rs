//! Recovers imported files: copies each file whose bytes can all still be restored.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use forklore_api::{LostKind, Recovery};
use forklore_core::{ErrorKind, SessionId, Usage};
use forklore_store::port::{Append, NewSession, Write};
use forklore_store::sources::{
    FindSource, Progress, RecordKey, RecordLocation, SeenFile, Source, SourceId, SourceSpan,
    SourceStep, Target, sidecar_key,
};
use forklore_store::{Error as StoreError, Store};
use sha2::{Digest, Sha256};

use super::family::Family;
use super::read::{Slot, is_damage, own_seqs, slots};
use super::report::Losing;
use crate::sources::is_erased;
use crate::{Engine, Error, Result};

/// The imported files that can be copied to the new store, and which file each session comes from.
#[derive(Default)]
pub(crate) struct FileSources {
    pub(crate) files: Vec<File>,
    of: HashMap<SessionId, usize>,
}

/// An imported file that is copied to another store.
pub(crate) struct File {
    pub(crate) source: Source,
    /// The number of byte ranges that the other store has already.
    pub(crate) spans_there: usize,
    pub(crate) locations: Vec<(RecordKey, RecordLocation)>,
    /// The id that the imported file has in the new store. `None` until the first session of the
    /// file exists there.
    pub(crate) made: Option<SourceId>,
    /// How far the new store has read the file. It stays so until all byte ranges are written in one
    /// step, so that of two writers only one can complete the file.
    pub(crate) there: Progress,
    /// The path of the session file to which this sidecar belongs. `None` if this file is not a
    /// sidecar (a file that an agent stores with a session file).
    pub(crate) sidecar_of: Option<String>,
    /// How many events of each session of the imported file were already written to the new store.
    pub(crate) written: HashMap<SessionId, u64>,
    /// Whether others may copy the same file to the new store now. Then this copy begins only if the
    /// file is not there, and is refused as `Stale` otherwise: two copies would share the sessions.
    pub(crate) has_rivals: bool,
}

/// What one import step writes of a file.
#[derive(Default)]
struct Part {
    writes: Vec<Write>,
    ranges: Vec<SourceSpan>,
    locations: Vec<(RecordKey, RecordLocation)>,
    /// The path of the file. `None` means the first one.
    seen: Option<SeenFile>,
    /// How far the file is read after the step. `None` means as far as before.
    read: Option<Progress>,
}

impl FileSources {
    /// Collects the imported files whose bytes can all be read. Adds the other files to the report
    /// as lost.
    pub(super) fn of(
        from: &Engine,
        into: &Engine,
        family: &Family,
        report: &mut Recovery,
    ) -> Result<Self> {
        let mut found = Self::default();
        let (Ok(sources), Ok(_)) = (from.sources(), into.sources()) else {
            return Ok(found);
        };
        let mut by_path = BTreeMap::new();
        for id in family.ids() {
            match sources.sources(&FindSource::Session(id.clone())) {
                Ok(of) => by_path.extend(of.into_iter().map(|source| (source.id, source))),
                Err(error) if is_damage(&error) => {
                    report.lose(LostKind::Source, Some(&id), None, &error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        for source in by_path.into_values() {
            let first = source.sessions.first().map(|session| session.id.clone());
            match File::of(from, sources, family, source) {
                Ok(file) => found.add(file),
                Err(error) if is_no_reason_to_stop(error.kind()) => {
                    report.lose(LostKind::Source, first.as_ref(), None, &error);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    pub(crate) fn add(&mut self, file: File) {
        let at = self.files.len();
        self.of.extend(file.source.sessions.iter().map(|session| (session.id.clone(), at)));
        self.files.push(file);
    }

    /// Checks whether the session comes from one of the collected files.
    pub(crate) fn has(&self, id: &SessionId) -> bool {
        self.of.contains_key(id)
    }

    /// Returns the session that precedes the session `id` in the same imported file. Returns `None`
    /// if `id` is the file's first session or comes from no collected file.
    pub(crate) fn before(&self, id: &SessionId) -> Option<SessionId> {
        let sessions = &self.files.get(*self.of.get(id)?)?.source.sessions;
        let at = sessions.iter().position(|session| session.id == *id)?;
        Some(sessions.get(at.checked_sub(1)?)?.id.clone())
    }

    /// Creates a session in the new store together with the file that it was imported from. Returns
    /// `None` and creates nothing if the session does not come from one of the collected files.
    pub(crate) fn create(&mut self, into: &Engine, new: &NewSession) -> Option<Result<()>> {
        let file = self.files.get_mut(*self.of.get(&new.id)?)?;
        let write = Write::Create(Box::new(new.clone()));
        let done = file.step(into, Part { writes: vec![write], ..Part::default() });
        if done.is_ok() {
            file.written.insert(new.id.clone(), new.events.len() as u64);
        }
        Some(done)
    }

    /// Appends the first events of `append` to the new store: those that came from the session's
    /// imported file. Returns an append of the remaining events, which were written after the
    /// import. Returns `None` if no event remains.
    pub(crate) fn append(
        &mut self,
        into: &Engine,
        id: &SessionId,
        mut append: Append,
    ) -> Result<Option<Append>> {
        let Some(file) = self.of.get(id).and_then(|at| self.files.get_mut(*at)) else {
            return Ok(Some(append));
        };
        let recorded = file.source.sessions.iter().find(|session| session.id == *id);
        let written = file.written.entry(id.clone()).or_default();
        let left = recorded.map_or(0, |session| session.events.saturating_sub(*written));
        let cut = append.events.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let rest = append.events.split_off(cut);
        let expect = append.expect.and_then(|head| head.checked_add(i64::try_from(cut).ok()?));
        let (events, owner, usage, now) = (rest, append.owner.clone(), append.usage, append.now);
        let later = Append { events, expect, owner, usage, now };
        if !later.events.is_empty() {
            append.usage = Usage::default();
        }
        if !append.events.is_empty() {
            *written += append.events.len() as u64;
            let write = Write::Append { session: id.clone(), append };
            file.step(into, Part { writes: vec![write], ..Part::default() })?;
        }
        Ok((!later.events.is_empty()).then_some(later))
    }

    /// Writes the byte ranges, the locations of the records and the paths of the imported files to
    /// the new store. All sessions must exist there already.
    pub(super) fn finish(
        &mut self,
        from: &Engine,
        into: &Engine,
        report: &mut Recovery,
    ) -> Result<()> {
        for file in &mut self.files {
            file.finish(from, into)?;
            let Some(first) = file.source.sessions.first() else { continue };
            // If the old store could restore the file, the new store must be able to restore it
            // too, even if some of its sessions were deleted.
            let was = from.restore(&first.id, &mut io::sink());
            let is = into.restore(&first.id, &mut io::sink());
            match (was, is) {
                (Ok(_), Err(error)) => {
                    report.lose(LostKind::Source, Some(&first.id), None, &error);
                }
                _ => report.sources += 1,
            }
        }
        self.finish_sidecar(from, into, report)
    }

    /// Copies the sidecar files of the copied session files. A sidecar contains no sessions.
    fn finish_sidecar(&self, from: &Engine, into: &Engine, report: &mut Recovery) -> Result<()> {
        let mut done = HashSet::new();
        for file in self.files.iter().filter(|file| file.made.is_some()) {
            let session = file.source.sessions.first().map(|first| &first.id);
            let mut lose = |error: Error| match error {
                error if is_no_reason_to_stop(error.kind()) => {
                    report.lose(LostKind::Source, session, None, &error);
                    Ok(())
                }
                error => Err(error),
            };
            let sidecar = match from.sidecars_of(&file.source) {
                Ok(companion) => companion,
                Err(error) => {
                    lose(error)?;
                    continue;
                }
            };
            let mut saved = 0;
            // Copy earlier revisions first.
            for source in sidecar.into_iter().rev().filter(|source| done.insert(source.id)) {
                match File::save_sidecar(from, into, &file.source, source) {
                    Ok(whole) => saved += u64::from(whole),
                    Err(error) => lose(error)?,
                }
            }
            report.sources += saved;
        }
        Ok(())
    }
}

impl File {
    /// Reads everything that is stored about an imported file: its byte ranges, the locations of
    /// its records and the events of its sessions.
    ///
    /// # Errors
    /// Returns an error at the first damage.
    fn of(from: &Engine, sources: &dyn Store, family: &Family, source: Source) -> Result<Self> {
        spans(from, source.id)?;
        let Some(locations) = sources.record_locations(source.id)? else {
            let message = "the store does not tell where the records of a file stand";
            return Err(Error::Unsupported(message.into()));
        };
        for session in &source.sessions {
            read_whole(from, family, &session.id)?;
        }
        let sessions = source.sessions.iter();
        let deleted = |id| family.get(id).is_some_and(|header| header.deleted.is_some());
        if let Some(first) = source.sessions.first()
            && !sessions.map(|session| &session.id).any(deleted)
        {
            from.restore(&first.id, &mut io::sink())?;
        }
        Ok(Self::of_source(source, locations))
    }

    pub(crate) fn of_source(source: Source, locations: Vec<(RecordKey, RecordLocation)>) -> Self {
        let (made, sidecar_of, written, has_rivals) = (None, None, HashMap::new(), false);
        let sha256 = Sha256::digest([]).into();
        let there = Progress { offset: 0, sha256, state: String::new() };
        Self { source, spans_there: 0, locations, made, there, sidecar_of, written, has_rivals }
    }

    /// Writes the byte ranges, the locations of the records and the paths of the file to the new
    /// store. All of its sessions must exist there already.
    pub(crate) fn finish(&mut self, from: &Engine, into: &Engine) -> Result<()> {
        for locations in std::mem::take(&mut self.locations).chunks(4_000) {
            self.step(into, Part { locations: locations.to_vec(), ..Part::default() })?;
        }
        self.complete(from, into)?;
        for seen in self.source.paths.clone() {
            self.step(into, Part { seen: Some(seen), ..Part::default() })?;
        }
        Ok(())
    }

    /// Copies one sidecar of the session file `own`. Returns `false` and copies nothing if the
    /// sidecar's bytes were erased.
    pub(crate) fn save_sidecar(
        from: &Engine,
        into: &Engine,
        own: &Source,
        source: Source,
    ) -> Result<bool> {
        let sources = from.sources()?;
        if is_erased(sources, &source)? {
            return Ok(false);
        }
        from.restore_source(source.clone(), &mut io::sink())?;
        let sidecar = own.paths.iter().map(|seen| seen.path.clone());
        let sidecar = sidecar.into_iter().find(|path| source.names.contains(&sidecar_key(path)));
        let mut file = Self::of_source(source, Vec::new());
        file.sidecar_of = sidecar;
        file.complete(from, into)?;
        Ok(true)
    }

    /// Writes the byte ranges that the new store lacks, all in one step.
    fn complete(&mut self, from: &Engine, into: &Engine) -> Result<()> {
        let ranges = spans(from, self.source.id)?.split_off(self.spans_there);
        let read = Some(self.source.read.clone());
        self.step(into, Part { ranges, read, ..Part::default() })
    }

    fn refuse_second(&self, sources: &dyn Store, path: &str) -> Result<()> {
        let there = match self.has_rivals {
            true => sources.sources(&FindSource::Path(path.to_owned()))?,
            false => Vec::new(),
        };
        if there.iter().any(|there| is_same(&self.source, there)) {
            let message = "somebody else copies the same file".to_owned();
            return Err(StoreError::Stale { what: "the file".into(), message }.into());
        }
        Ok(())
    }

    /// Executes an import step in the new store.
    fn step(&mut self, into: &Engine, part: Part) -> Result<()> {
        let Part { writes, ranges, locations, seen, read } = part;
        let read = read.unwrap_or_else(|| self.there.clone());
        let Source { dialect, native_id, revision, first_line, names, paths, .. } = &self.source;
        let seen = seen.or_else(|| paths.first().cloned());
        let seen = seen.unwrap_or(SeenFile { path: String::new(), size: 0, modified: 0 });
        let sources = into.sources()?;
        let target = match self.made {
            Some(id) => Target::State { id, offset: self.there.offset },
            None => {
                let by_path = FindSource::Latest(seen.path.clone());
                let latest = sources.sources(&by_path)?.first().map(|source| source.id);
                // What somebody begins after this look changes the latest.
                self.refuse_second(sources, &seen.path)?;
                let (dialect, revision, first_line) = (dialect.clone(), *revision, *first_line);
                Target::New { dialect, revision, first_line, latest }
            }
        };
        let native_id = native_id.clone();
        let names = if self.made.is_none() { names.clone() } else { Vec::new() };
        let last = true;
        let sidecar_of = self.sidecar_of.clone();
        let step = SourceStep {
            target,
            native_id,
            seen,
            ranges,
            locations,
            names,
            sidecar_of,
            read: read.clone(),
            last,
        };
        self.made = Some(sources.import(writes, step)?);
        self.there = read;
        Ok(())
    }
}

/// Returns whether two stores speak of the same state of the same file.
pub(crate) fn is_same(here: &Source, there: &Source) -> bool {
    let path = |source: &Source| source.paths.first().map(|seen| seen.path.clone());
    let key = |source: &Source| (source.dialect.clone(), source.revision, source.first_line);
    key(here) == key(there) && path(here) == path(there)
}

/// Returns all byte ranges of an imported file, in order.
pub(crate) fn spans(engine: &Engine, source: SourceId) -> Result<Vec<SourceSpan>> {
    let (store, mut all) = (engine.sources()?, Vec::new());
    let mut step = 0;
    while let Some(spans) = store.source_spans(source, step)? {
        all.extend(spans);
        step += 1;
    }
    Ok(all)
}

/// Checks whether an error concerns only one imported file. If it does, the recovery continues with
/// the other files.
fn is_no_reason_to_stop(kind: ErrorKind) -> bool {
    use ErrorKind::{Conflict, Corrupt, MissingAncestor, NotFound, Unsupported};
    matches!(kind, Corrupt | MissingAncestor | NotFound | Unsupported | Conflict)
}

/// Reads all own events of a session to check them, and returns an error if one is damaged. Does
/// not check erased sessions.
fn read_whole(from: &Engine, family: &Family, id: &SessionId) -> Result<()> {
    let header = from.store().header(id)?;
    if family.get(id).is_none() {
        let missing = "a header of the file's sessions".to_owned();
        let session = id.clone();
        return Err(StoreError::MissingAncestor { session, missing }.into());
    }
    if header.is_erased() {
        return Ok(());
    }
    let (first, end) = own_seqs(&header);
    let mut lost = None;
    slots(from.store(), id, first, end, &mut |seq, slot| {
        if let Slot::Bare(_, reason) | Slot::Lost(reason) = slot {
            lost.get_or_insert((seq, reason));
        }
        Ok(())
    })?;
    let Some((seq, message)) = lost else { return Ok(()) };
    let (session, position) = (Some(id.clone()), "the file's events".to_owned());
    Err(forklore_store::Error::Corrupt { session, seq: Some(seq), location: position, message }
        .into())
}
