//! `redact`: takes the content of events away, wherever the store has them (docs/semantics.md,
//! Redaction).

mod matcher;
mod quotes;
mod scan;

use std::collections::{BTreeMap, BTreeSet};

use forklore_api::{Redact, Redacted, RedactedEvent, RedactionCause};
use forklore_core::operation::OperationKind;
use forklore_core::redaction::MAX_REASON_BYTES;
use forklore_core::{Header, Redaction, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::port::{EventRedaction, Redactions, Write, Written};
use forklore_store::rules::lease_of_other;
use forklore_store::sources::{FindSource, SourceId};

use self::matcher::Matcher;
use self::scan::{Scan, Target};
use crate::{Engine, Error, Result};

impl Engine {
    /// Takes the content of events away: of the events that the request names or finds, of their
    /// copies in other sessions, and of summaries, compactions and titles that quote them. Imported
    /// files with such events cannot be restored afterwards.
    ///
    /// # Errors
    /// `invalid_args` if the request names no event, or its reason or regular expression is not
    /// valid; `not_found` if a session or an event does not exist; `busy` if a runtime has leased a
    /// session with such an event. After an error, nothing was redacted.
    pub fn redact(&self, request: &Redact) -> Result<Redacted> {
        let matcher = check(request)?;
        let mut scan = Scan::of(self)?;
        scan.named(&request.events)?;
        if let Some(matcher) = &matcher {
            scan.matching(&request.sessions, matcher)?;
        }
        scan.copies()?;
        let mut titles = scan.quotes(matcher.as_ref())?;
        titles.sort_unstable();
        scan.refuse_running()?;
        let sources = self.sources_of(&scan.targets, &scan.sessions)?;
        let mut answer = Redacted {
            events: scan.targets.values().map(Target::answer).collect(),
            bytes: scan.targets.values().map(Target::bytes).sum(),
            titles,
            files: sources
                .values()
                .flatten()
                .cloned()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            already_redacted: scan.already.len() as u64,
            operation: None,
            problems: scan.problems,
            dry_run: request.dry_run,
        };
        if request.dry_run {
            return Ok(answer);
        }
        let redactions = Redactions {
            events: scan.targets.values().map(|it| self.redaction(it, &request.reason)).collect(),
            titles: answer.titles.clone(),
            // What an interrupted redaction left is repeated with it.
            sources: sources.into_keys().collect(),
        };
        if redactions == Redactions::default() {
            return Ok(answer);
        }
        let write = Write::Redact(Box::new(redactions));
        let committed = self.store.commit(self.recorded(OperationKind::Redact, vec![write]))?;
        answer.operation = committed.operation;
        if let Some(Written::Redacted(done)) = committed.written.into_iter().next() {
            // Another redaction may have been faster.
            let done_here: BTreeSet<_> = done.events.into_iter().collect();
            answer.events.retain(|event| {
                done_here.iter().any(|it| it.session_id == event.session_id && it.seq == event.seq)
            });
        }
        let (events, bytes) = (answer.events.len(), answer.bytes);
        tracing::info!(events, bytes, "redacted events");
        Ok(answer)
    }

    /// Returns the write that redacts these events as they were redacted in another store, with their
    /// copies, quotations and files.
    pub(crate) fn with_consequences(&self, events: Vec<EventRedaction>) -> Result<Redactions> {
        let mut scan = Scan::of(self)?;
        let first = events.first().and_then(|first| Redaction::of(&first.data));
        for one in &events {
            scan.stored(&one.origin)?;
        }
        scan.copies()?;
        let titles = scan.quotes(None)?;
        scan.refuse_running()?;
        let sources = self.sources_of(&scan.targets, &scan.sessions)?.into_keys().collect();
        let mut given: BTreeMap<_, _> = events.into_iter().map(|it| (it.origin, it.data)).collect();
        let events = scan.targets.values().filter_map(|target| {
            let redacted = || {
                let first = first.clone()?;
                Some(Redaction { bytes: target.bytes(), ..first }.payload_of(&target.event))
            };
            let data = given.remove(&target.origin).or_else(redacted)?;
            let (origin, event_id) = (target.origin.clone(), target.event.id.clone());
            Some(EventRedaction { origin, event_id, data })
        });
        Ok(Redactions { events: events.collect(), titles, sources })
    }

    fn redaction(&self, target: &Target, reason: &str) -> EventRedaction {
        let by = self.principal.as_deref().or(self.program.as_deref()).map(str::to_owned);
        let (bytes, reason) = (target.bytes(), reason.to_owned());
        let redaction = Redaction { bytes, reason, at: self.store.now(), by };
        EventRedaction {
            origin: target.origin.clone(),
            event_id: target.event.id.clone(),
            data: redaction.payload_of(&target.event),
        }
    }

    /// Returns the sources that contain one of the events, with their paths: the files from which
    /// the events were imported, the other revisions of these files, and their sidecars.
    fn sources_of(
        &self,
        targets: &scan::Targets,
        sessions: &BTreeMap<SessionId, Header>,
    ) -> Result<BTreeMap<SourceId, Vec<String>>> {
        let mut found = BTreeMap::new();
        if !self.store.capabilities().sources {
            return Ok(found);
        }
        let mut positions: BTreeMap<&SessionId, u64> = BTreeMap::new();
        for origin in targets.keys() {
            let header = sessions.get(&origin.session_id);
            let position = header.map_or(origin.seq, |header| own_position(header, origin.seq));
            let first = positions.entry(&origin.session_id).or_insert(position);
            *first = (*first).min(position);
        }
        for (session, first) in positions {
            for source in self.store.sources(&FindSource::Session(session.clone()))? {
                let imported = source.sessions.iter().find(|it| it.id == *session);
                // The events behind those of the file were added in forklore.
                if imported.is_none_or(|imported| first >= imported.events) {
                    continue;
                }
                for seen in &source.paths {
                    let others = [
                        FindSource::Path(seen.path.clone()),
                        FindSource::SidecarsOf(seen.path.clone()),
                    ];
                    for by in &others {
                        for other in self.store.sources(by)? {
                            let paths = other.paths.into_iter().map(|seen| seen.path).collect();
                            found.insert(other.id, paths);
                        }
                    }
                }
                found.insert(source.id, source.paths.into_iter().map(|seen| seen.path).collect());
            }
        }
        Ok(found)
    }
}

/// Returns how many own events a session has before its event with this seq.
fn own_position(header: &Header, seq: u64) -> u64 {
    if header.parent_id.is_some() && seq > 0 {
        seq.saturating_sub(header.inherited.inheritable)
    } else {
        seq
    }
}

/// Checks the request. Returns what finds the text to redact, if the request has one.
fn check(request: &Redact) -> Result<Option<Matcher>> {
    let reason = request.reason.trim();
    if reason.is_empty() || reason.len() > MAX_REASON_BYTES {
        let message = format!("a redaction needs a reason of 1 to {MAX_REASON_BYTES} bytes");
        return Err(Error::invalid("reason", message));
    }
    let matcher = match &request.matching {
        None if !request.sessions.is_empty() => {
            let message = "name the text to find in the sessions, or the events to redact";
            return Err(Error::invalid("no_match", message));
        }
        None => None,
        Some(_) if request.sessions.is_empty() => {
            return Err(Error::invalid("no_session", "name the sessions to search for the text"));
        }
        Some(text) => Some(Matcher::of(text, request.regex)?),
    };
    if request.events.is_empty() && request.sessions.is_empty() {
        return Err(Error::invalid("no_event", "name the events or the sessions to redact"));
    }
    if matcher.as_ref().is_some_and(|matcher| matcher.finds(reason)) {
        let message = "the reason contains the text to take away, and it is stored in its place";
        return Err(Error::invalid("reason", message));
    }
    Ok(matcher)
}

impl Scan<'_> {
    /// Refuses the redaction if a runtime has leased a session that has one of the events.
    fn refuse_running(&self) -> Result<()> {
        let now = self.engine.store.now();
        let writers: BTreeSet<_> = self.targets.keys().map(|origin| &origin.session_id).collect();
        for header in self.sessions.values() {
            let Some(lease) = lease_of_other(header, None, now) else { continue };
            if self.line_of(header).any(|id| writers.contains(id)) {
                let (session, owner) = (header.id.clone(), lease.owner.clone());
                return Err(StoreError::Leased { session, owner }.into());
            }
        }
        Ok(())
    }
}

impl Target {
    fn bytes(&self) -> u64 {
        self.event.data.get().len() as u64
    }

    fn answer(&self) -> RedactedEvent {
        RedactedEvent {
            session_id: self.origin.session_id.clone(),
            seq: self.origin.seq,
            event_id: self.event.id.clone(),
            kind: self.event.kind.clone(),
            bytes: self.bytes(),
            why: self.why,
        }
    }
}

/// The causes for which the text of an event is searched for in summaries.
fn is_quoted(why: RedactionCause) -> bool {
    why != RedactionCause::Quote
}
