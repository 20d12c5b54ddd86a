//! Leases: a lease lets only one runtime at a time write a session.

use std::time::Duration;

use forklore_core::header::Lease;
use forklore_core::{Header, SessionId};
use forklore_store::port::Change;
use forklore_store::rules::lease_of_other;
use jiff::SignedDuration;

use crate::{Engine, Result};

/// How long a lease is valid after it was acquired or renewed: 10 s.
pub const LEASE: Duration = Duration::from_secs(10);

impl Engine {
    /// Acquires or renews the session's lease for the runtime `owner` (docs/semantics.md, Writing).
    ///
    /// # Errors
    /// `busy` with the name of the current owner, if another owner has the lease.
    pub fn take_lease(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let lasts = SignedDuration::try_from(LEASE).unwrap_or(SignedDuration::MAX);
        let change = Change::Hold { owner: owner.to_owned(), lasts };
        Ok(self.store.change(session, &change)?.header)
    }

    /// Checks whether a runtime has leased the session now, according to `header`. Ignores a lease
    /// if the process of its owner is certainly gone.
    #[must_use]
    pub fn is_leased(&self, header: &Header) -> bool {
        self.lease_of(header).is_some()
    }

    /// Returns the lease that a runtime has on the session now, according to `header`. Ignores a
    /// lease if the process of its owner is certainly gone.
    #[must_use]
    pub fn lease_of<'h>(&self, header: &'h Header) -> Option<&'h Lease> {
        lease_of_other(header, None, self.now())
    }

    /// Releases the session's lease that the runtime `owner` has.
    ///
    /// # Errors
    /// `conflict` if `owner` no longer has the lease.
    pub fn release(&self, session: &SessionId, owner: &str) -> Result<Header> {
        let change = Change::Release { owner: owner.to_owned() };
        Ok(self.store.change(session, &change)?.header)
    }
}
