//! `import`: sessions from other agents' files, and `restore`: the files back (SPEC 11).
//!
//! A file is read once, in constant memory. Each step of some megabytes is written whole or not
//! at all, together with how far the file was read, so that an import that was stopped goes on
//! where it was, and growth of the file is read like the rest of it.

mod base;
mod base_files;
mod batch;
mod begin;
mod beside;
mod blocks;
mod caller;
mod candidate;
mod checked;
mod child;
mod copies;
mod document;
mod expanded;
mod files;
mod keep;
mod known;
mod lines;
mod links;
mod names;
mod objects;
mod opened;
mod packed;
mod problems;
mod progress;
mod reading;
mod report;
mod restore;
mod route;
mod seen;
mod session;
mod spelled;
mod spread;
mod start;
mod state;
mod step;
mod survey;
mod taken;
mod unchanged;
mod walk;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forklore_core::workspace::Workspace;
use forklore_store::Error as StoreError;
use forklore_store::sources::{Source, Sources};

use self::candidate::Candidate;
pub use self::files::SessionFile;
use self::keep::Keeping;
pub(crate) use self::keep::is_erased;
use self::known::Known;
use self::opened::Opened;
pub use self::progress::{Overall, Progressed};
pub use self::report::{
    FilesBeside, ImportReport, ImportedFile, ImportedSession, KeptFile, Problem, ProblemKind,
};
pub use self::restore::Restored;
pub use self::survey::Survey;
use self::taken::Taken;
use crate::{Engine, Error, Result};

/// How often a file is begun anew because somebody else was faster.
const ATTEMPTS: usize = 20;

/// How files are to be imported.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// Whose files they are; none asks every dialect.
    pub from: Option<String>,
    /// The folder for sessions whose file names none.
    pub workspace: Workspace,
    /// Import sessions that were deleted here once more, under new ids.
    pub again: bool,
    /// The files were found, not named by a person: one that is nobody's session is no problem.
    pub found: bool,
    /// Ends the import once it is set. What was written until then stays, and the next import
    /// goes on from there.
    pub stop: Arc<AtomicBool>,
}

impl ImportOptions {
    /// Every dialect, and nothing that was deleted.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self { from: None, workspace, again: false, found: false, stop: Arc::default() }
    }

    /// Whether the import was told to end.
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Engine {
    /// Imports files, and the files in folders that a dialect recognises, the oldest first, and
    /// keeps those that lie beside them.
    /// Known files are read on from where they stood. A problem of one file stops no other
    /// (SPEC 11).
    ///
    /// # Errors
    /// `unsupported` when the store keeps no sources, `invalid_args` for an unknown dialect, and
    /// failures of the store. What is wrong with a file is in the report.
    pub fn import(
        &self,
        paths: &[PathBuf],
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progressed<'_>),
    ) -> Result<ImportReport> {
        let sources = self.sources()?;
        let mut report = ImportReport::default();
        let (candidates, besides) = self.candidates(sources, paths, options, &mut report)?;
        let sizes = candidates.iter().map(|it| it.size).chain(besides.iter().map(|it| it.size));
        let mut all = Overall {
            files: (candidates.len() + besides.len()) as u64,
            bytes: sizes.sum(),
            ..Overall::default()
        };
        for candidate in &candidates {
            if options.is_stopped() {
                break;
            }
            let mut tell = |file: Progressed<'_>| progress(file.within(&all, candidate.size));
            match self.import_file(sources, candidate, options, &mut tell, &mut report) {
                // With a single file there is nobody else to go on with.
                Err(error) if all.files > 1 && concerns_one_file(&error) => {
                    report.refused(&candidate.path, &error);
                }
                done => done?,
            }
            all.files_done += 1;
            all.bytes_done += candidate.size;
        }
        let mut keeping = Keeping::new(self, sources, options);
        for beside in &besides {
            if options.is_stopped() {
                break;
            }
            let mut tell = |file: Progressed<'_>| progress(file.within(&all, beside.size));
            match keeping.keep(beside, &mut tell, &mut report) {
                Err(error) if all.files > 1 && concerns_one_file(&error) => {
                    report.refused(&beside.path, &error);
                }
                done => done?,
            }
            all.files_done += 1;
            all.bytes_done += beside.size;
        }
        Ok(report)
    }

    pub(crate) fn sources(&self) -> Result<&dyn Sources> {
        if self.store.capabilities().sources {
            return Ok(self.store());
        }
        Err(Error::Unsupported("this store keeps no imported files".into()))
    }

    /// Imports one file, anew as often as somebody else was faster or a name turned out taken.
    fn import_file(
        &self,
        sources: &dyn Sources,
        candidate: &Candidate,
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progressed<'_>),
        report: &mut ImportReport,
    ) -> Result<()> {
        let mut taken = Taken::default();
        let mut attempt = 1;
        loop {
            let done = self.attempt(sources, candidate, options, progress, &mut taken, report);
            match done {
                Err(Error::Store(StoreError::IdTaken(id))) if attempt < ATTEMPTS => {
                    taken.ids.insert(id);
                }
                Err(Error::Store(StoreError::LabelTaken { label, .. })) if attempt < ATTEMPTS => {
                    taken.labels.insert(label);
                }
                Err(Error::Store(StoreError::Stale { .. } | StoreError::Conflict { .. }))
                    if attempt < ATTEMPTS => {}
                Err(Error::Io { doing, source }) => {
                    let message = format!("{doing}: {source}");
                    let kind = ProblemKind::Unreadable;
                    report.problems.push(Problem::of_file(&candidate.path, kind, message));
                    report.skipped += 1;
                    return Ok(());
                }
                Err(Error::Invalid { reason: base::MISSING_BASE, message }) => {
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
        sources: &dyn Sources,
        candidate: &Candidate,
        options: &ImportOptions,
        progress: &mut dyn FnMut(Progressed<'_>),
        taken: &mut Taken,
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
                let look = expanded.open(self, sources, path, options.again)?;
                problems = look.problems;
                look.file
            }
        };
        let known = match known::look_up(sources, &file)? {
            Known::Unchanged(source) | Known::Grown(source, _)
                if options.again && self.has_deleted(&source)? =>
            {
                Known::New { revision: source.revision + 1, latest: Some(source.id) }
            }
            Known::Unchanged(source) | Known::Grown(source, _)
                if known::lacks_base(self, &source)? =>
            {
                Known::New { revision: source.revision + 1, latest: Some(source.id) }
            }
            known => known::called(known, &file, candidate.title.as_deref())?,
        };
        let unchanged = matches!(known, Known::Unchanged(_));
        let begin = start::Start { engine: self, sources, options, taken };
        let mut reading = begin.reading(&file, candidate.dialect, known)?;
        reading.state.facts.learn(candidate.beside.clone());
        if let Some(title) = &candidate.title {
            reading.state.facts.title = Some(title.clone());
        }
        let before = reading.offset;
        if !unchanged {
            reading.run(&file, progress)?;
        }
        reading.into_report(candidate.brought, before, report)?;
        report.problems.append(&mut problems);
        Ok(())
    }

    fn has_deleted(&self, source: &Source) -> Result<bool> {
        for session in &source.sessions {
            if self.store().header(&session.id)?.deleted.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether the failure is one of a file and the sessions read from it, not one of the store.
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
