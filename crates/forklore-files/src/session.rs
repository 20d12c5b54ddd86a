//! Reads a session from its file: from the first line and the last commit that counts.

use std::path::Path;

use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId};
use forklore_store::disk::{check_version, os};
use forklore_store::{Error, Result};

use crate::claim::Found;
use crate::folder::Folder;
use crate::fs::{File, Open};
use crate::layout::Segment;
use crate::line;
use crate::lines::Lines;
use crate::log::{Log, damage, of};
use crate::name::Name;
use crate::record::{Ancestry, Commit, EventLine, PrefixLine, SessionLine, Span, VERSION};

/// How many times a session's file is read before it counts as damaged or missing. Another process
/// may replace the file during a read.
const TRIES: usize = 3;

/// A session read from its file.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) segment: Segment,
    pub(crate) header: Header,
    /// The first line of the session's file, with what never changes.
    pub(crate) line: SessionLine,
    pub(crate) log: Log,
    /// How many bytes of the file are durable, as the claim file of the session's id records.
    pub(crate) durable: u64,
    /// The offset in bytes at which the last complete step begins. A step is one write to the file.
    pub(crate) step: u64,
    /// The length of the file in bytes. The bytes from `log.end` on belong to an incomplete write.
    pub(crate) len: u64,
}

/// A session whose file is closed. Lists of many sessions consist of these, because a process can
/// open only a limited number of files.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) segment: Segment,
    pub(crate) header: Header,
    pub(crate) line: SessionLine,
}

impl Session {
    /// Returns the spans (ranges of events) that the session inherits. If it has its own copy of
    /// these events, the whole copy is a single span.
    pub(crate) fn ancestry(&self) -> Ancestry {
        self.line.ancestry_of(&self.header, &self.segment)
    }

    /// Closes the session's file and returns the session without it.
    pub(crate) fn outline(self) -> Outline {
        Outline { segment: self.segment, header: self.header, line: self.line }
    }
}

impl SessionLine {
    /// Returns the spans that the session with this first line inherits. If it has its own copy of
    /// these events, the whole copy is a single span.
    pub(crate) fn ancestry_of(&self, header: &Header, segment: &Segment) -> Ancestry {
        if header.inherited.inheritable == 0 {
            return Ancestry::default();
        }
        if header.detached || header.strategy == Some(forklore_core::Strategy::ReplayV1) {
            let segment = segment.prefix();
            let base = forklore_core::Counts::default();
            return Ancestry { before: None, spans: vec![Span { segment, base }] };
        }
        self.ancestry.clone()
    }
}

impl Folder {
    /// Reads the session with this id, deleted or not.
    pub(crate) fn any(&self, id: &SessionId) -> Result<Session> {
        let mut tries = 0;
        loop {
            let found = self.find(id)?.ok_or_else(|| Error::NotFound(id.clone()))?;
            tries += 1;
            match self.load(&found, Open::Read) {
                Ok(Some(session)) if session.header.id == *id => return Ok(session),
                // The session's id differs from `id` in case or Unicode composition, so no session
                // has the id `id`.
                Ok(Some(_)) => return Err(Error::NotFound(id.clone())),
                // Another process may have replaced the file between two reads.
                Ok(None) | Err(Error::Corrupt { .. }) if tries < TRIES => {}
                Ok(None) => return Err(Error::NotFound(id.clone())),
                Err(error) => return Err(of(error, id, None)),
            }
        }
    }

    /// Reads the session with this id. Fails if it is deleted.
    pub(crate) fn living(&self, id: &SessionId) -> Result<Session> {
        let session = self.any(id)?;
        if session.header.deleted.is_some() {
            return Err(Error::Deleted(id.clone()));
        }
        Ok(session)
    }

    /// Reads the session with this id, whether it is living or in the trash. Fails if it was
    /// erased.
    pub(crate) fn unerased(&self, id: &SessionId) -> Result<Session> {
        let session = self.any(id)?;
        if session.header.is_erased() {
            return Err(Error::Deleted(id.clone()));
        }
        Ok(session)
    }

    /// Reads a session from the file that `found` names, opened in the mode `how`. Returns `None`
    /// if the file does not exist.
    pub(crate) fn load(&self, found: &Found, how: Open) -> Result<Option<Session>> {
        let path = self.layout.segment(&found.segment);
        let Some(file) = self.open(&path, how)? else {
            return Ok(None);
        };
        let len = file.len().map_err(os("reading", &path))?;
        let (first, start) = first_line(&*file, &path, len)?;
        let line: SessionLine =
            serde_json::from_str(&first).map_err(|error| damage(&path, 0, &error))?;
        check_version(&path, line.forklore, VERSION)?;
        check_location(&path, &found.segment, line.session.id(), Some(line.session.workspace()))?;
        let last = last_commit(&*file, &path, start, len, found.durable)?;
        let step = last.commit.from;
        let (at, end) = (last.at, last.end);
        let header = line.session.clone().header(last.commit.state);
        let log = Log { file, path, start, end };
        // Of a trimmed file, only the events remain that other sessions need.
        let is_last = |event: &EventLine| {
            let last = header.own_events.checked_sub(1).map(|last| header.seq_of_own(last));
            line.trimmed.is_some() || Some(event.seq) == last
        };
        check_last_step(&log, step, at, is_last)?;
        let (segment, durable) = (found.segment.clone(), found.durable);
        Ok(Some(Session { segment, header, line, log, durable, step, len }))
    }

    /// Reads the first line of a session's file. Returns `None` if the file does not exist.
    pub(crate) fn session_line(&self, segment: &Segment) -> Result<Option<SessionLine>> {
        self.parsed_line(segment)
    }

    /// Reads the first line of a file with the copy of a session's inherited events. Returns `None`
    /// if the file does not exist.
    pub(crate) fn copied(&self, segment: &Segment) -> Result<Option<PrefixLine>> {
        self.parsed_line(segment)
    }

    /// Returns the error for a missing file of events to which other files refer.
    pub(crate) fn gone(&self, segment: &Segment) -> Error {
        damage(&self.layout.segment(segment), 0, "it is gone")
    }

    fn parsed_line<T: serde::de::DeserializeOwned>(&self, segment: &Segment) -> Result<Option<T>> {
        let path = self.layout.segment(segment);
        let Some(file) = self.open(&path, Open::Read)? else { return Ok(None) };
        let len = file.len().map_err(os("reading", &path))?;
        let (first, _) = first_line(&*file, &path, len)?;
        serde_json::from_str(&first).map(Some).map_err(|error| damage(&path, 0, &error))
    }

    /// Opens a file of events for reading, without reading its session's state. Returns `None` if
    /// the file does not exist.
    pub(crate) fn log(&self, segment: &Segment) -> Result<Option<Log>> {
        let path = self.layout.segment(segment);
        let Some(file) = self.open(&path, Open::Read)? else {
            return Ok(None);
        };
        let end = file.len().map_err(os("reading", &path))?;
        let (first, start) = first_line(&*file, &path, end)?;
        let (version, id) = if segment.is_prefix() {
            serde_json::from_str(&first).map(|line: PrefixLine| (line.forklore, line.prefix_of))
        } else {
            serde_json::from_str(&first)
                .map(|line: SessionLine| (line.forklore, line.session.id().clone()))
        }
        .map_err(|error| damage(&path, 0, &error))?;
        check_version(&path, version, VERSION)?;
        check_location(&path, segment, &id, None)?;
        Ok(Some(Log { file, path, start, end }))
    }
}

/// Checks that a session's file is at the path that belongs to the session's id and workspace. The
/// path is wrong if, for example, a user copied the file of another session. If `workspace` is
/// `None`, checks only the id.
fn check_location(
    path: &Path,
    segment: &Segment,
    id: &SessionId,
    workspace: Option<&Workspace>,
) -> Result<()> {
    let elsewhere = workspace.is_some_and(|workspace| workspace.key() != segment.workspace());
    if elsewhere || Name::of_session(id).as_str() != segment.name() {
        return Err(damage(path, 0, &format!("session {id} does not belong there")));
    }
    Ok(())
}

fn first_line(file: &dyn File, path: &Path, len: u64) -> Result<(String, u64)> {
    let mut lines = Lines::of(file);
    let line = lines.forward(0, len).map_err(os("reading", path))?;
    let line = line.ok_or_else(|| damage(path, 0, "the file is empty"))?;
    let text = line::checked(line).map_err(|wrong| damage(path, 0, wrong))?;
    Ok((text.to_owned(), line.len() as u64))
}

struct LastCommit {
    commit: Commit,
    /// The offsets in bytes at which the commit line begins and ends.
    at: u64,
    end: u64,
}

/// Returns the last valid commit line of a session's file. A commit is valid if its step (one write
/// to the file) is complete, or if it is within the first `durable` bytes.
///
/// # Errors
/// `Corrupt` if bytes that were durable are missing or cannot be read, or if the file has no
/// complete step.
fn last_commit(
    file: &dyn File,
    path: &Path,
    start: u64,
    len: u64,
    durable: u64,
) -> Result<LastCommit> {
    if durable > len {
        let message = format!("the file ends there, but was {durable} bytes long");
        return Err(damage(path, len, &message));
    }
    let mut lines = Lines::of(file);
    let mut end = len;
    while let Some((at, line)) = lines.backward(start, end).map_err(os("reading", path))? {
        let commit = line::checked(line)
            .and_then(|text| serde_json::from_str::<Commit>(text).map_err(|_| "it is no commit"));
        match commit {
            Ok(commit) if end <= durable || fits(file, path, &commit, start, at)? => {
                return Ok(LastCommit { commit, at, end });
            }
            _ if end <= durable => {
                let wrong = line::checked(line).err().unwrap_or("a step has no end there");
                return Err(damage(path, at, wrong));
            }
            _ => end = at,
        }
        if end < durable {
            return Err(damage(path, end, "something that was durable cannot be read"));
        }
    }
    Err(damage(path, start, "the file holds no whole step"))
}

/// Checks that the last commit line ends the step before it: that the step begins where the line
/// says, and that its last event is the session's last. Otherwise lines have changed places, and
/// the commit line describes an earlier state of the session. `step` is the offset at which the
/// step should begin. `at` is the offset of the commit line. `is_last` checks that an event is the
/// session's last.
///
/// # Errors
/// `Corrupt` if the line belongs elsewhere.
fn check_last_step(
    log: &Log,
    step: u64,
    at: u64,
    is_last: impl FnOnce(&EventLine) -> bool,
) -> Result<()> {
    let mut lines = Lines::of(&*log.file);
    let before = lines.backward(log.start, at).map_err(os("reading", &log.path))?;
    let fits = match before {
        None => step == at,
        Some((before, line)) => match line::checked(line) {
            // The line is damaged. Only a read that needs the line fails.
            Err(_) => true,
            Ok(_) if !EventLine::is_one(line) => step == at,
            Ok(text) => {
                let event = EventLine::parse(text, true);
                step < at && is_last(&event.map_err(|error| log.damage(before, &error))?)
            }
        },
    };
    if fits { Ok(()) } else { Err(log.damage(at, "it ends another step than the one before it")) }
}

/// Checks whether a step is complete, i.e. whether its event lines match the checksum in its commit
/// line. `at` is the offset of the commit line.
fn fits(file: &dyn File, path: &Path, commit: &Commit, start: u64, at: u64) -> Result<bool> {
    if commit.from < start || commit.from > at {
        return Ok(false);
    }
    let mut bytes = vec![0; usize::try_from(at - commit.from).unwrap_or_default()];
    let read = file.read_at(&mut bytes, commit.from).map_err(os("reading", path))?;
    Ok(read == bytes.len() && line::sum(&bytes) == commit.step)
}
