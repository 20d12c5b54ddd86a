//! Files that sessions were read from (SPEC 11): one log of all steps of all imports.

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

/// What says that this much of the log is durable.
pub(crate) fn encoded(durable: u64) -> Result<String> {
    sealed(&record::DurableTo::new(durable))
}

impl Index {
    /// The sources that fit, the one made last first.
    pub(crate) fn find(&self, by: &FindSource) -> Vec<Source> {
        self.numbers(by).iter().rev().filter_map(|number| self.source(*number)).cloned().collect()
    }

    /// Checks where the source of a step stands; its number.
    fn target(&self, step: &SourceStep) -> Result<u64> {
        let stale = |message: String| Err(Error::Stale { what: "the source", message });
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

/// A step of an import under way.
pub(crate) struct Import<'s> {
    step: &'s SourceStep,
    number: u64,
    /// All sessions of the source, and those of them that the step changed, by their place.
    sessions: Vec<SourceSession>,
    changed: BTreeMap<usize, SourceSession>,
}

impl<'s> Import<'s> {
    /// Checks that the source is where the step expects it; `index` knows all steps before it.
    pub(crate) fn begin(folder: &Folder, index: &Index, step: &'s SourceStep) -> Result<Self> {
        let number = index.target(step)?;
        if let Some(path) = &step.sidecar {
            let latest = index.numbers(&FindSource::Latest(path.clone())).first();
            check_sidecar(latest.and_then(|number| index.source(*number)), |id| {
                Ok::<_, Error>(folder.any(id)?.header.deleted.is_some())
            })?;
        }
        let known = index.source(number).map(|source| source.sessions.clone());
        Ok(Self { step, number, sessions: known.unwrap_or_default(), changed: BTreeMap::new() })
    }

    /// Notes which of the source's sessions a write was about.
    pub(crate) fn note(&mut self, write: &Write) {
        let at = note_source_write(&mut self.sessions, write);
        let session = at.and_then(|at| Some((at, self.sessions.get(at)?.clone())));
        self.changed.extend(session);
    }

    /// Writes down how far the file is read.
    pub(crate) fn finish(self, folder: &Folder) -> Result<SourceId> {
        let line = StepLine::new(self.number, self.step, &self.changed);
        folder.add_source_line(&sealed(&line)?)?;
        Ok(SourceId(self.number))
    }
}

impl Folder {
    /// Drops the kept bytes of the files that one of the sessions was read from, and of those
    /// beside them (SPEC 10): they are not shown any more, and the next gc erases them.
    pub(crate) fn forget_files_of(&self, index: &Index, deleted: &[SessionId]) -> Result<()> {
        let mut numbers: Vec<_> = deleted
            .iter()
            .flat_map(|id| index.numbers(&FindSource::Session(id.clone())).to_vec())
            .collect();
        let sources = numbers.iter().filter_map(|number| index.source(*number));
        let paths = sources.flat_map(|source| &source.paths);
        let beside = |seen: &SeenFile| index.numbers(&FindSource::SidecarsOf(seen.path.clone()));
        let beside: Vec<_> = paths.flat_map(beside).copied().collect();
        numbers.extend(beside);
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            self.add_source_line(&sealed(&Forgotten { forgotten: number })?)?;
        }
        Ok(())
    }

    fn add_source_line(&self, line: &str) -> Result<()> {
        let path = self.layout.sources();
        if self.open(&path, Open::Read)?.is_none() {
            self.unmark_sources()?;
            self.put(&path, sealed(&First::new(0))?.as_bytes())?;
        }
        let file = self.fs.open(&path, Open::Write).map_err(os("opening", &path))?;
        let end = file.len().map_err(os("reading", &path))?;
        self.write(&*file, &path, line.as_bytes(), end)?;
        self.sync(&*file, &path)?;
        self.mark(Mark::Sources(end + line.len() as u64));
        Ok(())
    }

    /// Says, durably, that nothing is known of a log that is about to be written anew.
    fn unmark_sources(&self) -> Result<()> {
        self.put(&self.layout.sources_mark(), encoded(0)?.as_bytes())
    }

    fn sources_mark(&self) -> Result<u64> {
        let bytes = self.read(&self.layout.sources_mark())?.unwrap_or_default();
        let mark = line::checked(&bytes).ok().and_then(|text| serde_json::from_str(text).ok());
        Ok(mark.map_or(0, |mark: record::DurableTo| mark.durable()))
    }

    /// The ranges that a step of a source wrote; `index` knows where they stand.
    pub(crate) fn ranges(
        &self,
        index: &Index,
        source: SourceId,
        step: u64,
    ) -> Result<Option<Vec<SourceSpan>>> {
        let Some((at, len, forgotten)) = index.step(source.0, step) else {
            return Ok(None);
        };
        let path = self.layout.sources();
        let file = self.fs.open(&path, Open::Read).map_err(os("opening", &path))?;
        let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
        let read = file.read_at(&mut bytes, at).map_err(os("reading", &path))?;
        bytes.truncate(read);
        let text = line::checked(&bytes).map_err(|wrong| damage(&path, at, wrong))?;
        let line: StepLine =
            serde_json::from_str(text).map_err(|error| damage(&path, at, &error))?;
        let ranges = line.ranges().map_err(|wrong| damage(&path, at, wrong))?;
        let gone = |range: SourceSpan| match range.forgotten() {
            Some(left) if forgotten => left,
            _ => range,
        };
        Ok(Some(ranges.into_iter().map(gone).collect()))
    }

    /// Writes the log anew without the bytes that were forgotten.
    pub(crate) fn erase_forgotten(&self, index: &Index) -> Result<()> {
        if !index.has_forgotten() {
            return Ok(());
        }
        let path = self.layout.sources();
        let forgotten = index.forgotten();
        let mut whole = sealed(&First::new(index.generation() + 1))?;
        index.lines(self, |at, line| {
            let mut step: StepLine = match serde_json::from_str(line) {
                Ok(step) => step,
                // That something was forgotten goes with it.
                Err(_) => return Ok(()),
            };
            if forgotten.contains(&at) {
                step.forget();
            }
            whole.push_str(&sealed(&step)?);
            Ok(())
        })?;
        self.unmark_sources()?;
        self.put(&path, whole.as_bytes())?;
        self.mark(Mark::Sources(whole.len() as u64));
        Ok(())
    }
}
