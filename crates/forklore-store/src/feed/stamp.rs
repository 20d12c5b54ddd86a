//! When a session was written to, and the page of a feed that is made of such stamps.

use forklore_core::{Header, SessionId};

use serde::{Deserialize, Serialize};

use super::{At, Position};
use crate::port::{Changes, SessionChange};

/// The numbers of the last commits that did something to a session; 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// That made it.
    pub created: u64,
    /// That appended to it.
    pub appended: u64,
    /// That changed its header, or deleted it.
    pub changed: u64,
}

/// What a commit did to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// It made it.
    Created,
    /// It appended to it.
    Appended,
    /// It changed something in its header, or deleted it.
    Changed,
}

impl Stamp {
    /// Notes that the commit `number` did this.
    pub fn note(&mut self, what: What, number: u64) {
        match what {
            What::Created => self.created = number,
            What::Appended => self.appended = number,
            What::Changed => self.changed = number,
        }
    }

    /// The last commit that did anything.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.created.max(self.appended).max(self.changed)
    }

    /// What happened to the session behind the commit `base`.
    #[must_use]
    pub fn behind(
        &self,
        base: u64,
        session: SessionId,
        head_seq: i64,
        removed: bool,
    ) -> SessionChange {
        SessionChange {
            session,
            head_seq,
            created: self.created > base,
            appended: self.appended > base,
            changed: self.changed > base && !removed,
            removed,
        }
    }
}

/// A session as a reader finds it that begins with the list of all.
#[must_use]
pub fn listed(header: &Header) -> SessionChange {
    SessionChange {
        session: header.id.clone(),
        head_seq: header.head_seq(),
        created: true,
        appended: false,
        changed: false,
        removed: header.deleted.is_some(),
    }
}

/// The page behind `from` of the list of all sessions: `list` holds those behind it in order, with
/// their keys, and one more than the limit where there are more. Behind the list the reader goes on
/// with the commits behind `from.base`, of which `last` is the last.
#[must_use]
pub fn list_page(
    from: &Position,
    mut list: Vec<(String, SessionChange)>,
    limit: usize,
    last: u64,
) -> Changes {
    let more = limit > 0 && list.len() > limit;
    if more {
        list.truncate(limit);
    }
    let at = match list.last() {
        Some((key, _)) if more => At::Listed(key.clone()),
        _ => At::Commit(from.base, u64::MAX),
    };
    let position = Position { at, ..from.clone() };
    let sessions = list.into_iter().map(|(_, change)| change).collect();
    Changes { sessions, mark: position.mark(), more: more || last > from.base }
}

/// The page behind `from` of what was committed: `found` holds everything behind it up to some
/// commit, by the commit and the number of the session, and one more than the limit where there is
/// more. `last` is the last commit of all.
#[must_use]
pub fn commit_page(
    from: &Position,
    mut found: Vec<((u64, u64), SessionChange)>,
    limit: usize,
    last: u64,
) -> Changes {
    found.sort_unstable_by_key(|(at, _)| *at);
    let more = limit > 0 && found.len() > limit;
    if more {
        found.truncate(limit);
    }
    let position = match found.last() {
        Some(((number, session), _)) if more => {
            Position { at: At::Commit(*number, *session), ..from.clone() }
        }
        // Never back: a reader may be ahead of what this handle finds.
        _ => Position::behind(&from.store, from.generation, last.max(from.base)),
    };
    let sessions = found.into_iter().map(|(_, change)| change).collect();
    Changes { sessions, mark: position.mark(), more }
}
