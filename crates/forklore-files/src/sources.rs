//! Files that sessions were read from (SPEC 11): one log of all steps of all imports.

mod index;
mod record;

use std::collections::BTreeMap;

use forklore_core::SessionId;
use forklore_store::disk::os;
use forklore_store::port::Change;
use forklore_store::sources::{
    FindSource, Range, SeenFile, Source, SourceId, SourceSession, Step, Target, Write, check_beside,
};
use forklore_store::{Error, Result};

pub(crate) use self::index::Index;
use self::record::{First, Forgotten, StepLine};
use crate::commit::sealed;
use crate::folder::{Folder, Mark};
use crate::fs::Open;
use crate::line;
use crate::log::damage;

/// What says that this much of the log is durable.
pub(crate) fn spelled(durable: u64) -> Result<String> {
    sealed(&record::DurableTo::new(durable))
}

impl Index {
    /// The sources that fit, the one made last first.
    pub(crate) fn find(&self, by: &FindSource) -> Vec<Source> {
        self.numbers(by).iter().rev().filter_map(|number| self.source(*number)).cloned().collect()
    }

    /// Checks where the source of a step stands; its number.
    fn target(&self, step: &Step) -> Result<u64> {
        let stale = |message: String| Err(Error::Stale { what: "the source", message });
        match &step.target {
            Target::New { latest, .. } => {
                let by = FindSource::Path(step.seen.path.clone());
                if self.numbers(&by).last().copied() == latest.map(|id| id.0) {
                    return Ok(self.len());
                }
                stale("the file was read by somebody else".into())
            }
            Target::Known { id, offset } => match self.source(id.0) {
                Some(source) if source.read.offset == *offset => Ok(id.0),
                Some(source) => stale(format!("it is read up to byte {}", source.read.offset)),
                None => stale("it is gone".into()),
            },
        }
    }
}

impl Folder {
    /// Writes what a step holds; `index` knows all steps before it.
    pub(crate) fn import(&self, index: &Index, step: &Step) -> Result<SourceId> {
        let number = index.target(step)?;
        if let Some(path) = &step.beside {
            let latest = index.numbers(&FindSource::Latest(path.clone())).first();
            check_beside(latest.and_then(|number| index.source(*number)), |id| {
                Ok::<_, Error>(self.any(id)?.header.deleted.is_some())
            })?;
        }
        let known = index.source(number).map(|source| source.sessions.clone());
        let mut sessions = known.unwrap_or_default();
        let mut changed = BTreeMap::new();
        for write in &step.writes {
            let (id, events) = self.write_one(write)?;
            if let Write::Create(new) = write {
                sessions.push(SourceSession { id: new.id.clone(), events: 0 });
            }
            let place = sessions.iter_mut().enumerate().find(|(_, known)| known.id == *id);
            if let (Some((at, session)), 1..) = (place, events.map_or(0, |events| events + 1)) {
                session.events += events.unwrap_or_default();
                changed.insert(at, session.clone());
            }
        }
        self.add_source_line(&sealed(&StepLine::new(number, step, &changed))?)?;
        Ok(SourceId(number))
    }

    /// Does one write; whose session it was, and how many events it added, where it counts them.
    fn write_one<'w>(&self, write: &'w Write) -> Result<(&'w SessionId, Option<u64>)> {
        match write {
            Write::Create(new) => {
                self.create(new, None)?;
                Ok((&new.id, Some(new.events.len() as u64)))
            }
            Write::Append { session, append } => {
                self.append(session, append)?;
                Ok((session, Some(append.events.len() as u64)))
            }
            Write::Leaf { session, leaf } => {
                self.change(session, &Change::Leaf(Some(leaf.clone())))?;
                Ok((session, None))
            }
            Write::CopyOf { session, copy_of } => {
                self.change(session, &Change::CopyOf(Some(copy_of.clone())))?;
                Ok((session, None))
            }
            Write::Title { session, title } => {
                self.change(session, &Change::Title(title.clone()))?;
                Ok((session, None))
            }
        }
    }

    /// Drops the kept bytes of the files that one of the sessions was read from, and of those
    /// beside them (SPEC 10): they are not shown any more, and the next gc erases them.
    pub(crate) fn forget_files_of(&self, index: &Index, deleted: &[SessionId]) -> Result<()> {
        let mut numbers: Vec<_> = deleted
            .iter()
            .flat_map(|id| index.numbers(&FindSource::Session(id.clone())).to_vec())
            .collect();
        let sources = numbers.iter().filter_map(|number| index.source(*number));
        let paths = sources.flat_map(|source| &source.paths);
        let beside = |seen: &SeenFile| index.numbers(&FindSource::Beside(seen.path.clone()));
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
        self.put(&self.layout.sources_mark(), spelled(0)?.as_bytes())
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
    ) -> Result<Option<Vec<Range>>> {
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
        let gone = |range: Range| match range.forgotten() {
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
