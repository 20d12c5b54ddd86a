//! `gc`: the space of what was deleted is given back (SPEC 10).

use forklore_store::port::Collected;

use crate::{Engine, Error, Result};

impl Engine {
    /// Removes what no session needs; afterwards no file of the store contains deleted bytes
    /// (SPEC 10).
    ///
    /// # Errors
    /// `unsupported` for a store that keeps everything, `busy`.
    pub fn gc(&self) -> Result<Collected> {
        let Some(upkeep) = &self.upkeep else {
            return Err(Error::Unsupported("this store gives no space back".into()));
        };
        Ok(upkeep.gc(self.now())?)
    }
}
