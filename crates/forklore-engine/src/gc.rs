//! `gc`: the space of what was deleted is given back (SPEC 10).

use forklore_store::port::Collected;

use crate::{Engine, Error, Result};

impl Engine {
    /// Removes what no session needs, and the attachments that no event names and nobody is about
    /// to name; afterwards no file of the store contains deleted bytes (SPEC 10, 12).
    ///
    /// # Errors
    /// `unsupported` for a store that keeps everything, `busy`; `corrupt` when nobody can say
    /// which attachments a damaged session names: then none is removed.
    pub fn gc(&self) -> Result<Collected> {
        let maintains = self.store.capabilities().maintenance;
        if !maintains && self.attachments.is_none() {
            return Err(Error::Unsupported("this store gives no space back".into()));
        }
        let collected = if maintains { self.store.gc()? } else { Collected::default() };
        let swept = self.sweep_attachments()?;
        Ok(Collected {
            freed_bytes: collected.freed_bytes + swept.bytes,
            attachments: swept.attachments,
            ..collected
        })
    }
}
