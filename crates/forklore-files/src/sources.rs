//! Stores sources: the files from which sessions were imported (docs/semantics.md, Sources). One
//! log, `sources.jsonl`, contains all steps of all imports.

mod index;
mod record;

use std::collections::BTreeMap;

use forklore_core::SessionId;
use forklore_store::disk::os;
use forklore_store::port::Write;
use forklore_store::rules::note_source_write;
use forklore_store::sources::{
    FindSource, SeenFile, Source, SourceId, SourceSession, SourceSpan, SourceStep, Target,
    check_sidecar,
};
use forklore_store::{Error, Result};

pub(crate) use self::index::Index;
use self::record::{First, Forgotten, StepLine};
use crate::folder::{Folder, Mark};
use crate::fs::Open;
use crate::line;
use crate::line::sealed;
use crate::log::damage;

/// Encodes the content of the file that records how many bytes of the import log are durable.
pub(crate) fn encoded(durable: u64) -> Result<String> {
    sealed(&record::DurableTo::new(durable))
}

impl Index {
    /// Returns the sources (imported files) that match `by`, newest first.
    pub(crate) fn find(&self, by: &FindSource) -> Vec<Source> {
        self.numbers(by).iter().rev().filter_map(|number| self.source(*number)).cloned().collect()
    }

    /// Checks that the source of an import step is in the state that the step expects. Returns the
    /// source's number.
    ///
    /// # Errors
    /// `Stale` if another import has read the file meanwhile.
    fn target(&self, step: &SourceStep) -> Result<u64> {
        let stale = |message: String| Err(Error::Stale { what: "the source".into(), message });
        match &step.target {
            Target::New { latest, .. } => {
                let by = FindSource::Path(step.seen.path.clone());
                if self.numbers(&by).last().copied() == latest.map(|id| id.0) {
                    return Ok(self.len());
                }
                stale("the file was read by somebody else".into())
            }
            Target::State { id, offset } => match self.source(id.0) {
                Some(source) if source.read.offset == *offset => Ok(id.0),
                Some(source) => stale(format!("it is read up to byte {}", source.read.offset)),
                None => stale("it is gone".into()),
            },
        }
    }
}

/// One step of an import of a file, while it is being performed.
pub(crate) struct Import<'s> {
    step: &'s SourceStep,
    number: u64,
    /// All sessions that were imported from the file. `changed` contains those that this step
    /// changed, by their index in `sessions`.
    sessions: Vec<SourceSession>,
    changed: BTreeMap<usize, SourceSession>,
}

impl<'s> Import<'s> {
    /// Begins an import step. Checks that its source is in the state that the step expects. `index`
    /// must include all earlier steps.
    pub(crate) fn begin(folder: &Folder, index: &Index, step: &'s SourceStep) -> Result<Self> {
        let number = index.target(step)?;
        if let Some(path) = &step.sidecar_of {
            let latest = index.numbers(&FindSource::Latest(path.clone())).first();
            check_sidecar(latest.and_then(|number| index.source(*number)), |id| {
                Ok::<_, Error>(folder.any(id)?.header.deleted.is_some())
            })?;
        }
        let sessions = index.source(number).map(|source| source.sessions.clone());
        Ok(Self { step, number, sessions: sessions.unwrap_or_default(), changed: BTreeMap::new() })
    }

    /// Records which session a write of the step imports: the one that it creates, or the one to
    /// which it appends.
    pub(crate) fn note(&mut self, write: &Write) {
        let at = note_source_write(&mut self.sessions, write);
        let session = at.and_then(|at| Some((at, self.sessions.get(at)?.clone())));
        self.changed.extend(session);
    }

    /// Appends the line of this import step to the import log, including how much of the file was
    /// read. Returns the id of the source.
    pub(crate) fn finish(self, folder: &Folder) -> Result<SourceId> {
        let line = StepLine::new(self.number, self.step, &self.changed);
        add_source_line(folder, &sealed(&line)?)?;
        Ok(SourceId(self.number))
    }
}

/// Hides the stored bytes of the files from which the deleted sessions were imported. Also hides
/// the bytes of sidecar files, which the agent stored next to those files (docs/semantics.md,
/// Delete, detach). The next `gc` erases these bytes.
pub(crate) fn forget_files_of(folder: &Folder, index: &Index, deleted: &[SessionId]) -> Result<()> {
    let mut numbers: Vec<_> = deleted
        .iter()
        .flat_map(|id| index.numbers(&FindSource::Session(id.clone())).to_vec())
        .collect();
    let sources = numbers.iter().filter_map(|number| index.source(*number));
    let paths = sources.flat_map(|source| &source.paths);
    let sidecars = |seen: &SeenFile| index.numbers(&FindSource::SidecarsOf(seen.path.clone()));
    let sidecars: Vec<_> = paths.flat_map(sidecars).copied().collect();
    numbers.extend(sidecars);
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        add_source_line(folder, &sealed(&Forgotten { forgotten: number })?)?;
    }
    Ok(())
}

/// Hides the stored bytes of these sources. The next `gc` erases these bytes.
pub(crate) fn forget(folder: &Folder, index: &Index, sources: &[SourceId]) -> Result<()> {
    for source in sources.iter().filter(|source| index.source(source.0).is_some()) {
        add_source_line(folder, &sealed(&Forgotten { forgotten: source.0 })?)?;
    }
    Ok(())
}

fn add_source_line(folder: &Folder, line: &str) -> Result<()> {
    let path = folder.layout.sources();
    if folder.open(&path, Open::Read)?.is_none() {
        unmark_sources(folder)?;
        folder.put(&path, sealed(&First::new(0))?.as_bytes())?;
    }
    let file = folder.fs.open(&path, Open::Write).map_err(os("opening", &path))?;
    let end = file.len().map_err(os("reading", &path))?;
    folder.write(&*file, &path, line.as_bytes(), end)?;
    folder.sync(&*file, &path)?;
    folder.mark(Mark::Sources(end + line.len() as u64));
    Ok(())
}

/// Durably sets the recorded durable length of the import log to 0. The caller does this before it
/// rewrites the log.
fn unmark_sources(folder: &Folder) -> Result<()> {
    folder.put(&folder.layout.sources_mark(), encoded(0)?.as_bytes())
}

/// Returns the byte ranges of a source that one import step stored. `step` is the number of the
/// step, from 0, among those steps of the source that stored byte ranges. `index` contains the
/// location of each step in the import log. Returns `None` if there is no such step.
pub(crate) fn spans(
    folder: &Folder,
    index: &Index,
    source: SourceId,
    step: u64,
) -> Result<Option<Vec<SourceSpan>>> {
    let Some((at, len, forgotten)) = index.step(source.0, step) else {
        return Ok(None);
    };
    let path = folder.layout.sources();
    let file = folder.fs.open(&path, Open::Read).map_err(os("opening", &path))?;
    let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
    let read = file.read_at(&mut bytes, at).map_err(os("reading", &path))?;
    bytes.truncate(read);
    let text = line::checked(&bytes).map_err(|wrong| damage(&path, at, wrong))?;
    let line: StepLine = serde_json::from_str(text).map_err(|error| damage(&path, at, &error))?;
    let ranges = line.ranges().map_err(|wrong| damage(&path, at, wrong))?;
    let gone = |range: SourceSpan| match range.forgotten() {
        Some(left) if forgotten => left,
        _ => range,
    };
    Ok(Some(ranges.into_iter().map(gone).collect()))
}

/// Rewrites the import log without the stored bytes that were hidden because their sessions were
/// deleted.
pub(crate) fn erase_forgotten(folder: &Folder, index: &Index) -> Result<()> {
    if !index.has_forgotten() {
        return Ok(());
    }
    let path = folder.layout.sources();
    let forgotten = index.forgotten();
    let mut whole = sealed(&First::new(index.generation() + 1))?;
    index.lines(folder, |at, line| {
        let mut step: StepLine = match serde_json::from_str(line) {
            Ok(step) => step,
            // This is a [`Forgotten`] line. It is left out, because the bytes that it hides are now
            // erased.
            Err(_) => return Ok(()),
        };
        if forgotten.contains(&at) {
            step.forget().map_err(|wrong| damage(&path, at, wrong))?;
        }
        whole.push_str(&sealed(&step)?);
        Ok(())
    })?;
    unmark_sources(folder)?;
    folder.put(&path, whole.as_bytes())?;
    folder.mark(Mark::Sources(whole.len() as u64));
    Ok(())
}
