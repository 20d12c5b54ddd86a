//! `pack`: what is seldom read takes less space, and deep histories are read like short ones.

use std::time::Duration;

use forklore_store::port::Packed;
use jiff::Timestamp;

use crate::{Engine, Error, Result};

impl Engine {
    /// Writes the families in less space of which no session was updated for `idle`, and joins
    /// histories that are made of very many small pieces. No answer changes.
    ///
    /// # Errors
    /// `unsupported` for a store that cannot, `busy`.
    pub fn pack(&self, idle: Duration) -> Result<Packed> {
        if !self.store.capabilities().maintenance {
            return Err(Error::Unsupported("this store packs nothing".into()));
        }
        let cold = self.now().checked_sub(idle).unwrap_or(Timestamp::MIN);
        Ok(self.store.pack(cold)?)
    }
}
