//! A store handle's index of the import log. It reads the log once, and later only the lines that
//! were added.

use std::collections::{HashMap, HashSet};

use forklore_store::Result;
use forklore_store::disk::os;
use forklore_store::sources::{
    FindSource, Progress, RecordKey, RecordLocation, Source, SourceId, SourceSession, sidecar_key,
};

use super::record::{DurableTo, First, Forgotten, StepLine};
use crate::folder::Folder;
use crate::fs::Open;
use crate::line;
use crate::lines::Lines;
use crate::log::damage;

/// The sources (imported files) of a store, as far as the import log was read.
#[derive(Debug, Default)]
pub(crate) struct Index {
    generation: Option<u64>,
    /// The offset in bytes up to which the import log was read.
    end: u64,
    sources: Vec<Entry>,
    paths: HashMap<String, Vec<u64>>,
    first_lines: HashMap<RecordKey, Vec<u64>>,
    names: HashMap<RecordKey, Vec<u64>>,
    sessions: HashMap<String, Vec<u64>>,
}

#[derive(Debug)]
struct Entry {
    source: Source,
    /// The import steps (transactions of an import) of this source: the offset and length of each
    /// step's line in the import log, in bytes. Only steps that store ranges of the file's bytes
    /// are included.
    steps: Vec<(u64, u64)>,
    /// How many of the `steps`, counted from the first, have hidden bytes. The bytes are hidden
    /// because a session was deleted.
    forgotten: usize,
    locations: HashMap<RecordKey, RecordLocation>,
}

impl Index {
    /// Reads the lines that were added to the import log since the last call. Reads the whole log
    /// if it was rewritten.
    pub(crate) fn refresh(&mut self, folder: &Folder) -> Result<()> {
        let path = folder.layout.sources();
        let durable = durable(folder)?;
        let Some(file) = folder.open(&path, Open::Read)? else {
            *self = Self::default();
            return if durable > 0 { Err(damage(&path, 0, "it is gone")) } else { Ok(()) };
        };
        let len = file.len().map_err(os("reading", &path))?;
        if len < durable {
            let message = format!("the file ends there, but was {durable} bytes long");
            return Err(damage(&path, len, &message));
        }
        let mut lines = Lines::of(&*file);
        let first = lines.forward(0, len).map_err(os("reading", &path))?.unwrap_or_default();
        let text = line::checked(first).map_err(|wrong| damage(&path, 0, wrong))?;
        let generation: First =
            serde_json::from_str(text).map_err(|error| damage(&path, 0, &error))?;
        if self.generation != Some(generation.sources) || self.end > len {
            *self = Self { generation: Some(generation.sources), ..Self::default() };
            self.end = first.len() as u64;
        }
        while let Some(line) = lines.forward(self.end, len).map_err(os("reading", &path))? {
            let next = self.end + line.len() as u64;
            match line::checked(line) {
                Ok(text) => self.add(text, (self.end, line.len() as u64)),
                // Another process is still writing this line.
                Err(_) if next > durable && next == len => return Ok(()),
                Err(wrong) => Err(wrong.to_owned()),
            }
            .map_err(|wrong| damage(&path, self.end, &wrong))?;
            self.end = next;
        }
        Ok(())
    }

    fn add(&mut self, text: &str, at: (u64, u64)) -> Result<(), String> {
        if let Ok(Forgotten { forgotten }) = serde_json::from_str(text) {
            if let Some(entry) = self.entry_mut(forgotten) {
                entry.forgotten = entry.steps.len();
            }
            return Ok(());
        }
        let step: StepLine = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let read = step.read()?;
        if let Some(new) = &step.new {
            if step.source != self.len() {
                return Err(format!("source {} comes out of turn", step.source));
            }
            self.first_lines.entry(new.first_line).or_default().push(step.source);
            let source = Source {
                id: SourceId(step.source),
                dialect: new.dialect.clone(),
                native_id: String::new(),
                revision: new.revision,
                first_line: new.first_line,
                names: Vec::new(),
                paths: Vec::new(),
                sessions: Vec::new(),
                read: Progress::default(),
            };
            let (steps, positions) = (Vec::new(), HashMap::new());
            self.sources.push(Entry { source, steps, forgotten: 0, locations: positions });
        }
        self.grow(&step, read, at)
    }

    fn grow(&mut self, step: &StepLine, read: Progress, at: (u64, u64)) -> Result<(), String> {
        let number = step.source;
        let entry = self.sources.get_mut(usize::try_from(number).unwrap_or(usize::MAX));
        let entry = entry.ok_or_else(|| format!("there is no source {number}"))?;
        let source = &mut entry.source;
        source.native_id.clone_from(&step.native_id);
        source.read = read;
        let seen = step.seen();
        match source.paths.iter_mut().find(|found| found.path == seen.path) {
            Some(found) => *found = seen,
            None => {
                self.paths.entry(seen.path.clone()).or_default().push(number);
                source.paths.push(seen);
            }
        }
        for (location, id, events) in &step.sessions {
            match source.sessions.get_mut(*location) {
                Some(found) => found.events = *events,
                None => {
                    self.sessions.entry(id.fold()).or_default().push(number);
                    source.sessions.push(SourceSession { id: id.clone(), events: *events });
                }
            }
        }
        if step.has_ranges() {
            entry.steps.push(at);
        }
        entry.locations.extend(step.locations());
        for name in &step.names {
            if let Err(at) = entry.source.names.binary_search(name) {
                entry.source.names.insert(at, *name);
                self.names.entry(*name).or_default().push(number);
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> u64 {
        self.sources.len() as u64
    }

    fn entry(&self, number: u64) -> Option<&Entry> {
        self.sources.get(usize::try_from(number).ok()?)
    }

    fn entry_mut(&mut self, number: u64) -> Option<&mut Entry> {
        self.sources.get_mut(usize::try_from(number).ok()?)
    }

    pub(super) fn source(&self, number: u64) -> Option<&Source> {
        self.entry(number).map(|leased| &leased.source)
    }

    /// Returns the numbers of the sources that match `by`, in ascending order.
    pub(super) fn numbers(&self, by: &FindSource) -> &[u64] {
        let found = match by {
            FindSource::Path(path) => self.paths.get(path),
            FindSource::Latest(path) => {
                let all = self.paths.get(path).map_or(&[][..], Vec::as_slice);
                return all.last().map_or(&[], std::slice::from_ref);
            }
            FindSource::SidecarsOf(path) => self.names.get(&sidecar_key(path)),
            FindSource::FirstLine(key) => self.first_lines.get(key),
            FindSource::Name(name) => self.names.get(name),
            FindSource::Session(id) => self.sessions.get(&id.fold()),
        };
        found.map_or(&[], Vec::as_slice)
    }

    /// Returns the location of the event that was imported from a record of a source. `record` is
    /// the record's key (a hash). If several records have this key, returns the location for the
    /// latest. Returns `None` if no record has it.
    pub(crate) fn locate(&self, number: u64, record: RecordKey) -> Option<RecordLocation> {
        self.entry(number)?.locations.get(&record).copied()
    }

    /// Returns where the records of the source with this number are stored: the key of each record
    /// and the location of its event, in no particular order. `None` if there is no such source.
    pub(crate) fn locations(&self, number: u64) -> Option<Vec<(RecordKey, RecordLocation)>> {
        let locations = &self.entry(number)?.locations;
        Some(locations.iter().map(|(key, location)| (*key, *location)).collect())
    }

    /// Finds the line of an import step in the import log. Returns the line's offset, its length in
    /// bytes, and whether its stored bytes are hidden. `step` counts only the source's steps that
    /// have byte ranges, from 0. Returns `None` if there is no such step.
    pub(super) fn step(&self, number: u64, step: u64) -> Option<(u64, u64, bool)> {
        let entry = self.entry(number)?;
        let step = usize::try_from(step).ok()?;
        entry.steps.get(step).map(|(at, len)| (*at, *len, step < entry.forgotten))
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation.unwrap_or_default()
    }

    pub(super) fn has_forgotten(&self) -> bool {
        self.sources.iter().any(|leased| leased.forgotten > 0)
    }

    /// Returns the offsets of those lines of the import log whose stored bytes are hidden. Each
    /// line belongs to an import step.
    pub(super) fn forgotten(&self) -> HashSet<u64> {
        let steps =
            self.sources.iter().flat_map(|leased| leased.steps.iter().take(leased.forgotten));
        steps.map(|(at, _)| *at).collect()
    }

    /// Calls `show` for each line of the import log after the first one, with the line's offset and
    /// text.
    pub(super) fn lines(
        &self,
        folder: &Folder,
        mut show: impl FnMut(u64, &str) -> Result<()>,
    ) -> Result<()> {
        let path = folder.layout.sources();
        let file = folder.fs.open(&path, Open::Read).map_err(os("opening", &path))?;
        let mut lines = Lines::of(&*file);
        let first = lines.forward(0, self.end).map_err(os("reading", &path))?;
        let mut at = first.map_or(0, |first| first.len() as u64);
        while let Some(line) = lines.forward(at, self.end).map_err(os("reading", &path))? {
            let text = line::checked(line).map_err(|wrong| damage(&path, at, wrong))?;
            let next = at + line.len() as u64;
            show(at, text)?;
            at = next;
        }
        Ok(())
    }
}

/// Returns how many bytes of the import log are durable, or 0 if that is unknown.
fn durable(folder: &Folder) -> Result<u64> {
    let bytes = folder.read(&folder.layout.sources_mark())?.unwrap_or_default();
    let mark = line::checked(&bytes).ok().and_then(|text| serde_json::from_str(text).ok());
    Ok(mark.map_or(0, |mark: DurableTo| mark.durable()))
}
