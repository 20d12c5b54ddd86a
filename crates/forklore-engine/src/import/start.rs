//! The reading of one file: how it begins, and what it came to.

use forklore_core::agent_format::AgentFormat;
use forklore_store::sources::{Sources, Target};
use sha2::{Digest, Sha256};

use super::ImportOptions;
use super::batch::Batch;
use super::known::Known;
use super::opened::Opened;
use super::problems::Problems;
use super::reading::Reading;
use super::report::{ImportReport, ImportedFile, ImportedSession, ProblemKind};
use super::session::{FileSession, Standing};
use super::state::State;
use super::taken::Taken;
use crate::{Engine, Result};

/// What every file is read with.
pub(super) struct Start<'a> {
    pub(super) engine: &'a Engine,
    pub(super) sources: &'a dyn Sources,
    pub(super) options: &'a ImportOptions,
    pub(super) taken: &'a mut Taken,
}

impl<'a> Start<'a> {
    /// The reading of a file from where it stood.
    pub(super) fn reading(
        self,
        file: &Opened,
        dialect: &'static dyn AgentFormat,
        known: Known,
    ) -> Result<Reading<'a>> {
        let mut problems = Problems::of(&file.seen.path);
        self.taken.made.clear();
        let known = self.unless_original_is_gone(known)?;
        let (source, hash) = match known {
            Known::Unchanged(source) => (source, Sha256::new()),
            Known::Grown(source, hash) => (source, hash),
            Known::New { revision, latest } => {
                if revision > 0 && !self.options.again {
                    let message = "the file was rewritten; it is read as a new revision";
                    problems.add(1, 0, ProblemKind::Rewritten, message);
                }
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
                    Sha256::new(),
                    State::default(),
                ));
            }
        };
        let dialect = self.engine.dialects().named(&source.dialect).unwrap_or(dialect);
        let target = Target::Known { id: source.id, offset: source.read.offset };
        let state = State::read(&source.read.state);
        let engine = self.engine;
        let mut reading = self.at(file, dialect, target, problems, hash, state);
        reading.source = Some(source.id);
        reading.offset = source.read.offset;
        for session in source.sessions {
            let header = engine.store().header(&session.id)?;
            reading.sessions.push(FileSession::stored(&header, session.events));
        }
        Ok(reading)
    }

    /// A file that was being compared with a session that was deleted since begins anew.
    fn unless_original_is_gone(&self, known: Known) -> Result<Known> {
        let Known::Grown(source, _) = &known else { return Ok(known) };
        let Some(copying) = State::read(&source.read.state).copying else { return Ok(known) };
        let header = self.engine.store().header(copying.session())?;
        if header.deleted.is_none() {
            return Ok(known);
        }
        Ok(Known::New { revision: source.revision + 1, latest: Some(source.id) })
    }

    fn at(
        self,
        file: &Opened,
        dialect: &'static dyn AgentFormat,
        target: Target,
        problems: Problems,
        hash: Sha256,
        state: State,
    ) -> Reading<'a> {
        let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Reading {
            engine: self.engine,
            sources: self.sources,
            options: self.options,
            dialect,
            name: dialect.name().into(),
            reader: dialect.reader(&file.path, state.reader.as_deref()),
            seen: file.seen.clone(),
            stem,
            file_time: file.time(),
            target,
            source: None,
            sessions: Vec::new(),
            state,
            batch: Batch::default(),
            hash,
            offset: 0,
            inside: None,
            problems,
            writer: None,
            taken: self.taken,
            tip: None,
            original: None,
        }
    }
}

impl Reading<'_> {
    /// Adds what the reading came to; it began at byte `before`.
    pub(super) fn into_report(
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
        let deleted = self.sessions.iter().filter(|s| s.standing == Standing::Deleted).count();
        if deleted > 0 {
            let message = format!("{deleted} sessions of the file were deleted and stay so");
            self.problem(ProblemKind::Deleted, &message);
        }
        let mut file = ImportedFile {
            path: self.seen.path.clone(),
            first: None,
            leaf: self.leaf(),
            sessions: Vec::new(),
            bytes: self.offset - before,
            brought,
        };
        for session in self.sessions.iter().filter(|s| s.standing != Standing::Deleted) {
            let header = self.engine.store().header(&session.id)?;
            file.sessions.push(session.id.clone());
            report.sessions.push(ImportedSession::of(self.dialect.name(), session, header));
        }
        if file.sessions.is_empty() {
            report.skipped += 1;
        } else {
            report.files += 1;
            file.first = self.session(0).map(|first| first.id.clone());
        }
        report.sources.push(file);
        report.problems.extend(self.problems.into_list());
        Ok(())
    }
}
