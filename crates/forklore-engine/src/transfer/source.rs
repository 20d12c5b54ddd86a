//! Copies imported files and their sidecars with the sessions of a family.

use std::collections::{BTreeMap, HashSet};

use forklore_api::SkipReason;
use forklore_core::SessionId;
use forklore_store::port::{Append, NewSession};
use forklore_store::sources::{FindSource, Source};

use super::own_events::common;
use super::route::Route;
use super::{Step, Transferring, is_of_one};
use crate::recover::{File, FileSources, is_same, spans};
use crate::sources::is_erased;
use crate::{Engine, Error, Result};

/// The imported files of a family.
#[derive(Default)]
pub(super) struct FamilySources {
    /// Those of which the other store lacks something.
    files: FileSources,
    /// The sources here, each with whether it is or will be there as it is here.
    all: Vec<(Source, bool)>,
}

impl FamilySources {
    pub(super) fn before(&self, id: &SessionId) -> Option<SessionId> {
        self.files.before(id)
    }

    /// Checks whether a session belongs to an imported file that is copied.
    pub(super) fn has(&self, id: &SessionId) -> bool {
        self.files.has(id)
    }

    pub(super) fn create(&mut self, into: &Engine, new: &NewSession) -> Option<Result<()>> {
        self.files.create(into, new)
    }

    pub(super) fn append(
        &mut self,
        into: &Engine,
        id: &SessionId,
        append: Append,
    ) -> Result<Option<Append>> {
        self.files.append(into, id, append)
    }
}

impl Transferring<'_> {
    /// Finds the imported files of the family, and what the other store lacks of them.
    pub(super) fn find_sources(&mut self) -> Step {
        self.sources = FamilySources::default();
        let Ok(sources) = self.from.sources() else { return Ok(()) };
        let mut found = BTreeMap::new();
        for id in self.family.keys() {
            let of = sources.sources(&FindSource::Session(id.clone()))?;
            found.extend(of.into_iter().map(|source| (source.id, source)));
        }
        for source in found.into_values() {
            let Some(first) = source.sessions.first().map(|first| first.id.clone()) else {
                continue;
            };
            let is_whole = match self.lacking(&source) {
                Ok(Lacking::Nothing) => true,
                Ok(Lacking::File(file)) => {
                    self.sources.files.add(*file);
                    true
                }
                Ok(Lacking::Other(reason)) => {
                    self.skip(&first, SkipReason::Source, reason);
                    false
                }
                Err(error) if !is_of_one(&error) => return Err(error.into()),
                Err(error) => {
                    self.skip(&first, SkipReason::Source, error.to_string());
                    false
                }
            };
            self.sources.all.push((source, is_whole));
        }
        Ok(())
    }

    fn lacking(&self, source: &Source) -> Result<Lacking> {
        let Ok(there) = self.into.sources() else {
            return Ok(Lacking::Other("that store keeps no imported files"));
        };
        let mut same = None;
        for session in &source.sessions {
            let found = there.sources(&FindSource::Session(session.id.clone()))?;
            same = same.or_else(|| found.into_iter().find(|there| is_same(source, there)));
            let Some(here) = self.family.get(&session.id) else {
                return Ok(Lacking::Other("one of its sessions is in another family"));
            };
            if here.deleted.is_some() {
                return Ok(Lacking::Other("one of its sessions was deleted"));
            }
            let Some(header) = self.there(&session.id)? else { continue };
            let is_of_source = same.iter().flat_map(|same| &same.sessions);
            if !is_of_source.into_iter().any(|it| it.id == session.id) {
                return Ok(Lacking::Other("one of its sessions is there without it"));
            }
            if header.deleted.is_some() {
                return Ok(Lacking::Other("one of its sessions was deleted there"));
            }
            let shorter = here.own_events.min(header.own_events);
            let stores = (self.from.store(), self.into.store());
            if common((stores.0, here, 0), (stores.1, &header, 0))? < shorter {
                return Ok(Lacking::Other("one of its sessions went on differently there"));
            }
        }
        let mut file = self.read_file(source)?;
        file.has_rivals = true;
        let Some(same) = same else { return Ok(Lacking::File(Box::new(file))) };
        let spans_here = spans(self.from, source.id)?;
        let spans_there = spans(self.into, same.id)?;
        if spans_there.starts_with(&spans_here) {
            let locations = there.record_locations(same.id)?.unwrap_or_default();
            let has_read_more = same.read.offset > source.read.offset;
            if has_read_more
                || (same.read == source.read
                    && locations.len() >= file.locations.len()
                    && sessions_are_there(source, &same))
            {
                return Ok(Lacking::Nothing);
            }
        } else if !spans_here.starts_with(&spans_there) {
            return Ok(Lacking::Other("the file there has other bytes"));
        }
        file.spans_there = spans_there.len().min(spans_here.len());
        (file.made, file.there) = (Some(same.id), same.read);
        file.written = same.sessions.into_iter().map(|it| (it.id, it.events)).collect();
        Ok(Lacking::File(Box::new(file)))
    }

    fn read_file(&self, source: &Source) -> Result<File> {
        let Some(locations) = self.from.sources()?.record_locations(source.id)? else {
            let message = "the store does not tell where the records of a file stand";
            return Err(Error::Unsupported(message.into()));
        };
        Ok(File::of_source(source.clone(), locations))
    }

    /// Completes the imported files and copies their sidecars. All sessions must be there.
    pub(super) fn finish_sources(&mut self) -> Step {
        if self.request.dry_run {
            self.report.sources += self.sources.files.files.len() as u64;
            return Ok(());
        }
        for mut file in std::mem::take(&mut self.sources.files.files) {
            let first = file.source.sessions.first().map(|first| first.id.clone());
            let is_there = |id: &SessionId| self.routes.get(id).is_some_and(Route::is_whole);
            let done = if file.source.sessions.iter().all(|session| is_there(&session.id)) {
                file.finish(self.from, self.into).map(|()| true)
            } else {
                Ok(false)
            };
            match (done, first) {
                (Ok(true), _) => self.report.sources += 1,
                (Ok(false), Some(first)) => {
                    self.skip(&first, SkipReason::Source, "one of its sessions was skipped");
                }
                (Err(error), Some(first)) if is_of_one(&error) => {
                    self.skip(&first, SkipReason::Source, error.to_string());
                }
                (Err(error), _) => return Err(error.into()),
                (Ok(false), None) => {}
            }
        }
        for (source, is_whole) in std::mem::take(&mut self.sources.all) {
            if is_whole {
                self.sidecars(&source)?;
            }
        }
        Ok(())
    }

    /// Copies the sidecars of an imported file that the other store lacks, earlier revisions first.
    fn sidecars(&mut self, source: &Source) -> Step {
        let there = self.into.sidecars_of(source)?;
        let is_there = |sidecar: &Source| {
            there.iter().any(|there| is_same(sidecar, there) && there.read == sidecar.read)
        };
        let mut done = HashSet::new();
        for sidecar in self.from.sidecars_of(source)?.into_iter().rev() {
            if !done.insert(sidecar.id)
                || is_there(&sidecar)
                || is_erased(self.from.sources()?, &sidecar)?
            {
                continue;
            }
            match File::save_sidecar(self.from, self.into, source, sidecar) {
                Ok(is_whole) => self.report.sources += u64::from(is_whole),
                Err(error) if !is_of_one(&error) => return Err(error.into()),
                Err(error) => {
                    if let Some(first) = source.sessions.first() {
                        self.skip(&first.id, SkipReason::Source, error.to_string());
                    }
                }
            }
        }
        Ok(())
    }
}

/// What the other store lacks of an imported file.
enum Lacking {
    Nothing,
    File(Box<File>),
    /// The file there cannot become the one here. The text says why.
    Other(&'static str),
}

fn sessions_are_there(here: &Source, there: &Source) -> bool {
    let of = |id: &SessionId| there.sessions.iter().find(|session| session.id == *id);
    here.sessions.iter().all(|it| of(&it.id).is_some_and(|there| there.events >= it.events))
}
