//! Checks that each acknowledged event is stored exactly once and at its acknowledged position, and
//! that the log has the events in real-time order.

use std::collections::{BTreeMap, BTreeSet};

use super::{Check, is_whole};
use crate::history::{Answer, Call, Entry};

/// The events that a session wrote itself, as pairs of seq and id.
type Own<'l> = Vec<(u64, &'l str)>;

impl Check<'_> {
    pub(super) fn appends(&self) {
        self.check_events();
        for (session, log) in &self.logs {
            let own: Own<'_> = log
                .iter()
                .filter(|stored| stored.origin.session_id.as_str() == session)
                .map(|stored| (stored.seq, stored.event.id.as_str()))
                .collect();
            self.positions(session, &own);
            self.order(session, &own);
        }
        self.heads();
    }

    /// Checks every stored event: a recorded call must have requested it, its text must be
    /// complete, and all sessions that contain it must show the same event.
    fn check_events(&self) {
        let mut requested = BTreeMap::new();
        for entry in self.entries {
            for event in entry.call.events() {
                requested.insert(event.as_str(), entry);
            }
        }
        let mut origins = BTreeMap::new();
        for (session, log) in &self.logs {
            let is_ours = self.about(session).next().is_some();
            for stored in log.iter().filter(|_| is_ours) {
                let (id, seq) = (stored.event.id.as_str(), stored.seq);
                let there = (stored.origin.session_id.as_str(), stored.origin.seq);
                if *origins.entry(there).or_insert(id) != id {
                    self.wrong(format!("{there:?} is {id} in {session}, and another elsewhere"));
                }
                match requested.get(id) {
                    Some(entry) if entry.call.session() != Some(there.0) => {
                        self.wrong(format!(
                            "{id} stands in {session}, it was for {:?}",
                            entry.call
                        ));
                    }
                    Some(_) if !is_whole(stored) => {
                        self.wrong(format!("{id} at {session} {seq} is not what was written"));
                    }
                    None if stored.event.kind.as_str() != "session_fork" => {
                        self.wrong(format!("{id} at {session} {seq} was written by nobody"));
                    }
                    _ => {}
                }
            }
        }
        // If the session of an acknowledged event is now deleted, sessions that inherited the event
        // must show it at the acknowledged position.
        for entry in self.entries {
            let Some((_, Answer::Appended { from, .. })) = &entry.answered else { continue };
            for (id, seq) in entry.call.events().iter().zip(*from..) {
                let there = (entry.call.session().unwrap_or_default(), seq);
                if origins.get(&there).is_some_and(|found| *found != id.as_str()) {
                    self.wrong(format!("{there:?} is {:?}, not {id}", origins.get(&there)));
                }
            }
        }
    }

    /// Checks the appends to a session. Each acknowledged append must be stored completely at its
    /// acknowledged position. An append without an answer must be stored completely or not at all.
    /// `own` are the events that the session wrote itself.
    fn positions(&self, session: &str, own: &Own<'_>) {
        let mut seqs: BTreeMap<&str, u64> = BTreeMap::new();
        for (seq, id) in own {
            if seqs.insert(id, *seq).is_some() {
                self.wrong(format!("{id} stands twice in {session}"));
            }
        }
        let refused = self.refused_events(session);
        for entry in self.about(session) {
            let events = entry.call.events();
            let found: Vec<_> = events.iter().map(|id| seqs.get(id.as_str()).copied()).collect();
            let whole = found.first().copied().flatten().is_some_and(|first| {
                found.iter().zip(first..).all(|(found, seq)| *found == Some(seq))
            });
            let none = found.iter().all(Option::is_none);
            let what =
                || format!("{}'s {events:?} in {session} stands at {found:?}", entry.process);
            match (&entry.call, &entry.answered) {
                (Call::Append { .. }, Some((_, Answer::Appended { from, to, .. }))) => {
                    let promised = (*from, *to)
                        == (found[0].unwrap_or(u64::MAX), *from + events.len() as u64 - 1);
                    if !whole || !promised {
                        self.wrong(format!("lost: {}, told {from} to {to}", what()));
                    }
                }
                (Call::Append { .. }, Some(_)) if refused.contains(events[0].as_str()) && !none => {
                    self.wrong(format!("refused, but written: {}", what()));
                }
                (Call::Append { .. }, None) if !whole && !none => {
                    self.wrong(format!("half a batch: {}", what()));
                }
                _ => {}
            }
        }
    }

    /// Returns the ids of the first events of refused appends: of each batch that was refused and
    /// never successfully repeated.
    fn refused_events(&self, session: &str) -> BTreeSet<&str> {
        let mut refused = BTreeSet::new();
        for entry in self.about(session).filter(|it| !it.is_open() && !it.is_done()) {
            refused.extend(entry.call.events().first().map(String::as_str));
        }
        for entry in self.about(session).filter(|it| it.is_open() || it.is_done()) {
            if let Some(event) = entry.call.events().first() {
                refused.remove(event.as_str());
            }
        }
        refused
    }

    /// Checks the order of appends: if append A was acknowledged before append B was requested, A
    /// precedes B in the log of the session.
    fn order(&self, session: &str, own: &Own<'_>) {
        let mut by_first = BTreeMap::new();
        for entry in self.about(session) {
            // A repeated append writes nothing, so the first of the two calls counts.
            if let (Call::Append { events, .. }, false) = (&entry.call, is_refused(entry)) {
                by_first.entry(events[0].as_str()).or_insert(entry);
            }
        }
        let mut latest: Option<&Entry> = None;
        for (seq, id) in own {
            let Some(entry) = by_first.get(id) else { continue };
            if let Some(before) = latest.filter(|before| entry.is_before(before)) {
                self.wrong(format!(
                    "{session} {seq}: {id} was acknowledged before {:?} was asked, and stands \
                     behind it",
                    before.call.events()
                ));
            }
            if latest.is_none_or(|before| before.invoked < entry.invoked) {
                latest = Some(entry);
            }
        }
    }

    /// Checks the heads of appends that required a certain head. A successful append must directly
    /// follow that head. For a refused append, the session must have had the head that the refusal
    /// reported.
    fn heads(&self) {
        for entry in self.entries {
            let Call::Append { session, expect: Some(expect), .. } = &entry.call else { continue };
            match &entry.answered {
                Some((_, Answer::Appended { from, .. }))
                    if i64::try_from(*from) != Ok(expect + 1) =>
                {
                    self.wrong(format!("{:?} stands at {from}", entry.call));
                }
                Some((_, Answer::Refused { head: Some(head), .. })) => {
                    self.reported_head(entry, session, *head);
                    let first = |other: &&Entry| other.call == entry.call && other.is_before(entry);
                    if self.about(session).filter(first).any(Entry::is_done) {
                        self.wrong(format!("a repetition was refused: {:?}", entry.call));
                    }
                    if head == expect {
                        self.wrong(format!(
                            "{:?} was refused though {head} is the head",
                            entry.call
                        ));
                    }
                }
                _ => {}
            }
        }
    }

    fn reported_head(&self, reported: &Entry, session: &str, head: i64) {
        for entry in self.about(session) {
            // The answer to a repeated append names a position that was written earlier, so it is
            // ignored.
            let Some((_, Answer::Appended { from, to, repeated: false })) = &entry.answered else {
                continue;
            };
            let (from, to) = (i64::try_from(*from).unwrap_or(0), i64::try_from(*to).unwrap_or(0));
            if entry.is_before(reported) && to > head {
                self.wrong(format!("{session}: told the head {head} after {to} was acknowledged"));
            }
            if reported.is_before(entry) && from <= head {
                self.wrong(format!("{session}: told the head {head} before {from} was asked for"));
            }
        }
    }
}

fn is_refused(entry: &Entry) -> bool {
    !entry.is_open() && !entry.is_done()
}
