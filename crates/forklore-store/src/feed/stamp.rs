//! Stamps, which record when a session was written to, and feed pages built from them.

use forklore_core::{Header, SessionId};

use serde::{Deserialize, Serialize};

use super::{At, Position};
use crate::port::{Changes, SessionChange};

/// The numbers of the last commits that changed a session in each way; 0 means never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The commit that created it.
    pub created: u64,
    /// The last commit that appended to it.
    pub appended: u64,
    /// The last commit that changed its header or deleted it.
    pub changed: u64,
}

/// How a commit changed a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// Created the session.
    Created,
    /// Appended to it.
    Appended,
    /// Changed its header, or deleted it.
    Changed,
}

impl Stamp {
    /// Records that the commit `number` made this kind of change.
    pub fn note(&mut self, what: What, number: u64) {
        match what {
            What::Created => self.created = number,
            What::Appended => self.appended = number,
            What::Changed => self.changed = number,
        }
    }

    /// Returns the last commit that changed the session in any way.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.created.max(self.appended).max(self.changed)
    }

    /// Returns the changes to the session after the commit `base`.
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

/// Returns the session as the list of all sessions reports it.
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

/// Returns the page of the list of all sessions after `from`. `list` contains the sessions after it
/// in order, with their keys, and one more than `limit` if there are more. After the list, the
/// reader continues with the commits after `from.base`; `last` is the last commit.
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

/// Returns the page of commits after `from`. `found` contains all changes after it up to some
/// commit, with the numbers of the commit and the session, and one more than `limit` if there are
/// more. `last` is the number of the last commit of all.
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
        // Never move back: a reader may already be after the commits that this handle sees.
        _ => Position::behind(&from.store, from.generation, last.max(from.base)),
    };
    let sessions = found.into_iter().map(|(_, change)| change).collect();
    Changes { sessions, mark: position.mark(), more }
}
