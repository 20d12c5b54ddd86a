//! Imports session files, each from the byte where its last import stopped, and then sidecar files.

use std::path::PathBuf;

use forklore_engine::sources::path_text;
use forklore_engine::{Engine, Error, Result};
use forklore_sanitize::terminal;
use forklore_store::Error as StoreError;
use forklore_store::Store;
use forklore_store::sources::Source;

use crate::candidate::Candidate;
use crate::continued_from::MISSING_BASE;
use crate::discovery::{Discovered, Discovery};
use crate::name_conflicts::NameConflicts;
use crate::named_paths::NamedPaths;
use crate::opened::Opened;
use crate::options::{ATTEMPTS, ImportOptions};
use crate::progress::{Overall, Progressed};
use crate::report::{ImportReport, OfFile as _, Problem, ProblemKind};
use crate::report_read;
use crate::sidecar_store::SidecarStore;
use crate::source_state::{self, SourceState};
use crate::start_reading::StartReading;

/// Imports the session files of agents into the store of an engine.
#[derive(Clone, Copy)]
pub struct Importer<'e> {
    pub(crate) engine: &'e Engine,
}

impl<'e> Importer<'e> {
    /// Creates an importer for the store of `engine`. It supports the same agent formats and
    /// container files (files with several sessions) as the engine.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }

    /// Imports the given session files, and the session files in the given folders, oldest first.
    /// Then imports their sidecar files, which agents store next to session files. A file that was
    /// imported before is read from the byte where that import stopped. A problem in one file does
    /// not stop the import of the others (docs/semantics.md, Sources). The report names the given
    /// paths that gave no session ([`ImportReport::failed`]).
    ///
    /// # Errors
    /// `unsupported` if the store does not support sources, `invalid_args` if the options name an
    /// unknown agent format, and failures of the store. Problems of a file are in the report. If
    /// the import has a single file and the import refuses it, that error is returned instead.
    pub fn import(
        &self,
        paths: &[PathBuf],
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<ImportReport> {
        let sources = self.engine.sources()?;
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
        for candidate in &candidates {
            if options.is_stopped() {
                break;
            }
            let mut tell = |file: Progressed<'_>| progress(file.within(&all, candidate.size));
            match self.import_file(sources, candidate, options, &mut tell, &mut report) {
                // A single file is the whole import, so its error is the error of the import.
                Err(error) if all.files > 1 && concerns_one_file(&error) => {
                    report.refused(&candidate.path, &error);
                }
                done => done?,
            }
            all.files_done += 1;
            all.bytes_done += candidate.size;
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
        Ok(report)
    }

    /// Imports one file. Tries again if another writer changed the store meanwhile, or if a chosen
    /// id or label is in use. Makes up to [`ATTEMPTS`] attempts in total.
    fn import_file(
        &self,
        sources: &dyn Store,
        candidate: &Candidate,
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progressed<'_>),
        report: &mut ImportReport,
    ) -> Result<()> {
        let mut conflicts = NameConflicts::default();
        let mut attempt = 1;
        loop {
            let done = self.attempt(sources, candidate, options, progress, &mut conflicts, report);
            match done {
                Err(Error::Store(StoreError::IdInUse(id))) if attempt < ATTEMPTS => {
                    conflicts.refuse_id(id);
                }
                Err(Error::Store(StoreError::LabelInUse { label, .. })) if attempt < ATTEMPTS => {
                    conflicts.refuse_label(label);
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
                    let kind = ProblemKind::Unreadable;
                    report.problems.push(Problem::of_file(&candidate.path, kind, message));
                    report.skipped += 1;
                    return Ok(());
                }
                Err(Error::Invalid { reason: MISSING_BASE, message }) => {
                    let kind = ProblemKind::MissingBase;
                    report.problems.push(Problem::of_file(&candidate.path, kind, message));
                    report.skipped += 1;
                    return Ok(());
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
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progressed<'_>),
        conflicts: &mut NameConflicts,
        report: &mut ImportReport,
    ) -> Result<()> {
        let path = &candidate.path;
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
        let found = match source_state::look_up(sources, &file)? {
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
        let found = match self.unless_deleted(found, options)? {
            Some(found) => found,
            None => {
                let message = "the session of the file was deleted and stays so";
                let kind = ProblemKind::Deleted;
                report.problems.push(Problem::of_file(path, kind, message.to_owned()));
                report.skipped += 1;
                return Ok(());
            }
        };
        let unchanged = matches!(found, SourceState::Unchanged(_));
        let mut facts = candidate.document_facts.clone();
        if let Some(title) = &candidate.title {
            facts.title = Some(title.clone());
        }
        let start = StartReading { engine: self.engine, sources, options, conflicts, facts };
        let mut reading = start.reading(&file, candidate.dialect, found)?;
        let before = reading.offset();
        if !unchanged {
            reading.run(&file, options, progress)?;
        }
        let (input, records) = reading.into_parts();
        report_read::report(self.engine, input, &records, before, candidate.brought, report)?;
        report.problems.append(&mut problems);
        Ok(())
    }
}

impl Importer<'_> {
    /// Returns the state from which the import of a file continues. Returns `None` for a rewritten
    /// file whose first session was deleted, unless the options request the import of deleted
    /// sessions.
    fn unless_deleted(
        &self,
        found: SourceState,
        options: &ImportOptions,
    ) -> Result<Option<SourceState>> {
        let SourceState::New { earlier: Some(earlier), .. } = &found else {
            return Ok(Some(found));
        };
        if source_state::lacks_base(self.engine, earlier)? {
            return Ok(Some(unshared(found)));
        }
        let first = earlier.sessions.first();
        let gone = |id| Ok::<_, Error>(self.engine.store().header(id)?.deleted.is_some());
        if !first.map(|first| gone(&first.id)).transpose()?.unwrap_or(false) {
            return Ok(Some(found));
        }
        Ok(options.again.then(|| unshared(found)))
    }
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

/// Checks whether an error concerns a single file and its sessions, and not the whole store. The
/// import then continues with the next file.
fn concerns_one_file(error: &Error) -> bool {
    match error {
        Error::Store(
            StoreError::Locked(_)
            | StoreError::Denied(_)
            | StoreError::Unsupported(_)
            | StoreError::Poisoned { .. }
            | StoreError::Io { .. }
            | StoreError::Corrupt { session: None, .. },
        ) => false,
        Error::Store(_) | Error::Cut { .. } | Error::Invalid { .. } => true,
        _ => false,
    }
}
