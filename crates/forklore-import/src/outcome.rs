//! What became of each session file of an import. The report is made after the last file, because
//! the store then has all sessions.

use forklore_engine::{Engine, Error, Result};
use forklore_sanitize::terminal;

use crate::candidate::Candidate;
use crate::earlier_steps::{EarlierSteps, Start};
use crate::file_session::{FileSession, Following};
use crate::input::Input;
use crate::records::Records;
use crate::report::{
    ImportReport, ImportedFile, ImportedSession, OfFile as _, OfSession as _, Problem, ProblemKind,
    deleted_sessions,
};

/// What became of one session file.
pub(crate) enum Outcome {
    /// The file was read.
    Read(Box<ReadFile>),
    /// The file was not imported, for this reason.
    Passed(Problem),
    /// The file was not imported, because of this error.
    Refused(Error),
}

/// A file that was read, and its sessions.
pub(crate) struct ReadFile {
    file: ImportedFile,
    dialect: &'static str,
    sessions: Vec<FileSession>,
    problems: Vec<Problem>,
    /// What this import stored of the file apart from its last step.
    before_last_step: EarlierSteps,
}

impl Outcome {
    pub(crate) fn passed(candidate: &Candidate, kind: ProblemKind, message: String) -> Self {
        Self::Passed(Problem::of_file(&candidate.path, kind, message))
    }

    /// Creates the outcome of a file that was read from `start`. `earlier` is what earlier attempts
    /// of this import stored of the file. `further` are problems found before its records were
    /// read.
    pub(crate) fn read(
        mut input: Input,
        records: &Records<'_>,
        start: Start,
        earlier: EarlierSteps,
        further: Vec<Problem>,
    ) -> Self {
        let mut sessions = records.sessions().to_vec();
        let deleted = sessions.iter().filter(|session| is_deleted(session)).count();
        if deleted > 0 {
            let message = deleted_sessions(deleted);
            input.problem(ProblemKind::Deleted, &message);
        }
        let living = sessions.iter().filter(|session| !is_deleted(session));
        let file = ImportedFile {
            path: records.file().path().to_owned(),
            first: sessions.first().map(|first| first.id.clone()),
            leaf: records.leaf().map(|leaf| leaf.id.clone()),
            sessions: living.map(|session| session.id.clone()).collect(),
            bytes: input.offset() - start.offset + earlier.bytes(),
            continued: earlier.continued().unwrap_or(start.continued),
            brought: false,
        };
        let dialect = records.file().format().name();
        let found = input.into_problems();
        let mut before_last_step = earlier.clone();
        before_last_step.add(records.before_last(), start, &sessions, &found);
        for session in &mut sessions {
            session.appended += earlier.appended(&session.id);
        }
        let mut problems = earlier.into_problems();
        problems.extend(found);
        problems.extend(further);
        Self::Read(Box::new(ReadFile { file, dialect, sessions, problems, before_last_step }))
    }

    /// Returns what this import stored of the file apart from its last step.
    pub(crate) fn before_last_step(&self) -> EarlierSteps {
        match self {
            Self::Read(read) => read.before_last_step.clone(),
            Self::Passed(_) | Self::Refused(_) => EarlierSteps::default(),
        }
    }

    /// Adds the file to the report.
    pub(crate) fn report(
        self,
        engine: &Engine,
        candidate: &Candidate,
        report: &mut ImportReport,
    ) -> Result<()> {
        match self {
            Self::Read(mut read) => {
                read.file.brought = candidate.brought;
                read.report(engine, report)?;
            }
            Self::Passed(problem) => {
                report.problems.push(problem);
                report.skipped += 1;
            }
            Self::Refused(error) => report.refused(&candidate.path, &error),
        }
        Ok(())
    }
}

impl ReadFile {
    fn report(self, engine: &Engine, report: &mut ImportReport) -> Result<()> {
        let Self { mut file, dialect, sessions, problems, .. } = self;
        report.problems.extend(problems);
        if file.sessions.is_empty() {
            report.skipped += 1;
            file.first = None;
        } else {
            report.files += 1;
        }
        if sessions.is_empty() {
            return Ok(());
        }
        for session in sessions.iter().filter(|session| !is_deleted(session)) {
            let header = engine.store().header(&session.id)?;
            report.sessions.push(ImportedSession::of(dialect, session, header));
        }
        if file.bytes > 0 {
            tracing::info!(
                path = %terminal::line(&file.path),
                dialect,
                sessions = file.sessions.len(),
                events = sessions.iter().map(|session| session.appended).sum::<u64>(),
                bytes = file.bytes,
                "imported a file",
            );
        }
        report.sources.push(file);
        Ok(())
    }
}

fn is_deleted(session: &FileSession) -> bool {
    session.following == Following::Deleted
}
