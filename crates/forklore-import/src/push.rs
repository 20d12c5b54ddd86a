//! Imports lines that a program passes on, instead of writing them to a file.
//!
//! The lines are stored as those of a file at a path that no disk has: the same events, and the same
//! bytes to restore. The store has what a push needs to continue.

use std::path::Path;

use forklore_core::agent_format::{AgentFormat, FileFacts};
use forklore_core::workspace::Workspace;
use forklore_engine::{Error, Result};
use forklore_store::Error as StoreError;
use forklore_store::sources::{SeenFile, Source};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::described::Described;
use crate::discovery;
use crate::importer::Importer;
use crate::lookup::Lookup;
use crate::name_conflicts::NameConflicts;
use crate::opened::first_line_key;
use crate::options::ImportOptions;
use crate::pushed_file::{PushedFork, folder_name, is_living};
use crate::pushed_lines::{Pushed, PushedLine, checked, new_lines};
use crate::pushed_state::PushedState;
use crate::reading::Reading;
use crate::resume_state::ResumeState;
use crate::source_state::{self, SourceState};
use crate::start_reading::StartReading;

/// Maximum number of attempts to store pushed lines. Each attempt that fails because of another
/// writer is one that let that writer go on.
const ATTEMPTS: usize = 1_000;

/// Maximum number of attempts during which another process has the store locked, each for as long as
/// the store waits.
const LOCKED: usize = 5;

/// The file to which a program passes lines on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushTo {
    /// The name of the agent format of the lines.
    pub agent: String,
    /// The path of the file. It has the form of the paths of the agent's files, and no file of a
    /// disk has it.
    pub path: String,
    /// The name under which [`Importer::pushed_in`] lists the file.
    pub folder: String,
    /// For the file of a sub-agent, the path of the file whose session called the sub-agent.
    pub caller: Option<String>,
    /// The workspace of a session whose lines name no directory.
    pub workspace: Workspace,
    /// The present time, in nanoseconds since the Unix epoch.
    pub now: i64,
}

/// What a note is made from: a text about a file that the next push gets back.
#[derive(Clone, Copy, Debug)]
pub struct NoteOn<'n> {
    /// The note of the last push; `None` if there is none that describes the whole file.
    pub before: Option<&'n str>,
    /// Whether the file has no lines yet.
    pub is_new: bool,
    /// The indexes of the lines that the file does not have yet, among those that were passed on.
    pub fresh: &'n [usize],
}

/// Makes the note of a push.
pub type Note<'n> = &'n mut dyn FnMut(NoteOn<'_>) -> Result<Option<String>>;

/// Everything that the attempts of one push share.
struct Push<'a> {
    importer: Importer<'a>,
    to: &'a PushTo,
    format: &'static dyn AgentFormat,
    options: ImportOptions,
    title: Option<String>,
    /// The agent's id of the session that is forked, if the file is to be a fork.
    fork_of: Option<String>,
    /// Whether to create the session of a file without lines.
    begin: bool,
    lines: Vec<PushedLine>,
    conflicts: NameConflicts,
}

impl Importer<'_> {
    /// Adds lines to a file that exists only in the store, as one transaction. (Branches that begin
    /// inside the file divide it into several.) Lines that the store has are left out. Returns the
    /// number of lines that were added. `note` is called before each attempt.
    ///
    /// # Errors
    /// `unsupported` if the store does not support sources, `invalid_args` if a line is no JSON
    /// object or the agent is unknown, `conflict` if the session is in use for too long, the errors
    /// of `note`, and failures of the store. After an error, the lines can be passed on again.
    pub fn push(&self, to: &PushTo, lines: Vec<Pushed>, note: Note<'_>) -> Result<usize> {
        let lines = checked(lines)?;
        if lines.is_empty() {
            return Ok(0);
        }
        self.new_push(to, lines)?.run(note)
    }

    /// Creates a fork of a session as the session of a file that exists only in the store. The file
    /// does not repeat the history, so the time does not depend on its length. Lines that are
    /// pushed to the file become events of the fork.
    ///
    /// # Errors
    /// `invalid_args` if there is nothing to fork or the file exists, and the errors of
    /// [`push`](Self::push).
    pub fn push_fork(
        &self,
        to: &PushTo,
        from: PushedFork,
        title: Option<String>,
        note: Option<&str>,
    ) -> Result<()> {
        let mut push = self.new_push(to, Vec::new())?;
        push.options.written_from = Some(from.from);
        (push.title, push.begin, push.fork_of) = (title, true, Some(from.native_id));
        push.run(&mut |_| Ok(note.map(str::to_owned))).map(|_| ())
    }

    /// Creates the session of a file without events, so that the file can be deleted with it.
    ///
    /// # Errors
    /// The errors of [`push`](Self::push).
    pub fn push_session(&self, to: &PushTo) -> Result<()> {
        let mut push = self.new_push(to, Vec::new())?;
        push.begin = true;
        push.run(&mut |note| Ok(note.before.map(str::to_owned))).map(|_| ())
    }

    fn new_push<'a>(&'a self, to: &'a PushTo, lines: Vec<PushedLine>) -> Result<Push<'a>> {
        self.engine.sources()?;
        Ok(Push {
            importer: *self,
            to,
            format: discovery::format_named(self.engine, &to.agent)?,
            options: ImportOptions::in_workspace(to.workspace.clone()),
            title: None,
            fork_of: None,
            begin: false,
            lines,
            conflicts: NameConflicts::default(),
        })
    }
}

impl Push<'_> {
    fn run(mut self, note: Note<'_>) -> Result<usize> {
        let (mut attempt, mut locked, mut added) = (1, 0, 0);
        loop {
            let error = match self.attempt(&mut *note, &mut added) {
                Ok(()) => return Ok(added),
                Err(error) if attempt >= ATTEMPTS => return Err(error),
                Err(error) => error,
            };
            match error {
                Error::Store(StoreError::IdInUse(id)) => self.conflicts.refuse_id(id),
                Error::Store(StoreError::LabelInUse { label, by }) => {
                    let store = self.importer.engine.store();
                    self.conflicts.refuse_label(store, label, &by)?;
                }
                Error::Store(StoreError::Stale { .. } | StoreError::Conflict { .. }) => {}
                Error::Store(StoreError::Locked(_)) if locked < LOCKED => locked += 1,
                error => return Err(error),
            }
            attempt += 1;
        }
    }

    /// Stores the lines once. Removes those that are stored from the list, even after an error, and
    /// counts them in `added`.
    fn attempt(&mut self, note: Note<'_>, added: &mut usize) -> Result<()> {
        let engine = self.importer.engine;
        let sources = engine.sources()?;
        // The file is looked up once. Another writer may create it at any moment, and the store
        // refuses the step then.
        let latest = source_state::latest(sources, &self.to.path)?;
        let (source, deleted) = match latest {
            Some(source) if !is_living(engine, &source)? => (None, Some(source)),
            found => (found, None),
        };
        if self.fork_of.is_some() && source.is_some() {
            return Err(Error::invalid("path", "a session with this id exists"));
        }
        let lookup = Lookup { engine, sources, format: self.format };
        let fresh = new_lines(lookup, source.as_ref(), &self.lines)?;
        if fresh.is_empty() && !self.begin {
            return Ok(());
        }
        let indexes: Vec<_> = fresh.iter().map(|line| line.index).collect();
        let state = source.as_ref().map(|source| ResumeState::read(&source.read.state));
        let pushed = state.and_then(|state| state.pushed).unwrap_or_default();
        let offset = source.as_ref().map_or(0, |source| source.read.offset);
        let before = pushed.note(offset);
        let is_new = source.is_none();
        let text = note(NoteOn { before, is_new, fresh: &indexes })?;
        let len: usize = fresh.iter().map(|line| line.text.len()).sum();
        let size = offset + len as u64;
        let fork_of = self.fork_of.as_ref().or(pushed.fork_of()).cloned();
        let found = self.source_state(source, deleted.as_ref(), &pushed)?;
        let seen = SeenFile { path: self.to.path.clone(), size, modified: self.to.now };
        let begin = self.begin;
        let mut reading = self.reading(&seen, &fresh, found)?;
        let start = reading.offset();
        if begin {
            reading.begin()?;
        }
        let done = reading.push(&fresh, PushedState::noting(text, size).forking(fork_of));
        let (_, records) = reading.into_parts();
        let stored = records.stored().end.map_or(0, |end| end.saturating_sub(start));
        drop(records);
        *added += self.remove_stored(&fresh, stored);
        done
    }

    fn reading(
        &mut self,
        seen: &SeenFile,
        fresh: &[PushedLine],
        found: SourceState,
    ) -> Result<Reading<'_>> {
        let engine = self.importer.engine;
        let micros = self.to.now.div_euclid(1_000);
        let file = Described {
            path: Path::new(&self.to.path),
            seen,
            first_line: first_line_key(fresh.first().map_or(b"", |line| &line.text)),
            time: Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH),
            caller_path: self.to.caller.as_deref(),
        };
        let start = StartReading {
            engine,
            sources: engine.sources()?,
            options: &self.options,
            conflicts: &mut self.conflicts,
            facts: FileFacts { title: self.title.clone(), ..FileFacts::default() },
            awaited: None,
        };
        let mut reading = start.reading(file, self.format, found)?;
        reading.name(folder_name(&self.to.agent, &self.to.folder));
        Ok(reading)
    }

    /// Returns the state from which the file goes on. A file of which a session was deleted begins
    /// again, as the next revision of `deleted`.
    fn source_state(
        &self,
        source: Option<Source>,
        deleted: Option<&Source>,
        pushed: &PushedState,
    ) -> Result<SourceState> {
        let Some(source) = source else {
            let revision = deleted.map_or(0, |deleted| deleted.revision + 1);
            let latest = deleted.map(|deleted| deleted.id);
            return Ok(SourceState::New { revision, latest, earlier: None });
        };
        let hash = match pushed.hash() {
            Some(hash) => hash,
            None => self.importer.hash_of(&source)?,
        };
        Ok(SourceState::Grown(source, hash))
    }

    /// Removes the first of the fresh lines, which have `stored` bytes, from the lines to store.
    fn remove_stored(&mut self, fresh: &[PushedLine], stored: u64) -> usize {
        let mut left = stored;
        let mut count = 0;
        let mut next = 0;
        for line in fresh {
            let len = line.text.len() as u64;
            if len > left {
                break;
            }
            left -= len;
            count += 1;
            next = line.index + 1;
        }
        self.lines.retain(|line| line.index >= next);
        count
    }
}

impl Importer<'_> {
    /// Computes the hash of the bytes of a file that was imported by other means in the meantime.
    fn hash_of(&self, source: &Source) -> Result<Sha256> {
        let mut bytes = Vec::new();
        self.restore_pushed(source, &mut bytes)?;
        Ok(Sha256::new().chain_update(bytes))
    }
}
