//! Sources of imported sessions in the memory store.

use std::collections::{HashMap, HashSet};

use forklore_core::SessionId;

use super::state::State;
use crate::error::{Error, Result};
use crate::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSession, SourceSpan, SourceStep,
    Target, check_sidecar, sidecar_key,
};

/// A source (an imported file), with the byte ranges of its import steps and the locations of its
/// records.
#[derive(Clone, Debug)]
pub(super) struct StoredSource {
    source: Source,
    ranges: Vec<Vec<SourceSpan>>,
    locations: HashMap<RecordKey, RecordLocation>,
}

impl StoredSource {
    pub(super) fn of(source: Source) -> Self {
        Self { source, ranges: Vec::new(), locations: HashMap::new() }
    }

    /// Creates the source of an import step. Returns `None` if the step continues a source.
    pub(super) fn new(id: SourceId, step: &SourceStep) -> Option<Self> {
        Source::begun_by(step, id).map(Self::of)
    }

    /// Applies an import step. `sessions` are the sessions of the source after the step.
    pub(super) fn apply(&mut self, step: SourceStep, sessions: Vec<SourceSession>) {
        self.source.apply(&step, sessions);
        if !step.ranges.is_empty() {
            self.ranges.push(step.ranges);
        }
        self.locations.extend(step.locations);
    }

    fn forget_bytes(&mut self) {
        for range in self.ranges.iter_mut().flatten() {
            if let Some(left) = range.forgotten() {
                *range = left;
            }
        }
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn locate(&self, record: RecordKey) -> Option<RecordLocation> {
        self.locations.get(&record).copied()
    }

    pub(super) fn ranges(&self, step: u64) -> Option<Vec<SourceSpan>> {
        self.ranges.get(usize::try_from(step).ok()?).cloned()
    }

    pub(super) fn locations(&self) -> Vec<(RecordKey, RecordLocation)> {
        self.locations.iter().map(|(key, location)| (*key, *location)).collect()
    }
}

pub(super) fn fits(source: &Source, by: &FindSource) -> bool {
    match by {
        FindSource::Path(path) | FindSource::Latest(path) => {
            source.paths.iter().any(|seen| seen.path == *path)
        }
        FindSource::FirstLine(key) => source.first_line == *key,
        FindSource::SidecarsOf(path) => source.names.contains(&sidecar_key(path)),
        FindSource::Name(name) => source.names.contains(name),
        FindSource::Session(id) => source.sessions.iter().any(|session| session.id == *id),
    }
}

impl State {
    pub(super) fn sources_by(&self, by: &FindSource) -> Vec<Source> {
        let stored = self.sources.iter().rev().map(|leased| &leased.source);
        let most = if matches!(by, FindSource::Latest(_)) { 1 } else { usize::MAX };
        stored.filter(|source| fits(source, by)).take(most).cloned().collect()
    }

    /// Checks that the source is in the state that an import step expects. Returns the id of the
    /// step's source, and the sessions that this source has before the step.
    pub(super) fn begin_step(&self, step: &SourceStep) -> Result<(SourceId, Vec<SourceSession>)> {
        let id = self.check_target(step)?;
        self.check_sidecar(step)?;
        let sessions = self.source(id).map(|leased| leased.source.sessions.clone());
        Ok((id, sessions.unwrap_or_default()))
    }

    pub(super) fn source(&self, id: SourceId) -> Option<&StoredSource> {
        self.sources.get(usize::try_from(id.0).ok()?)
    }

    fn check_target(&self, step: &SourceStep) -> Result<SourceId> {
        let stale = |message: String| Err(Error::Stale { what: "the source".into(), message });
        match &step.target {
            Target::New { latest, .. } => {
                let by = FindSource::Path(step.seen.path.clone());
                let mut candidates = self.sources.iter().rev().map(|leased| &leased.source);
                let now = candidates.find(|source| fits(source, &by)).map(|source| source.id);
                if now == *latest {
                    return Ok(SourceId(self.sources.len() as u64));
                }
                stale("the file has been read by somebody else".into())
            }
            Target::State { id, offset } => match self.source(*id) {
                Some(leased) if leased.source.read.offset == *offset => Ok(*id),
                Some(leased) => {
                    stale(format!("it is read up to byte {}", leased.source.read.offset))
                }
                None => stale("it is gone".into()),
            },
        }
    }

    fn check_sidecar(&self, step: &SourceStep) -> Result<()> {
        let Some(path) = &step.sidecar_of else { return Ok(()) };
        let by = FindSource::Latest(path.clone());
        let latest =
            self.sources.iter().rev().map(|leased| &leased.source).find(|it| fits(it, &by));
        check_sidecar(latest, |id| Ok(self.any(id)?.header.deleted.is_some()))
    }

    /// Erases the stored bytes of each imported file from which one of the `deleted` sessions was
    /// imported. Also erases the stored bytes of the file's sidecars, which are extra files without
    /// a session (docs/semantics.md, Delete, detach).
    pub(super) fn forget_files_of(&mut self, deleted: &[SessionId]) {
        let deleted: HashSet<_> = deleted.iter().collect();
        let is_gone = |source: &Source| source.sessions.iter().any(|it| deleted.contains(&it.id));
        let gone = self.sources.iter().map(|leased| &leased.source).filter(|it| is_gone(it));
        let names: HashSet<_> =
            gone.flat_map(|it| it.paths.iter().map(|seen| sidecar_key(&seen.path))).collect();
        for stored in &mut self.sources {
            let is_sidecar = stored.source.names.iter().any(|name| names.contains(name));
            if is_gone(&stored.source) || is_sidecar {
                stored.forget_bytes();
            }
        }
    }

    /// Erases the stored bytes of these sources.
    pub(super) fn forget_bytes_of(&mut self, sources: &[SourceId]) {
        let forgotten = self.sources.iter_mut().filter(|it| sources.contains(&it.source.id));
        forgotten.for_each(StoredSource::forget_bytes);
    }

    /// Applies an import step to its source. `sessions` are the sessions of the source after the
    /// step.
    pub(super) fn record(&mut self, id: SourceId, step: SourceStep, sessions: Vec<SourceSession>) {
        self.sources.extend(StoredSource::new(id, &step));
        let stored = usize::try_from(id.0).ok().and_then(|at| self.sources.get_mut(at));
        if let Some(stored) = stored {
            stored.apply(step, sessions);
        }
    }
}
