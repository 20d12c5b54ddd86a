//! Leases: one runtime at a time runs a session (SPEC 9).

use std::time::Duration;

use forklore_core::{Header, SessionId};
use forklore_store::port::Change;
use jiff::SignedDuration;

use crate::{Engine, Result};

/// How long a lease holds without being renewed.
pub const LEASE: Duration = Duration::from_secs(10);

impl Engine {
    /// Takes a session's lease for a turn, or renews it (SPEC 9).
    ///
    /// # Errors
    /// `busy` naming the owner while somebody else holds it.
    pub fn take_lease(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let lasts = SignedDuration::try_from(LEASE).unwrap_or(SignedDuration::MAX);
        let change = Change::Hold { owner: owner.to_owned(), lasts };
        Ok(self.store.change(session, &change)?.header)
    }

    /// Gives the lease back at the end of a turn (SPEC 9).
    ///
    /// # Errors
    /// `conflict` when the lease is no longer the owner's.
    pub fn release(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let change = Change::Release { owner: owner.to_owned() };
        Ok(self.store.change(session, &change)?.header)
    }
}
