//! `import`: sessions from other agents' files, and `restore`: the files back (SPEC 11).
//!
//! A file is read once, in constant memory. Each step of some megabytes is written whole or not
//! at all, together with how far the file was read, so that an import that was stopped goes on
//! where it was, and growth of the file is read like the rest of it.

mod base;
mod batch;
mod begin;
mod blocks;
mod candidate;
mod child;
mod document;
mod expanded;
mod known;
mod lines;
mod names;
mod objects;
mod opened;
mod packed;
mod problems;
mod reading;
mod report;
mod restore;
mod route;
mod session;
mod start;
mod state;
mod step;
mod taken;
mod walk;
mod writer;

use std::path::{Path, PathBuf};

use forklore_model::workspace::Workspace;
use forklore_store::Error as StoreError;
use forklore_store::sources::{Source, Sources};

use self::candidate::Candidate;
use self::known::Known;
use self::opened::Opened;
pub use self::report::{ImportReport, ImportedFile, ImportedSession, Problem, ProblemKind};
pub use self::restore::Restored;
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
}

impl ImportOptions {
    /// Every dialect, and nothing that was deleted.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self { from: None, workspace, again: false }
    }
}

/// How far the import of a file is.
#[derive(Clone, Copy, Debug)]
pub struct Progressed<'a> {
    /// The file.
    pub path: &'a Path,
    /// Bytes read of it.
    pub done: u64,
    /// Its size.
    pub total: u64,
}

impl Engine {
    /// Imports files, and the files in folders that a dialect recognises, the oldest first.
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
        for candidate in self.candidates(paths, options, &mut report)? {
            self.import_file(sources, &candidate, options, progress, &mut report)?;
        }
        Ok(report)
    }

    pub(crate) fn sources(&self) -> Result<&dyn Sources> {
        let missing = || Error::Unsupported("this store keeps no imported files".into());
        self.sources.as_deref().ok_or_else(missing)
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
            known => known::called(known, &file, candidate.title.as_deref())?,
        };
        let unchanged = matches!(known, Known::Unchanged(_));
        let begin = start::Start { engine: self, sources, options, taken };
        let mut reading = begin.reading(&file, candidate.dialect, known)?;
        if let Some(title) = &candidate.title {
            reading.state.facts.title = Some(title.clone());
        }
        let before = reading.offset;
        if !unchanged {
            reading.run(&file, progress)?;
        }
        reading.into_report(before, report)?;
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
