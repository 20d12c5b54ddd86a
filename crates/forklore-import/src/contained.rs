//! Container files, each of which contains several sessions. An import reads each session as if it
//! were a separate file of lines that only grows (docs/semantics.md, Sources).

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use forklore_core::session_container::{ExpandError, Found, Inside, SessionContainer, Trouble};
use forklore_engine::sources::path_text;
use forklore_engine::{Engine, Error, Result};
use forklore_store::Store;
use forklore_store::sources::{SeenFile, Source};
use jiff::Timestamp;

use crate::opened::Opened;
use crate::options::AwaitedSession;
use crate::report::{OfFile as _, Problem, ProblemKind};
use crate::source_state;

/// The state of a session that its agent has not stored yet. A stored session has a hash instead.
const NOT_YET: i64 = 0;

/// One session in a container file (a file that contains several sessions), and how to read it.
pub(crate) struct ContainedSession {
    inside: Rc<RefCell<Box<dyn Inside>>>,
    found: Found,
    /// The ids of the records that the agent will store as the session's history.
    awaited: Option<RangeInclusive<String>>,
}

/// The import status of a container file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImportStatus {
    /// Whether at least one session of the container file was imported before.
    pub(crate) imported: bool,
    /// Whether at least one session in the container file has content that was not imported yet.
    /// Also true if the container file cannot be opened.
    pub(crate) to_read: bool,
}

/// One session of a container file, written as lines to a temporary file. Also contains the
/// problems found while its lines were read.
pub(crate) struct Look {
    pub(crate) file: Opened,
    pub(crate) problems: Vec<Problem>,
}

impl ContainedSession {
    /// Returns the sessions in the container file at `path`: all of them, or one with its
    /// sub-agents. Each comes with the path that the store records for it.
    pub(crate) fn of(
        expander: &dyn SessionContainer,
        path: &Path,
        only: Option<&str>,
    ) -> Result<Vec<(PathBuf, Self)>, ExpandError> {
        let mut inside = expander.open(path)?;
        let all = match only {
            Some(id) => inside.family(id)?,
            None => inside.sessions()?,
        };
        let inside = Rc::new(RefCell::new(inside));
        let named = |found: Found| {
            let name = path_of(path, &found.id);
            (name, Self { inside: inside.clone(), found, awaited: None })
        };
        Ok(all.into_iter().map(named).collect())
    }

    /// Describes a session that the agent has not stored yet. Returns it with the path that the
    /// store records for it.
    pub(crate) fn awaited(session: &AwaitedSession) -> (PathBuf, Self) {
        let line = format!("{}\n", session.line);
        let inside: Box<dyn Inside> = Box::new(NotYet { line });
        let found = Found { id: session.id.clone(), caller: None, created: None, state: NOT_YET };
        let awaited = session.records.clone();
        let name = path_of(&session.container, &session.id);
        (name, Self { inside: Rc::new(RefCell::new(inside)), found, awaited })
    }

    /// Returns the ids of the records that the agent will store as the session's history.
    pub(crate) fn awaited_records(&self) -> Option<&RangeInclusive<String>> {
        self.awaited.as_ref()
    }

    pub(crate) fn found(&self) -> &Found {
        &self.found
    }

    /// Compares the sessions in a container file with those in the store. Does not read the
    /// sessions' records.
    pub(crate) fn status(
        engine: &Engine,
        sources: &dyn Store,
        expander: &dyn SessionContainer,
        path: &Path,
    ) -> Result<ImportStatus> {
        let Ok(sessions) = Self::of(expander, path, None) else {
            return Ok(ImportStatus { imported: false, to_read: true });
        };
        let mut status = ImportStatus::default();
        for (path, session) in sessions {
            let label = path.to_string_lossy().into_owned();
            let earlier = source_state::latest(sources, &label)?;
            status.imported |= earlier.is_some();
            status.to_read |= earlier.is_none_or(|earlier| {
                let deleted = engine.has_deleted(&earlier).unwrap_or(false);
                session.unchanged(&earlier, &label, deleted).is_none()
            });
        }
        Ok(status)
    }

    /// Writes the session's lines to a temporary file: the lines already imported, followed by the
    /// new lines. The file is empty if nothing needs to be read: the session has not changed since
    /// its last import, or a forklore session that was imported from it was deleted. `again` means
    /// that a deleted session is imported again.
    pub(crate) fn open(
        &self,
        engine: &Engine,
        sources: &dyn Store,
        path: &Path,
        again: bool,
    ) -> Result<Look> {
        let label = path_text(path);
        let earlier = source_state::latest(sources, &label)?;
        let deleted =
            earlier.as_ref().is_some_and(|source| engine.has_deleted(source).unwrap_or(false));
        let earlier = earlier.filter(|_| !(deleted && again));
        let failed = |error| Error::io("cannot write the lines of a session", error);
        let mut file =
            tempfile::Builder::new().append(true).tempfile().map_err(failed)?.into_file();
        if let Some(seen) =
            earlier.as_ref().and_then(|earlier| self.unchanged(earlier, &label, deleted))
        {
            let file = Opened::over(file, path, seen, self.time()).map_err(failed)?;
            return Ok(Look { file, problems: Vec::new() });
        }
        if let Some(session) = earlier.as_ref().and_then(|earlier| earlier.sessions.first()) {
            engine.restore(&session.id, &mut file)?;
        }
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut before = BufReader::new(file.try_clone().map_err(failed)?);
        let lines = self.inside.borrow_mut().lines(&self.found.id, &mut before, &mut file);
        let troubles = lines.map_err(|error| Error::io("cannot read a session", other(error)))?;
        let size = file.metadata().map_err(failed)?.len();
        let seen = SeenFile { path: label, size, modified: self.found.state };
        Ok(Look {
            file: Opened::over(file, path, seen, self.time()).map_err(failed)?,
            problems: troubles.into_iter().map(|trouble| problem(path, trouble)).collect(),
        })
    }

    /// Returns the state that the last import recorded for the session, or `None` if the session
    /// must be read again. It need not be read if it has not changed since the last import. It is
    /// not read either if a forklore session that was imported from it was deleted (`deleted`),
    /// because then no lines can be appended.
    fn unchanged(&self, earlier: &Source, label: &str, deleted: bool) -> Option<SeenFile> {
        let mut seen = earlier.paths.iter().filter(|seen| seen.path == label);
        let same = |seen: &&SeenFile| seen.modified == self.found.state || deleted;
        seen.find(same).cloned()
    }

    fn time(&self) -> Timestamp {
        self.found.created.unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

/// What is stored of a session that the agent has not stored yet: a line about the session.
struct NotYet {
    line: String,
}

impl Inside for NotYet {
    fn sessions(&mut self) -> Result<Vec<Found>, ExpandError> {
        Ok(Vec::new())
    }

    fn lines(
        &mut self,
        _id: &str,
        _earlier: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> Result<Vec<Trouble>, ExpandError> {
        let failed = |source| ExpandError::Io { doing: "cannot write a line".to_owned(), source };
        out.write_all(self.line.as_bytes()).map_err(failed)?;
        Ok(Vec::new())
    }
}

/// Returns the path that the store records for a session in a container file: the path of the file,
/// `#` and the session's id.
fn path_of(container: &Path, id: &str) -> PathBuf {
    let mut name = container.as_os_str().to_owned();
    name.push("#");
    name.push(id);
    PathBuf::from(name)
}

fn problem(path: &Path, trouble: Trouble) -> Problem {
    match trouble {
        Trouble::Unfinished(message) => Problem::of_file(path, ProblemKind::Incomplete, message),
        Trouble::Damage(message) => Problem::of_file(path, ProblemKind::Damage, message),
    }
}

/// Returns the import problem for a container file that could not be read.
pub(crate) fn refused(path: &Path, error: &ExpandError) -> Problem {
    let kind = match error {
        ExpandError::UnknownVersion(_) => ProblemKind::UnknownFormat,
        _ => ProblemKind::Unreadable,
    };
    Problem::of_file(path, kind, error.to_string())
}

fn other(error: ExpandError) -> std::io::Error {
    std::io::Error::other(error)
}
