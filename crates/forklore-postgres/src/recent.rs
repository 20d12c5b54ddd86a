//! What this process has last seen of the server: its clock, and the rows of some sessions.
//!
//! Another process may have changed a session since. So a row from here only serves a statement that
//! changes nothing unless the database has the same row.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use forklore_core::{Data, SessionId};
use forklore_store::clock::ServerClock;
use jiff::Timestamp;
use lru::LruCache;

use crate::history::{Ancestor, History};
use crate::session::{Inheritance, Session};

/// How many sessions are remembered.
const MOST: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// A session whose caller gave it more metadata and configuration than this, in bytes, is not
/// remembered.
const LONGEST: usize = 16 << 10;

/// What was seen last.
pub(crate) struct Recent {
    pub(crate) clock: ServerClock,
    sessions: Mutex<LruCache<SessionId, Session>>,
    /// The ancestors of sessions that were read. They never change while the session inherits from
    /// the same one.
    ancestors: Mutex<LruCache<SessionId, (Inheritance, Vec<Ancestor>)>>,
}

impl Recent {
    /// Begins with the time that the server states now.
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            clock: ServerClock::new(now),
            sessions: Mutex::new(LruCache::new(MOST)),
            ancestors: Mutex::new(LruCache::new(MOST)),
        }
    }

    /// Remembers a row as the database has it, if appends to its session are allowed.
    pub(crate) fn put(&self, session: &Session) {
        let header = &session.header;
        let extra = [&header.metadata, &header.config];
        let extra: usize = extra.into_iter().flatten().map(|data: &Data| data.get().len()).sum();
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if header.deleted.is_some() || extra > LONGEST {
            sessions.pop(&header.id);
        } else {
            sessions.put(header.id.clone(), session.clone());
        }
    }

    /// Returns the row of a session, and forgets it.
    pub(crate) fn take(&self, id: &SessionId) -> Option<Session> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).pop(id)
    }

    /// Remembers the row and the ancestors of a session that was read.
    pub(crate) fn put_history(&self, history: &History) {
        let History { session, ancestors } = history;
        self.put(session);
        if !ancestors.is_empty() {
            let found = (session.origin.clone(), ancestors.clone());
            let mut ancestors = self.ancestors.lock().unwrap_or_else(PoisonError::into_inner);
            ancestors.put(session.header.id.clone(), found);
        }
    }

    /// Returns the session as it was seen last, if its ancestors were seen too or it needs none.
    pub(crate) fn history(&self, id: &SessionId) -> Option<History> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(id)?.clone();
        drop(sessions);
        Some(History { ancestors: self.ancestors(&session)?, session })
    }

    /// Returns the ancestors of a session if they were seen, or if it needs none.
    pub(crate) fn ancestors(&self, session: &Session) -> Option<Vec<Ancestor>> {
        if session.origin.base.is_none() || session.origin.owned {
            return Some(Vec::new());
        }
        let mut seen = self.ancestors.lock().unwrap_or_else(PoisonError::into_inner);
        let (origin, ancestors) = seen.get(&session.header.id)?;
        (*origin == session.origin).then(|| ancestors.clone())
    }
}
