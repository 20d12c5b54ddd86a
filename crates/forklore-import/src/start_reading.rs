//! Prepares the reading of one file from where the last import stopped.

use std::ops::RangeInclusive;

use forklore_core::agent_format::{AgentFormat, FileFacts};
use forklore_engine::{Engine, Result};
use forklore_sanitize::terminal;
use forklore_store::Store;
use forklore_store::sources::{Source, Target};
use sha2::{Digest, Sha256};

use crate::agent_file::AgentFile;
use crate::comparison::Comparison;
use crate::described::Described;
use crate::file_session::FileSession;
use crate::file_sessions::FileSessions;
use crate::input::Input;
use crate::lookup::Lookup;
use crate::name_conflicts::NameConflicts;
use crate::options::ImportOptions;
use crate::output::Output;
use crate::position::Position;
use crate::problems::Problems;
use crate::reading::Reading;
use crate::records::Records;
use crate::report::ProblemKind;
use crate::resume_state::ResumeState;
use crate::source_state::SourceState;

/// Everything that is needed to begin or continue the import of one file.
pub(crate) struct StartReading<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) sources: &'a dyn Store,
    pub(crate) options: &'a ImportOptions,
    pub(crate) conflicts: &'a mut NameConflicts,
    /// Facts about the file's session that the agent stores outside of the file.
    pub(crate) facts: FileFacts,
    /// The ids of the records that the agent will store as the history of a new session.
    pub(crate) awaited: Option<RangeInclusive<String>>,
}

/// Where the import of a file begins to read, and with which state.
struct StartPoint {
    target: Target,
    position: Position,
    state: ResumeState,
    sessions: Vec<FileSession>,
}

impl<'a> StartReading<'a> {
    /// Creates a [`Reading`] of the file. It continues from the state `found` that the store has of
    /// the file.
    pub(crate) fn reading(
        self,
        file: Described<'_>,
        dialect: &'static dyn AgentFormat,
        found: SourceState,
    ) -> Result<Reading<'a>> {
        let mut problems = Problems::of(&file.seen.path);
        let (from, format) = match self.unless_original_is_gone(found)? {
            SourceState::Unchanged(source) => self.after(source, Sha256::new(), dialect)?,
            SourceState::Grown(source, hash) => self.after(source, hash, dialect)?,
            SourceState::New { revision, latest, earlier } => {
                if revision > 0 && !self.options.again {
                    let message = "the file was rewritten; it is read as a new revision";
                    problems.add(1, 0, ProblemKind::Rewritten, message);
                    let path = terminal::line(&file.seen.path);
                    tracing::warn!(%path, revision, "a file was rewritten: reads a new revision");
                }
                let target = Target::New {
                    dialect: dialect.name().to_owned(),
                    revision,
                    first_line: file.first_line,
                    latest,
                };
                let comparison = earlier.map(|earlier| Comparison::of(revision, earlier.id));
                let mut state = ResumeState::compared(comparison);
                state.awaited.clone_from(&self.awaited);
                let position = Position::after(0, Sha256::new());
                (StartPoint { target, position, state, sessions: Vec::new() }, dialect)
            }
        };
        let StartPoint { target, position, mut state, sessions } = from;
        let reader = format.reader(file.path, state.reader.as_deref());
        let input = Input::new(reader, position, state.lines, state.in_long_line, problems)
            .with_unfinished(state.unfinished);
        let mut facts = std::mem::take(&mut state.facts);
        facts.learn(self.facts);
        let agent_file = AgentFile::of(file, format, facts);
        self.conflicts.start_again();
        let sessions = FileSessions::new(sessions, self.conflicts);
        let (engine, sources) = (self.engine, self.sources);
        let output = Output::new(engine, sources, target);
        let lookup = Lookup { engine, sources, format };
        let records = Records::new(lookup, self.options, agent_file, sessions, state, output);
        Ok(Reading::new(input, records))
    }

    /// Returns the position and the state at which the last import of a file stopped, and the
    /// file's format. `hash` is the sha256 state of the bytes before that position.
    fn after(
        &self,
        source: Source,
        hash: Sha256,
        dialect: &'static dyn AgentFormat,
    ) -> Result<(StartPoint, &'static dyn AgentFormat)> {
        let mut sessions = Vec::new();
        for session in source.sessions {
            let header = self.engine.store().header(&session.id)?;
            sessions.push(FileSession::stored(&header, session.events));
        }
        let target = Target::State { id: source.id, offset: source.read.offset };
        let position = Position::after(source.read.offset, hash);
        let state = ResumeState::read(&source.read.state);
        let format = self.engine.agent_formats().named(&source.dialect).unwrap_or(dialect);
        Ok((StartPoint { target, position, state, sessions }, format))
    }

    /// Makes an import read a copied file again from its beginning if the original session was
    /// deleted. Changes the state `found` to `New` for this, and otherwise returns it unchanged.
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
}
