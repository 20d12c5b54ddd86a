//! Starts the reading of one file, and reports its result.

use forklore_core::agent_format::AgentFormat;
use forklore_engine::{Engine, Result};
use forklore_sanitize::terminal;
use forklore_store::sources::{Sources, Target};
use sha2::{Digest, Sha256};

use crate::ImportOptions;
use crate::batch::Batch;
use crate::file_identity::FileIdentity;
use crate::file_session::{FileSession, Following};
use crate::name_conflicts::NameConflicts;
use crate::opened::Opened;
use crate::position::Position;
use crate::problems::Problems;
use crate::reading::Reading;
use crate::report::{ImportReport, ImportedFile, ImportedSession, ProblemKind};
use crate::resume_state::ResumeState;
use crate::revision::Comparison;
use crate::source_state::SourceState;

/// What the reading of every file needs.
pub(crate) struct Start<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) sources: &'a dyn Sources,
    pub(crate) options: &'a ImportOptions,
    pub(crate) conflicts: &'a mut NameConflicts,
}

impl<'a> Start<'a> {
    /// Creates the reading of a file, from where the last import stopped.
    pub(crate) fn reading(
        self,
        file: &Opened,
        dialect: &'static dyn AgentFormat,
        found: SourceState,
    ) -> Result<Reading<'a>> {
        let mut problems = Problems::of(&file.seen.path);
        self.conflicts.made.clear();
        let found = self.unless_original_is_gone(found)?;
        let (source, hash) = match found {
            SourceState::Unchanged(source) => (source, Sha256::new()),
            SourceState::Grown(source, hash) => (source, hash),
            SourceState::New { revision, latest, earlier } => {
                if revision > 0 && !self.options.again {
                    let message = "the file was rewritten; it is read as a new revision";
                    problems.add(1, 0, ProblemKind::Rewritten, message);
                    let path = terminal::line(&file.seen.path);
                    tracing::warn!(%path, revision, "a file was rewritten: reads a new revision");
                }
                let comparison = earlier.map(|earlier| Comparison::of(revision, earlier.id.0));
                let target = Target::New {
                    dialect: dialect.name().to_owned(),
                    revision,
                    first_line: file.first_line(),
                    latest,
                };
                return Ok(self.at(
                    file,
                    dialect,
                    target,
                    problems,
                    Position::after(0, Sha256::new()),
                    ResumeState { comparison, ..ResumeState::default() },
                ));
            }
        };
        let dialect = self.engine.agent_formats().named(&source.dialect).unwrap_or(dialect);
        let target = Target::State { id: source.id, offset: source.read.offset };
        let state = ResumeState::read(&source.read.state);
        let engine = self.engine;
        let position = Position::after(source.read.offset, hash);
        let mut reading = self.at(file, dialect, target, problems, position, state);
        reading.source = Some(source.id);
        for session in source.sessions {
            let header = engine.store().header(&session.id)?;
            reading.sessions.push(FileSession::stored(&header, session.events));
        }
        Ok(reading)
    }

    /// Starts a file again from its beginning if it was compared with a session that has since been
    /// deleted.
    fn unless_original_is_gone(&self, found: SourceState) -> Result<SourceState> {
        let SourceState::Grown(source, _) = &found else { return Ok(found) };
        let Some(copying) = ResumeState::read(&source.read.state).copying else { return Ok(found) };
        let header = self.engine.store().header(copying.session())?;
        if header.deleted.is_none() {
            return Ok(found);
        }
        let (revision, latest) = (source.revision + 1, Some(source.id));
        Ok(SourceState::New { revision, latest, earlier: None })
    }

    fn at(
        self,
        file: &Opened,
        dialect: &'static dyn AgentFormat,
        target: Target,
        problems: Problems,
        position: Position,
        state: ResumeState,
    ) -> Reading<'a> {
        Reading {
            engine: self.engine,
            sources: self.sources,
            options: self.options,
            file: FileIdentity::of(file, dialect),
            reader: dialect.reader(&file.path, state.reader.as_deref()),
            target,
            source: None,
            sessions: Vec::new(),
            state,
            batch: Batch::default(),
            position,
            problems,
            writer: None,
            conflicts: self.conflicts,
            tip: None,
            original: None,
            earlier: None,
        }
    }
}

impl Reading<'_> {
    /// Adds the result of the reading, which started at byte `before`, to the report.
    pub(crate) fn into_report(
        mut self,
        brought: bool,
        before: u64,
        report: &mut ImportReport,
    ) -> Result<()> {
        if self.sessions.is_empty() {
            report.skipped += 1;
            report.problems.extend(self.problems.into_list());
            return Ok(());
        }
        let deleted = self.sessions.iter().filter(|s| s.following == Following::Deleted).count();
        if deleted > 0 {
            let message = format!("{deleted} sessions of the file were deleted and stay so");
            self.problem(ProblemKind::Deleted, &message);
        }
        let mut file = ImportedFile {
            path: self.file.seen.path.clone(),
            first: None,
            leaf: self.leaf(),
            sessions: Vec::new(),
            bytes: self.position.offset() - before,
            brought,
        };
        for session in self.sessions.iter().filter(|s| s.following != Following::Deleted) {
            let header = self.engine.store().header(&session.id)?;
            file.sessions.push(session.id.clone());
            report.sessions.push(ImportedSession::of(self.file.format.name(), session, header));
        }
        if file.sessions.is_empty() {
            report.skipped += 1;
        } else {
            report.files += 1;
            file.first = self.session(0).map(|first| first.id.clone());
        }
        if file.bytes > 0 {
            tracing::info!(
                path = %terminal::line(&file.path),
                dialect = self.file.format.name(),
                sessions = file.sessions.len(),
                events = self.sessions.iter().map(|session| session.appended).sum::<u64>(),
                bytes = file.bytes,
                "imported a file",
            );
        }
        report.sources.push(file);
        report.problems.extend(self.problems.into_list());
        Ok(())
    }
}
