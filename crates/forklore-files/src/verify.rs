//! Verifies a store: reads all its files and reports the problems.

use std::collections::{HashMap, HashSet};

use forklore_core::{ErrorKind, Header, SessionId};
use forklore_store::port::{Problem, Verification};
use forklore_store::{Error, Result};

use crate::folder::Folder;
use crate::history::History;
use crate::label;
use crate::layout::Segment;
use crate::log::{Next, of};
use crate::needed_events::Needs;
use crate::operation;
use crate::record::{Ancestry, Commit, EventLine};
use crate::session::{Outline, Session};

/// Verifies one session, including all events that it inherits.
pub(crate) fn session(folder: &Folder, id: &SessionId) -> Result<Verification> {
    let mut check = Check::of(folder);
    match folder.living(id) {
        Err(error @ (Error::NotFound(_) | Error::Deleted(_))) => return Err(error),
        Err(error) => check.problem(Some(id), &error),
        Ok(session) => {
            check.found.sessions = 1;
            check.history(&session);
            check.end(&session);
            check.claims(&session);
            check.lineage(&session.header, &HashMap::new());
        }
    }
    Ok(check.found)
}

/// Verifies the whole store: every session, the claim files that reserve ids and labels, and the
/// journal of an interrupted change.
pub(crate) fn all(folder: &Folder) -> Result<Verification> {
    let mut check = Check::of(folder);
    let found = folder.survey()?;
    for damaged in &found.damaged {
        check.damaged(&damaged.segment, &damaged.error);
    }
    check.unowned_claims()?;
    if let Err(error) = folder.check_pending() {
        check.problem(None, &error);
    }
    match operation::damaged(folder) {
        Ok(damaged) => damaged.iter().for_each(|error| check.problem(None, error)),
        Err(error) => check.problem(None, &error),
    }
    let needs = Needs::read(folder, &found).unwrap_or_else(|error| {
        check.problem(None, &error);
        Needs::default()
    });
    let parents = parents(&found.sessions);
    for outline in &found.sessions {
        match folder.session_in(&outline.segment) {
            // Skip a session that was deleted since the survey, because other events of its file
            // are needed now.
            Ok(session) => {
                let as_seen = |session: &Session| session.header.deleted == outline.header.deleted;
                if let Some(session) = session.filter(as_seen) {
                    check.session(&session, &needs, &parents);
                }
            }
            Err(error) => check.damaged(&outline.segment, &error),
        }
    }
    Ok(check.found)
}

/// Returns the id of each session's parent, or `None` for a root. The keys are folded session ids
/// (equal for ids that differ only in case).
fn parents(sessions: &[Outline]) -> HashMap<String, Option<SessionId>> {
    let headers = sessions.iter().map(|session| &session.header);
    headers.map(|header| (header.id.fold(), header.parent_id.clone())).collect()
}

/// A step, i.e. one write to a session's file, as far as it was read. `from` is the offset at which
/// it begins, and `sum` is the checksum of its event lines.
struct Step {
    from: u64,
    sum: crc32fast::Hasher,
}

impl Step {
    /// Checks that a commit line matches the step that it ends. `events` is the number of the
    /// session's own events before this line.
    fn end(&self, commit: &str, events: u64) -> std::result::Result<(), String> {
        let commit: Commit = serde_json::from_str(commit).map_err(|error| error.to_string())?;
        let sum = format!("{:08x}", self.sum.clone().finalize());
        if commit.from == self.from && commit.step == sum && commit.state.own_events == events {
            return Ok(());
        }
        Err("it ends another step than the one before it".into())
    }
}

struct Check<'f> {
    folder: &'f Folder,
    found: Verification,
}

impl<'f> Check<'f> {
    fn of(folder: &'f Folder) -> Self {
        Self { folder, found: Verification::default() }
    }

    /// Verifies one session as a part of the verification of the whole store.
    fn session(
        &mut self,
        session: &Session,
        needs: &Needs,
        parents: &HashMap<String, Option<SessionId>>,
    ) {
        if !session.header.is_erased() {
            self.own(session);
            self.end(session);
            // The label of a session in the trash is free.
            if session.header.deleted.is_none() {
                self.found.sessions += 1;
                self.claims(session);
            }
            self.spans(session);
            self.lineage(&session.header, parents);
        } else {
            self.needed(session, &session.segment, needs.of(&session.segment));
        }
        let copy = session.segment.prefix();
        self.needed(session, &copy, needs.of(&copy));
    }

    fn problem(&mut self, id: Option<&SessionId>, error: &Error) {
        let (session, seq) = match error {
            Error::Corrupt { session, seq, .. } => (session.clone(), *seq),
            Error::Lost { session, .. } | Error::MissingAncestor { session, .. } => {
                (Some(session.clone()), None)
            }
            _ => (None, None),
        };
        self.found.problems.push(Problem {
            session_id: session.or_else(|| id.cloned()),
            seq,
            attachment: None,
            kind: error.kind(),
            message: error.to_string(),
        });
    }

    fn damaged(&mut self, segment: &Segment, error: &Error) {
        let id = self.folder.claimant(segment.name());
        self.problem(id.as_ref(), error);
    }

    fn note(&mut self, id: &SessionId, kind: ErrorKind, message: String) {
        let session_id = Some(id.clone());
        self.found.problems.push(Problem {
            session_id,
            seq: None,
            attachment: None,
            kind,
            message,
        });
    }

    /// Checks that the session's own events are consecutive up to its head, and that each write to
    /// its file is complete.
    fn own(&mut self, session: &Session) {
        let header = &session.header;
        let mut position = 0;
        let log = &session.log;
        let mut step = Step { from: log.start, sum: crc32fast::Hasher::new() };
        let read = log.lines(|at, line, text| {
            if EventLine::is_one(line) {
                let event = EventLine::parse(text, true).map_err(|error| log.damage(at, &error))?;
                if event.seq != header.seq_of_own(position) || event.origin.session_id != header.id
                {
                    let message = format!("it is no event {position} of its session");
                    return Err(log.damage(at, &message));
                }
                position += 1;
                step.sum.update(line);
                return Ok(());
            }
            step.end(text, position).map_err(|wrong| log.damage(at, &wrong))?;
            step = Step { from: at + line.len() as u64, sum: crc32fast::Hasher::new() };
            Ok(())
        });
        self.found.events += position;
        match read {
            Err(error) => {
                let seq = header.seq_of_own(position);
                self.problem(Some(&header.id), &of(error, &header.id, Some(seq)));
            }
            Ok(()) if position != header.own_events => {
                let message =
                    format!("it has {position} events of its own, not {}", header.own_events);
                self.problem(Some(&header.id), &log.damage(log.end, &message));
            }
            Ok(()) => {}
        }
    }

    /// Notes a file that continues behind its last complete write.
    fn end(&mut self, session: &Session) {
        if session.len > session.log.end {
            self.found.unfinished.push(session.header.id.clone());
        }
    }

    /// Checks that a file of events has all inheritable events that sessions need, up to number
    /// `need`. `session` owns the file.
    fn needed(&mut self, session: &Session, segment: &Segment, need: u64) {
        let id = &session.header.id;
        let first = if segment.is_prefix() { 0 } else { session.header.inherited.inheritable };
        if need <= first {
            return;
        }
        let mut last = first;
        let read = self.folder.log(segment).and_then(|log| {
            let gone =
                || Error::MissingAncestor { session: id.clone(), missing: segment.to_string() };
            let log = log.ok_or_else(gone)?;
            log.forward(log.start, false, |at, line| {
                if !line.event.class.is_inherited() {
                    return Ok(Next::Go);
                }
                if line.counts.inheritable != last + 1 {
                    return Err(log.damage(at, &format!("event {} is missing", last + 1)));
                }
                last += 1;
                Ok(if last == need { Next::Stop } else { Next::Go })
            })
        });
        self.found.events += last - first;
        match read {
            Err(error) => self.problem(Some(id), &error),
            Ok(()) if last < need => {
                let missing = format!("events {} to {need} of {segment}", last + 1);
                self.note(id, ErrorKind::MissingAncestor, missing);
            }
            Ok(()) => {}
        }
    }

    /// Checks a session's whole assembled history by reading all its events.
    fn history(&mut self, session: &Session) {
        let mut events = 0;
        let read = History::of(self.folder, session).walk(0, false, |_| {
            events += 1;
            Ok(Next::Go)
        });
        self.found.events += events;
        if let Err(error) = read {
            self.problem(Some(&session.header.id), &error);
        }
    }

    /// Checks that the ranges of events that a session inherits follow each other without a gap.
    /// Each range must end with the counts at which the next range begins.
    fn spans(&mut self, session: &Session) {
        let header = &session.header;
        let Ancestry { before, spans } = session.ancestry();
        let none = before.is_none() && spans.is_empty();
        if none && header.inherited.inheritable > 0 {
            let missing = "the list of its spans".into();
            let error = Error::MissingAncestor { session: header.id.clone(), missing };
            self.problem(None, &error);
            return;
        }
        let history = History::of(self.folder, session);
        let ends = spans.iter().skip(1).map(|span| span.base).chain([header.inherited]);
        for (span, end) in spans.iter().zip(ends) {
            match history.counts_at(end.inheritable) {
                Ok(counts) if end.inheritable == 0 || counts == end => {}
                Ok(_) => {
                    let message = format!("the span of {} does not end as promised", span.segment);
                    self.note(&header.id, ErrorKind::Corrupt, message);
                }
                Err(error) => self.problem(Some(&header.id), &error),
            }
        }
    }

    /// Checks that the claim files that reserve the session's id and its label name this session.
    fn claims(&mut self, session: &Session) {
        let header = &session.header;
        let labelled = label::is_labelled(self.folder, header).unwrap_or(false);
        if !labelled && self.folder.any(&header.id).is_ok_and(|now| now.header != *header) {
            // Another process is changing the session at this moment.
            return;
        }
        if self.folder.claimant(session.segment.name()).as_ref() != Some(&header.id) {
            let path = self.folder.layout.claim(session.segment.name());
            let message = format!("{} does not claim its id", path.display());
            self.note(&header.id, ErrorKind::Corrupt, message);
        }
        if !labelled {
            let path = self.folder.layout.label(&header.root_id, &header.label);
            let message = format!("{} does not claim its label", path.display());
            self.note(&header.id, ErrorKind::Corrupt, message);
        }
    }

    /// Reports each session whose file is missing although some of it was durable. The claim (a
    /// small file that assigns the id to the session) records how much was durable.
    fn unowned_claims(&mut self) -> Result<()> {
        for name in self.folder.names(&self.folder.layout.ids())? {
            if let Err(error) = self.folder.find_name(&name) {
                let id = self.folder.claimant(&name);
                self.problem(id.as_ref(), &error);
            }
        }
        Ok(())
    }

    /// Checks that a session's ancestors exist, up to the root, and form no circle.
    fn lineage(&mut self, header: &Header, parents: &HashMap<String, Option<SessionId>>) {
        let mut seen = HashSet::from([header.id.fold()]);
        let mut next = header.parent_id.clone();
        while let Some(parent) = next {
            if !seen.insert(parent.fold()) {
                let message = format!("the ancestors of session {} run in a circle", header.id);
                return self.note(&header.id, ErrorKind::LineageCycle, message);
            }
            next = match parents.get(&parent.fold()) {
                Some(above) => above.clone(),
                None => match self.folder.any(&parent) {
                    Ok(session) => session.header.parent_id,
                    Err(Error::NotFound(_) | Error::Lost { .. }) => {
                        let (session, missing) = (header.id.clone(), parent.to_string());
                        return self.problem(None, &Error::MissingAncestor { session, missing });
                    }
                    Err(error) => return self.problem(Some(&header.id), &error),
                },
            };
        }
    }
}
