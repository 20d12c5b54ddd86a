//! The sources of the memory store.

use std::collections::{HashMap, HashSet};

use forklore_core::SessionId;

use super::MemoryStore;
use super::session::Mark;
use super::state::State;
use crate::error::{Error, Result};
use crate::feed::What;
use crate::port::NewSession;
use crate::sources::{
    FindSource, Place, Progress, Range, RecordKey, Source, SourceId, SourceSession, Sources, Step,
    Target, Write, beside_name, check_beside,
};

/// A source with everything known of it.
#[derive(Debug)]
pub(super) struct HeldSource {
    source: Source,
    ranges: Vec<Vec<Range>>,
    places: HashMap<RecordKey, Place>,
}

impl Sources for MemoryStore {
    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        let state = self.state();
        let held = state.sources.iter().rev().map(|held| &held.source);
        let most = if matches!(by, FindSource::Latest(_)) { 1 } else { usize::MAX };
        Ok(held.filter(|source| fits(source, by)).take(most).cloned().collect())
    }

    fn place(&self, source: SourceId, record: RecordKey) -> Result<Option<Place>> {
        let state = self.state();
        Ok(state.source(source).and_then(|held| held.places.get(&record)).copied())
    }

    fn ranges(&self, source: SourceId, step: u64) -> Result<Option<Vec<Range>>> {
        let state = self.state();
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        Ok(state.source(source).and_then(|held| held.ranges.get(step)).cloned())
    }

    fn places(&self, source: SourceId) -> Result<Option<Vec<(RecordKey, Place)>>> {
        let state = self.state();
        let held = state.source(source);
        Ok(held.map(|held| held.places.iter().map(|(key, place)| (*key, *place)).collect()))
    }

    fn import(&self, step: Step) -> Result<SourceId> {
        let mut state = self.state();
        let id = state.check_target(&step)?;
        state.check_beside(&step)?;
        let sessions = state.source(id).map(|held| held.source.sessions.clone());
        let mut sessions = sessions.unwrap_or_default();
        let mut undo = Vec::new();
        for write in &step.writes {
            if let Err(error) = state.write(write, &mut sessions, &mut undo) {
                undo.into_iter().rev().for_each(|undo| state.undo(undo));
                return Err(error);
            }
        }
        state.record(id, step, sessions);
        Ok(id)
    }
}

fn fits(source: &Source, by: &FindSource) -> bool {
    match by {
        FindSource::Path(path) | FindSource::Latest(path) => {
            source.paths.iter().any(|seen| seen.path == *path)
        }
        FindSource::FirstLine(key) => source.first_line == *key,
        FindSource::Beside(path) => source.names.contains(&beside_name(path)),
        FindSource::Name(name) => source.names.contains(name),
        FindSource::Session(id) => source.sessions.iter().any(|session| session.id == *id),
    }
}

/// How to take back one write of a step that went no further.
enum Undo {
    Created(SessionId),
    Changed(SessionId, Box<Mark>),
}

impl State {
    fn source(&self, id: SourceId) -> Option<&HeldSource> {
        self.sources.get(usize::try_from(id.0).ok()?)
    }

    fn check_target(&self, step: &Step) -> Result<SourceId> {
        let stale = |message: String| Err(Error::Stale { what: "the source", message });
        match &step.target {
            Target::New { latest, .. } => {
                let by = FindSource::Path(step.seen.path.clone());
                let mut known = self.sources.iter().rev().map(|held| &held.source);
                let now = known.find(|source| fits(source, &by)).map(|source| source.id);
                if now == *latest {
                    return Ok(SourceId(self.sources.len() as u64));
                }
                stale("the file has been read by somebody else".into())
            }
            Target::Known { id, offset } => match self.source(*id) {
                Some(held) if held.source.read.offset == *offset => Ok(*id),
                Some(held) => stale(format!("it is read up to byte {}", held.source.read.offset)),
                None => stale("it is gone".into()),
            },
        }
    }

    fn check_beside(&self, step: &Step) -> Result<()> {
        let Some(path) = &step.beside else { return Ok(()) };
        let by = FindSource::Latest(path.clone());
        let latest = self.sources.iter().rev().map(|held| &held.source).find(|it| fits(it, &by));
        check_beside(latest, |id| Ok(self.any(id)?.header.deleted.is_some()))
    }

    fn write(
        &mut self,
        write: &Write,
        sessions: &mut Vec<SourceSession>,
        undo: &mut Vec<Undo>,
    ) -> Result<()> {
        match write {
            Write::Create(new) => {
                self.create(NewSession::clone(new))?;
                undo.push(Undo::Created(new.id.clone()));
                let events = new.events.len() as u64;
                sessions.push(SourceSession { id: new.id.clone(), events });
            }
            Write::Append { session, append } => {
                undo.push(self.mark(session)?);
                self.append(session, append)?;
                if let Some(grown) = sessions.iter_mut().find(|known| known.id == *session) {
                    grown.events += append.events.len() as u64;
                }
            }
            Write::Leaf { session, leaf } => {
                undo.push(self.mark(session)?);
                self.get_mut(session)?.header.leaf = Some(leaf.clone());
                self.feed.record(session, What::Changed);
            }
            Write::CopyOf { session, copy_of } => {
                undo.push(self.mark(session)?);
                self.get_mut(session)?.header.copy_of = Some(copy_of.clone());
                self.feed.record(session, What::Changed);
            }
            Write::Title { session, title } => {
                undo.push(self.mark(session)?);
                self.get_mut(session)?.header.title.clone_from(title);
                self.feed.record(session, What::Changed);
            }
        }
        Ok(())
    }

    fn mark(&mut self, id: &SessionId) -> Result<Undo> {
        Ok(Undo::Changed(id.clone(), Box::new(self.get_mut(id)?.mark())))
    }

    /// Drops the kept bytes of every file that one of the sessions was read from, and of those
    /// beside it (SPEC 10).
    pub(super) fn forget_files_of(&mut self, deleted: &[SessionId]) {
        let is_gone = |source: &Source| source.sessions.iter().any(|it| deleted.contains(&it.id));
        let gone = self.sources.iter().map(|held| &held.source).filter(|it| is_gone(it));
        let beside: HashSet<_> =
            gone.flat_map(|it| it.paths.iter().map(|seen| beside_name(&seen.path))).collect();
        for held in &mut self.sources {
            let lies_beside = held.source.names.iter().any(|name| beside.contains(name));
            if !is_gone(&held.source) && !lies_beside {
                continue;
            }
            for range in held.ranges.iter_mut().flatten() {
                if let Some(left) = range.forgotten() {
                    *range = left;
                }
            }
        }
    }

    fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Created(id) => drop(self.sessions.remove(&id.fold())),
            Undo::Changed(id, mark) => {
                if let Some(session) = self.sessions.get_mut(&id.fold()) {
                    session.back_to(*mark);
                }
            }
        }
    }

    fn record(&mut self, id: SourceId, step: Step, sessions: Vec<SourceSession>) {
        if let Target::New { dialect, revision, first_line, .. } = step.target {
            let source = Source {
                id,
                dialect,
                native_id: String::new(),
                revision,
                first_line,
                names: Vec::new(),
                paths: Vec::new(),
                sessions: Vec::new(),
                read: Progress::default(),
            };
            self.sources.push(HeldSource { source, ranges: Vec::new(), places: HashMap::new() });
        }
        let Some(held) = usize::try_from(id.0).ok().and_then(|at| self.sources.get_mut(at)) else {
            return;
        };
        held.source.native_id = step.native_id;
        held.source.sessions = sessions;
        held.source.read = step.read;
        match held.source.paths.iter_mut().find(|seen| seen.path == step.seen.path) {
            Some(seen) => *seen = step.seen,
            None => held.source.paths.push(step.seen),
        }
        if !step.ranges.is_empty() {
            held.ranges.push(step.ranges);
        }
        held.places.extend(step.places);
        held.source.names.extend(step.names);
        held.source.names.extend(step.beside.as_deref().map(beside_name));
        held.source.names.sort_unstable();
        held.source.names.dedup();
    }
}
