//! `pack`: compresses families that are idle, and makes deep histories as fast to read as short
//! ones.

use std::time::Duration;

use forklore_store::port::Packed;
use jiff::Timestamp;

use crate::{Engine, Error, Result};

impl Engine {
    /// Compresses the families (all sessions with one root) in which no session was updated for the
    /// duration `idle`. If a history is stored as very many small ranges, joins these ranges. Does
    /// not change what other operations return.
    ///
    /// # Errors
    /// `unsupported` if the store has no maintenance operations; `busy` if another process locks
    /// the store for too long.
    pub fn pack(&self, idle: Duration) -> Result<Packed> {
        if !self.store.capabilities().maintenance {
            return Err(Error::Unsupported("this store packs nothing".into()));
        }
        let cold = self.now().checked_sub(idle).unwrap_or(Timestamp::MIN);
        Ok(self.store.pack(cold)?)
    }
}
