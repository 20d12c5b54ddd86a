//! Stamps, which record the last commits that wrote to a session, and the feed pages that are built
//! from stamps.

use forklore_core::{Header, SessionId};

use serde::{Deserialize, Serialize};

use super::{At, Position};
use crate::port::{Changes, SessionChange};

/// The numbers of the last commits that changed a session, one for each kind of change. A number is
/// 0 if no commit made that kind of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the last commit that created the session or brought it back from the trash.
    pub created: u64,
    /// The number of the last commit that appended events to the session.
    pub appended: u64,
    /// The number of the last commit that changed the session's header or deleted the session.
    pub changed: u64,
}

/// The kind of change that a commit made to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The commit created the session or brought it back from the trash.
    Created,
    /// The commit appended events to the session.
    Appended,
    /// The commit changed the session's header or deleted the session.
    Changed,
}

impl Stamp {
    /// Records that the commit with this number made this kind of change to the session.
    pub fn note(&mut self, what: What, number: u64) {
        match what {
            What::Created => self.created = number,
            What::Appended => self.appended = number,
            What::Changed => self.changed = number,
        }
    }

    /// Returns the number of the last commit that changed the session in any way.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.created.max(self.appended).max(self.changed)
    }

    /// Returns the changes that commits with numbers greater than `base` made to the session. The
    /// other arguments describe the session's current state.
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

/// Returns a session's entry in the initial list of all sessions, which a new reader of a feed gets
/// first.
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

/// Returns the next page of the list of all sessions, which a new reader of a feed gets first.
/// `list` contains the sessions after the position `from`, in order, each with its key. If more
/// than `limit` sessions remain, `list` has at least `limit` + 1 entries. A `limit` of 0 means no
/// limit. After the list, the reader continues with the commits after `from.base`. `last` is the
/// number of the store's last commit.
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

/// Returns the next page of the feed, which lists the sessions that commits changed. `found`
/// contains the changes after the position `from`, without gaps, each with the numbers of its
/// commit and of its session. If more than `limit` changes remain, `found` has at least `limit` + 1
/// entries. A `limit` of 0 means no limit. `last` is the number of the store's last commit.
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
        // Never move the position back: the reader's mark may be later than the commits that this
        // handle sees.
        _ => Position::behind(&from.store, from.generation, last.max(from.base)),
    };
    let sessions = found.into_iter().map(|(_, change)| change).collect();
    Changes { sessions, mark: position.mark(), more }
}
