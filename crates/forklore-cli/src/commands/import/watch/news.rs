//! Prints the output of a watch: one line for each change, as text or JSON.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use forklore::Error;
use forklore::api::{FileChange, RecordedSnapshot, WatchLine};
use forklore::core::SessionId;
use forklore::import::{
    ImportReport, ImportedFile, ImportedSession, Problem as ImportProblem, ProblemKind,
    StoredSidecar,
};

use super::super::report;
use crate::agents;
use crate::failure::Result;
use crate::output::{Output, Page, Tone, bytes, count};

/// The maximum number of problems that a watch remembers, so that it reports each problem once. At
/// the limit, the watch forgets all of them.
const MOST: usize = 10_000;

/// The output of a watch of session files. Prints its lines, and counts the imported files and
/// events.
pub(super) struct News<'a> {
    output: &'a mut Output,
    reported: HashSet<u64>,
    files: u64,
    events: u64,
}

impl<'a> News<'a> {
    pub(super) fn new(output: &'a mut Output) -> Self {
        Self { output, reported: HashSet::new(), files: 0, events: 0 }
    }

    pub(super) fn begin(&mut self, paths: &[PathBuf]) -> Result<()> {
        let there: Vec<_> = paths.iter().filter(|location| location.exists()).cloned().collect();
        let names: Vec<_> = there.iter().map(|location| agents::typed(location)).collect();
        self.say(&WatchLine::Watching { paths: there }, |page| {
            let names = if names.is_empty() { "nothing yet".into() } else { names.join(" ") };
            page.put(Tone::Plain, format!("Watching {names}; Ctrl-C ends it")).end();
        })
    }

    pub(super) fn tell(&mut self, report: &ImportReport) -> Result<()> {
        let mut sessions = report.sessions.iter();
        for file in &report.sources {
            // The report lists the sessions in the order of their files, and the sessions of one
            // file consecutively.
            let own: Vec<_> = sessions.by_ref().take(file.sessions.len()).collect();
            self.imported(file, &own, &report.problems)?;
        }
        for file in report.stored.iter().filter(|file| file.bytes > 0) {
            self.stored(file)?;
        }
        for problem in &report.problems {
            self.problem(problem)?;
        }
        Ok(())
    }

    fn stored(&mut self, file: &StoredSidecar) -> Result<()> {
        let StoredSidecar { path, dialect, session, bytes: size, .. } = file.clone();
        self.files += 1;
        let line = WatchLine::Sidecar { path, dialect, bytes: size, session };
        let StoredSidecar { path, dialect, .. } = file;
        self.say(&line, |page| {
            let what = format!("{:<10}{}", "beside", bytes(size));
            page.put(Tone::Good, format!("{what:<34}")).put(Tone::Dim, dialect);
            page.put(Tone::Plain, format!("  {}", agents::typed(Path::new(path)))).end();
        })
    }

    fn imported(
        &mut self,
        file: &ImportedFile,
        sessions: &[&ImportedSession],
        problems: &[ImportProblem],
    ) -> Result<()> {
        let grown: Vec<_> =
            sessions.iter().copied().filter(|session| session.appended > 0).collect();
        let Some(first) = sessions.first().filter(|_| file.bytes > 0) else { return Ok(()) };
        let events = grown.iter().map(|session| session.appended).sum();
        let rewritten = |p: &ImportProblem| p.kind == ProblemKind::Rewritten && p.path == file.path;
        let change = match (problems.iter().any(rewritten), file.continued) {
            (true, _) => FileChange::Rewritten,
            (false, true) => FileChange::Grown,
            (false, false) => FileChange::New,
        };
        // A file that copies a stored session adds no events. Name all sessions of the file in that
        // case.
        let named = if grown.is_empty() { sessions } else { &grown };
        self.files += 1;
        self.events += events;
        let line = WatchLine::Imported {
            path: file.path.clone(),
            dialect: first.dialect.clone(),
            change,
            bytes: file.bytes,
            events,
            sessions: named.iter().map(|session| session.session_id.clone()).collect(),
        };
        self.say(&line, |page| {
            let what = format!(
                "{:<10}{} ({})",
                change.as_str(),
                count(events, "event"),
                bytes(file.bytes)
            );
            page.put(Tone::Good, format!("{what:<34}")).put(Tone::Dim, &first.dialect);
            page.put(Tone::Plain, format!("  {}", agents::typed(Path::new(&file.path)))).end();
        })
    }

    pub(super) fn recorded(&mut self, recorded: RecordedSnapshot) -> Result<()> {
        let RecordedSnapshot { session_id, folder, snapshot, files, bytes: size, .. } = recorded;
        let line = WatchLine::Snapshot {
            session_id,
            folder: folder.clone(),
            snapshot,
            files,
            bytes: size,
        };
        self.say(&line, |page| {
            let what = format!("{:<10}{} ({})", "files", count(files, "file"), bytes(size));
            page.put(Tone::Good, format!("{what:<34}"));
            page.put(Tone::Plain, agents::typed(&folder)).end();
        })
    }

    /// Reports why the files of a folder could not be recorded. The watch goes on.
    pub(super) fn not_recorded(&mut self, why: &str) {
        if self.is_new(&why) {
            self.output.remark(&format!("files were not recorded: {why}"));
        }
    }

    pub(super) fn gone(&mut self, path: &Path, sessions: &[SessionId]) -> Result<()> {
        if sessions.is_empty() {
            return Ok(());
        }
        let line = WatchLine::Gone { path: path.to_owned(), stored: sessions.to_vec() };
        self.say(&line, |page| {
            let what = format!("{:<10}{} kept", "gone", count(sessions.len() as u64, "session"));
            page.put(Tone::Warn, format!("{what:<34}"));
            page.put(Tone::Plain, agents::typed(path)).end();
        })
    }

    fn problem(&mut self, problem: &ImportProblem) -> Result<()> {
        let is_new = match problem.kind {
            // Not reported as problems: an incomplete line is still being written, and a rewritten
            // file gets an output line of its own.
            ProblemKind::Incomplete | ProblemKind::Rewritten => false,
            // The file of a deleted session can grow further; report the file only once.
            kind @ ProblemKind::Deleted => self.is_new(&(&problem.path, kind)),
            _ => self.is_new(&(&problem.path, problem.line, &problem.message)),
        };
        if !is_new {
            return Ok(());
        }
        self.say(&WatchLine::Problem(problem.clone()), |page| {
            page.put(Tone::Warn, format!("problem   {}", report::location(problem))).end();
        })
    }

    pub(super) fn refused(&mut self, error: &Error) -> Result<()> {
        let message = error.to_string();
        if !self.is_new(&message) {
            return Ok(());
        }
        let line = WatchLine::Refused { kind: error.kind(), message: message.clone() };
        self.say(&line, |page| {
            page.put(Tone::Bad, format!("refused   {message}; it is tried again")).end();
        })
    }

    pub(super) fn end(&mut self) -> Result<()> {
        let (files, events) = (self.files, self.events);
        self.say(&WatchLine::Stopped { files, events }, |page| {
            let sum = format!("{} of {}", count(events, "event"), count(files, "change"));
            page.put(Tone::Plain, format!("Stopped; imported {sum}")).end();
        })
    }

    fn is_new(&mut self, what: &impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        if self.reported.len() >= MOST {
            self.reported.clear();
        }
        self.reported.insert(hasher.finish())
    }

    fn say(&mut self, line: &WatchLine, people: impl FnOnce(&mut Page)) -> Result<()> {
        let now = self.output.zone().at(jiff::Timestamp::now());
        self.output.record(line, |page| {
            page.put(Tone::Dim, now.strftime("%H:%M:%S  "));
            people(page);
        })?;
        self.output.flush()
    }
}
