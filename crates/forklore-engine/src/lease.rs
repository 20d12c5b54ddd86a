//! Leases: only one runtime at a time runs a session.

use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_store::port::Change;
use jiff::SignedDuration;

use crate::{Engine, Result};

/// How long a lease lasts without renewal: 10 s.
pub const LEASE: Duration = Duration::from_secs(10);

impl Engine {
    /// Acquires or renews the session's lease for a turn (docs/semantics.md, Writing).
    ///
    /// # Errors
    /// `busy` with the owner's name if somebody else has the lease.
    pub fn take_lease(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let lasts = SignedDuration::try_from(LEASE).unwrap_or(SignedDuration::MAX);
        let change = Change::Hold { owner: owner.to_owned(), lasts };
        Ok(self.store.change(session, &change)?.header)
    }

    /// Releases the lease at the end of a turn.
    ///
    /// # Errors
    /// `conflict` if `owner` no longer has the lease.
    pub fn release(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let change = Change::Release { owner: owner.to_owned() };
        Ok(self.store.change(session, &change)?.header)
    }
}
