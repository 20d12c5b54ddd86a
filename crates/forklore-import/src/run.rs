//! Runs one import: imports its files one after another, and then builds the report.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::PathBuf;

use forklore_engine::sources::path_text;
use forklore_engine::{Engine, Error, Result};
use forklore_sanitize::terminal;
use forklore_store::Error as StoreError;
use forklore_store::Store;
use forklore_store::sources::Source;

use crate::candidate::Candidate;
use crate::contained::ContainedSession;
use crate::continued_from::MISSING_BASE;
use crate::discovery::{Discovered, Discovery};
use crate::earlier_steps::{EarlierSteps, Start};
use crate::first_lines::FirstLines;
use crate::name_conflicts::NameConflicts;
use crate::named_paths::NamedPaths;
use crate::opened::Opened;
use crate::options::{ATTEMPTS, ImportOptions};
use crate::outcome::Outcome;
use crate::progress::{Overall, Progressed};
use crate::report::{ImportReport, PASSED_OVER, Problem, ProblemKind};
use crate::sidecar_store::SidecarStore;
use crate::source_state::{self, SourceState};
use crate::start_reading::StartReading;
use crate::write_behind::WriteBehind;

/// One import of session files and sidecar files.
pub(crate) struct Run<'a> {
    engine: &'a Engine,
    options: &'a ImportOptions,
    /// The imported files by first line. A new file may be a copy of one of these files, or one of
    /// these files at a new path.
    first_lines: RefCell<FirstLines>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(engine: &'a Engine, options: &'a ImportOptions) -> Self {
        Self { engine, options, first_lines: RefCell::default() }
    }

    /// Imports the files at these paths and in these folders. `behind` is the store of the engine.
    pub(crate) fn import(
        &self,
        behind: &WriteBehind,
        paths: &[PathBuf],
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<ImportReport> {
        let (sources, options) = (self.engine.sources()?, self.options);
        let mut report = ImportReport::default();
        let named = NamedPaths::of(paths, options);
        let discovery = Discovery::new(self.engine, sources, options)?;
        let Discovered { candidates, sidecars, unknown } =
            discovery.find(paths, &named, &mut report)?;
        let sizes = candidates.iter().map(|it| it.size).chain(sidecars.iter().map(|it| it.size));
        let mut all = Overall {
            files: (candidates.len() + sidecars.len()) as u64,
            bytes: sizes.sum(),
            ..Overall::default()
        };
        let mut outcomes = Vec::with_capacity(candidates.len());
        for candidate in &candidates {
            if options.is_stopped() {
                break;
            }
            let mut tell = |file: Progressed<'_>| progress(file.within(&all, candidate.size));
            let outcome = self.import_file(sources, candidate, EarlierSteps::default(), &mut tell);
            outcomes.push(unless_single(outcome, &all)?);
            all.files_done += 1;
            all.bytes_done += candidate.size;
        }
        for path in behind.end()? {
            let Some(at) = candidates.iter().position(|it| path_text(&it.path) == path) else {
                continue;
            };
            if let (Some(candidate), Some(outcome)) = (candidates.get(at), outcomes.get_mut(at)) {
                let earlier = outcome.before_last_step();
                let again = self.import_file(sources, candidate, earlier, &mut |_| {});
                *outcome = unless_single(again, &all)?;
            }
        }
        for (candidate, outcome) in candidates.iter().zip(outcomes) {
            outcome.report(self.engine, candidate, &mut report)?;
        }
        let mut sidecar_store = SidecarStore::new(self.engine, sources, options);
        for sidecar in &sidecars {
            if options.is_stopped() {
                break;
            }
            let mut tell = |file: Progressed<'_>| progress(file.within(&all, sidecar.size));
            match sidecar_store.store(sidecar, &mut tell, &mut report) {
                Err(error) if all.files > 1 && concerns_one_file(&error) => {
                    report.refused(&sidecar.path, &error);
                }
                done => done?,
            }
            all.files_done += 1;
            all.bytes_done += sidecar.size;
        }
        if !options.is_stopped() {
            named.report_failures(&unknown, &mut report);
        }
        report.passed_over = passed_over(unknown, &report.problems);
        Ok(report)
    }

    /// Begins the session of a file whose records its agent has not stored yet.
    pub(crate) fn begin(
        &self,
        behind: &WriteBehind,
        candidate: &Candidate,
    ) -> Result<ImportReport> {
        let sources = self.engine.sources()?;
        let mut outcome =
            self.import_file(sources, candidate, EarlierSteps::default(), &mut |_| {})?;
        if !behind.end()?.is_empty() {
            let earlier = outcome.before_last_step();
            outcome = self.import_file(sources, candidate, earlier, &mut |_| {})?;
        }
        let mut report = ImportReport::default();
        outcome.report(self.engine, candidate, &mut report)?;
        Ok(report)
    }

    /// Imports one file. Tries again if another writer changed the store meanwhile, or if a chosen
    /// id or label is in use. Makes up to [`ATTEMPTS`] attempts in total. `earlier` is what this
    /// import has already stored of the file.
    fn import_file(
        &self,
        sources: &dyn Store,
        candidate: &Candidate,
        mut earlier: EarlierSteps,
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<Outcome> {
        let mut conflicts = NameConflicts::default();
        let mut attempt = 1;
        loop {
            let done = self.attempt(sources, candidate, progress, &mut conflicts, &mut earlier);
            match done {
                Err(Error::Store(StoreError::IdInUse(id))) if attempt < ATTEMPTS => {
                    conflicts.refuse_id(id);
                }
                Err(Error::Store(StoreError::LabelInUse { label, by })) if attempt < ATTEMPTS => {
                    conflicts.refuse_label(self.engine.store(), label, &by)?;
                }
                Err(Error::Store(StoreError::Stale { .. } | StoreError::Conflict { .. }))
                    if attempt < ATTEMPTS =>
                {
                    let path = path_text(&candidate.path);
                    let path = terminal::line(&path);
                    tracing::warn!(%path, attempt, "another writer was faster: reads a file again");
                }
                Err(Error::Io { doing, source }) => {
                    let message = format!("{doing}: {source}");
                    return Ok(Outcome::passed(candidate, ProblemKind::Unreadable, message));
                }
                Err(Error::Invalid { reason: MISSING_BASE, message }) => {
                    return Ok(Outcome::passed(candidate, ProblemKind::MissingBase, message));
                }
                done => return done,
            }
            attempt += 1;
        }
    }

    fn attempt(
        &self,
        sources: &dyn Store,
        candidate: &Candidate,
        progress: &mut dyn FnMut(Progressed<'_>),
        conflicts: &mut NameConflicts,
        earlier: &mut EarlierSteps,
    ) -> Result<Outcome> {
        let (path, options) = (&candidate.path, self.options);
        let unreadable = |error| Error::io(format!("cannot read {}", path.display()), error);
        let mut problems = Vec::new();
        let file = match &candidate.expanded {
            None => {
                let mut file = Opened::open(path).map_err(unreadable)?;
                file.document = candidate.dialect.is_document(path, &file.head);
                file
            }
            Some(expanded) => {
                let look = expanded.open(self.engine, sources, path, options.again)?;
                problems = look.problems;
                look.file
            }
        };
        let found = match source_state::look_up(sources, &file, &mut self.first_lines.borrow_mut())?
        {
            SourceState::Unchanged(source) | SourceState::Grown(source, _)
                if options.again && self.engine.has_deleted(&source)? =>
            {
                anew(&source)
            }
            SourceState::Unchanged(source) | SourceState::Grown(source, _)
                if source_state::lacks_base(self.engine, &source)? =>
            {
                anew(&source)
            }
            found => source_state::called(found, &file, candidate.title.as_deref())?,
        };
        let found = match self.unless_deleted(found)? {
            Ok(found) => found,
            Err(message) => {
                return Ok(Outcome::passed(candidate, ProblemKind::Deleted, message.to_owned()));
            }
        };
        let unchanged = matches!(found, SourceState::Unchanged(_));
        let mut facts = candidate.document_facts.clone();
        if let Some(title) = &candidate.title {
            facts.title = Some(title.clone());
        }
        let awaited = candidate.expanded.as_ref().and_then(ContainedSession::awaited_records);
        let awaited = awaited.cloned();
        let start =
            StartReading { engine: self.engine, sources, options, conflicts, facts, awaited };
        let mut reading = start.reading(file.described(), candidate.dialect, found)?;
        let start = Start { offset: reading.offset(), continued: reading.has_sessions() };
        let done = if unchanged { Ok(()) } else { reading.run(&file, options, progress) };
        let (input, records) = reading.into_parts();
        if let Err(error) = done {
            let found = input.into_problems();
            earlier.add(records.stored(), start, records.sessions(), &found);
            return Err(error);
        }
        let read = input.progress(String::new());
        self.first_lines.borrow_mut().add(file.first_line(), &file.seen, &read);
        Ok(Outcome::read(input, &records, start, std::mem::take(earlier), problems))
    }

    /// Returns the state from which the import of a file continues, or the reason not to import the
    /// file. A rewritten file whose first session was deleted is imported only if the options
    /// request the import of deleted sessions. A file that grew while one of its sessions is in the
    /// trash is not imported. Otherwise the import would skip new records of this session, and the
    /// session would lack them after it is restored from the trash.
    fn unless_deleted(&self, found: SourceState) -> Result<Result<SourceState, &'static str>> {
        if let SourceState::Grown(source, _) = &found {
            for session in &source.sessions {
                if self.engine.store().header(&session.id)?.is_in_trash() {
                    return Ok(Err("a session of the file is in the trash; nothing more is read \
                        until it is brought back or erased"));
                }
            }
        }
        let SourceState::New { earlier: Some(earlier), .. } = &found else {
            return Ok(Ok(found));
        };
        if source_state::lacks_base(self.engine, earlier)? {
            return Ok(Ok(unshared(found)));
        }
        if !self.options.again && self.engine.has_redacted(earlier)? {
            return Ok(Err(
                "an event of the file was redacted, and the file was rewritten since; \
                nothing of it is read",
            ));
        }
        let first = earlier.sessions.first();
        let gone = |id| Ok::<_, Error>(self.engine.store().header(id)?.deleted.is_some());
        if !first.map(|first| gone(&first.id)).transpose()?.unwrap_or(false) {
            return Ok(Ok(found));
        }
        let deleted = "the session of the file was deleted and stays so";
        Ok(if self.options.again { Ok(unshared(found)) } else { Err(deleted) })
    }
}

/// Returns the first of the files that no known agent wrote, without those that the problems name.
fn passed_over(unknown: Vec<Problem>, problems: &[Problem]) -> Vec<Problem> {
    let named: HashSet<&str> = problems.iter().map(|problem| &*problem.path).collect();
    let others = unknown.into_iter().filter(|file| !named.contains(&*file.path));
    others.take(PASSED_OVER).collect()
}

/// Removes the link to the file's earlier revision (the content before the rewrite) from the state.
/// The file then shares no records with that revision.
fn unshared(state: SourceState) -> SourceState {
    match state {
        SourceState::New { revision, latest, .. } => {
            SourceState::New { revision, latest, earlier: None }
        }
        state => state,
    }
}

/// Creates the state of a file that is read again from its beginning. The file shares no records
/// with its earlier import, `source`.
fn anew(source: &Source) -> SourceState {
    SourceState::New { revision: source.revision + 1, latest: Some(source.id), earlier: None }
}

/// Returns the outcome of a file. An error that concerns only this file becomes an outcome too,
/// unless the import has no other file.
fn unless_single(outcome: Result<Outcome>, all: &Overall) -> Result<Outcome> {
    match outcome {
        Err(error) if all.files > 1 && concerns_one_file(&error) => Ok(Outcome::Refused(error)),
        outcome => outcome,
    }
}

/// Checks whether an error concerns a single file and its sessions, and not the whole store. The
/// import then continues with the next file.
fn concerns_one_file(error: &Error) -> bool {
    match error {
        Error::Store(error) => !error.is_of_store(),
        Error::Cut { .. } | Error::Invalid { .. } => true,
        _ => false,
    }
}
