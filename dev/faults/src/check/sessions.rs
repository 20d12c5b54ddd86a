//! Checks that sessions exist completely or not at all, that their parents exist, and that no
//! deleted session reappears.

use forklore_core::Header;
use forklore_store::port::LogEntry;

use super::Check;
use crate::history::{Call, Entry};

impl Check<'_> {
    pub(super) fn sessions(&self) {
        for entry in self.entries {
            match &entry.call {
                Call::Create { .. } => self.created(entry),
                Call::Delete { session, .. } => self.deleted(entry, session),
                Call::Detach { session } if entry.is_done() => self.detached(session),
                _ => {}
            }
        }
        for (session, header) in &self.headers {
            self.wanted(session, header);
            if let Some(parent) = &header.parent_id
                && !self.headers.contains_key(parent.as_str())
            {
                self.wrong(format!("{session} is an orphan: {parent} left not even a tombstone"));
            }
            if header.deleted.is_none() {
                self.prefix(session, header);
            }
        }
    }

    /// Checks a call that created a session and was acknowledged. The session must exist as
    /// requested, and no other call may have created it too.
    fn created(&self, entry: &Entry) {
        let Call::Create { session, events, inheritable: stored, parent, .. } = &entry.call else {
            return;
        };
        if !entry.is_done() {
            return;
        }
        let makers = self
            .about(session)
            .filter(|other| matches!(other.call, Call::Create { .. }) && other.is_done());
        if makers.count() > 1 {
            self.wrong(format!("{session} was made more than once"));
        }
        let Some(header) = self.headers.get(session) else {
            return self.wrong(format!("lost: session {session}"));
        };
        if header.inherited.inheritable != *stored
            || header.parent_id.as_ref().map(|id| id.as_str()) != parent.as_deref()
        {
            self.wrong(format!("{session} is another than the one that was made"));
        }
        if let Some(log) = self.logs.get(session)
            && !begins_with(log, header, events)
        {
            self.wrong(format!("half a session: {session} does not begin with {events:?}"));
        }
    }

    /// Checks that one of the recorded calls created this session, and that the session has all its
    /// first events.
    fn wanted(&self, session: &str, header: &Header) {
        if header.dialect.is_some() {
            return;
        }
        let mut makers = self.about(session).filter(|entry| {
            matches!(entry.call, Call::Create { .. }) && (entry.is_done() || entry.is_open())
        });
        let log = self.logs.get(session);
        let fits =
            |entry: &Entry| log.is_none_or(|log| begins_with(log, header, entry.call.events()));
        if !makers.any(fits) {
            self.wrong(format!("half a session, or nobody's: {session}"));
        }
        if header.deleted.is_some() && !self.deleted_before(session, u64::MAX) {
            self.wrong(format!("{session} is deleted, and nobody did it"));
        }
    }

    /// Checks an acknowledged delete: the session must still be deleted, and no later call on the
    /// session may have succeeded.
    fn deleted(&self, entry: &Entry, session: &str) {
        if !entry.is_done() {
            return;
        }
        if self.headers.get(session).is_none_or(|header| header.deleted.is_none()) {
            self.wrong(format!("{session} was deleted, and is there"));
        }
        for later in self.entries.iter().filter(|later| later.is_done() && entry.is_before(later)) {
            let touches = match &later.call {
                Call::Create { parent, .. } => parent.as_deref() == Some(session),
                Call::Delete { .. } => false,
                call => call.session() == Some(session),
            };
            if touches {
                self.wrong(format!("{:?} was done after {session} was deleted", later.call));
            }
        }
    }

    fn detached(&self, session: &str) {
        if self.headers.get(session).is_none_or(|it| it.deleted.is_none() && !it.detached) {
            self.wrong(format!("{session} was detached, and is not"));
        }
    }

    /// Checks the log of a session that is not deleted. It must have as many events as the header
    /// states, and begin with the events of the session's parent.
    fn prefix(&self, session: &str, header: &Header) {
        let Some(log) = self.logs.get(session) else { return };
        let seqs = log.iter().map(|stored| stored.seq);
        let full = seqs.eq(0..u64::try_from(header.head_seq() + 1).unwrap_or(0));
        let Some(parent) = &header.parent_id else {
            if !full {
                self.wrong(format!("{session} has gaps"));
            }
            return;
        };
        let inheritable = usize::try_from(header.inherited.inheritable).unwrap_or(usize::MAX);
        let inherited = log.get(1..=inheritable).unwrap_or_default();
        if !full || inherited.len() != inheritable {
            return self.wrong(format!("{session} has lost some of what it inherits"));
        }
        let is_living = self.headers.get(parent.as_str()).is_some_and(|it| it.deleted.is_none());
        let Some(original) = self.logs.get(parent.as_str()).filter(|_| is_living) else { return };
        let original = original.iter().filter(|stored| stored.event.class.is_inherited());
        let same = |(a, b): (&LogEntry, &LogEntry)| (&a.origin, &a.event) == (&b.origin, &b.event);
        if !inherited.iter().zip(original).all(same) {
            self.wrong(format!("{session} inherits something else than {parent} has"));
        }
    }
}

/// Checks whether the events that the session wrote itself begin with `events`. The event
/// `session_fork`, the first one of a child, is skipped.
fn begins_with(log: &[LogEntry], header: &Header, events: &[String]) -> bool {
    let from = header.seq_of_own(u64::from(header.parent_id.is_some()));
    let own = log.iter().skip(usize::try_from(from).unwrap_or(usize::MAX));
    own.take(events.len())
        .map(|stored| stored.event.id.as_str())
        .eq(events.iter().map(String::as_str))
}
