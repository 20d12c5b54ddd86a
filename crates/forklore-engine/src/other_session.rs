//! Looks up a session that an answer only mentions. If that session is lost or damaged, the rest of
//! the answer is still given (docs/semantics.md, Fork).

use forklore_core::{ErrorKind, Header, SessionId};
use forklore_store::Error as StoreError;

use crate::{Engine, Result};

/// A session that an answer mentions, as far as the store still has it.
pub(crate) enum OtherSession {
    /// The session's header, which may be a tombstone.
    There(Box<Header>),
    /// The store does not have the session.
    Missing,
    /// The store has the session, but cannot read its header.
    Damaged,
}

impl OtherSession {
    /// Returns the session's header, if the store has it and can read it.
    pub(crate) fn header(self) -> Option<Header> {
        match self {
            Self::There(header) => Some(*header),
            Self::Missing | Self::Damaged => None,
        }
    }
}

impl Engine {
    /// Looks up a session that an answer about another session mentions.
    ///
    /// # Errors
    /// The errors of the store, except those for a session that does not exist, is lost or is
    /// damaged.
    pub(crate) fn other_session(&self, id: &SessionId) -> Result<OtherSession> {
        match self.store.header(id) {
            Ok(header) => Ok(OtherSession::There(Box::new(header))),
            Err(StoreError::NotFound(_) | StoreError::Lost { .. }) => Ok(OtherSession::Missing),
            // The session was deleted, and the rest of its header is lost.
            Err(StoreError::Deleted(_)) => Ok(OtherSession::Damaged),
            Err(error) => match error.kind() {
                ErrorKind::Corrupt | ErrorKind::MissingAncestor => Ok(OtherSession::Damaged),
                _ => Err(error.into()),
            },
        }
    }
}
