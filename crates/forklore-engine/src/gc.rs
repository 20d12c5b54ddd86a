//! `gc`: erases deleted data from the files of the store and frees its space.

use forklore_store::port::Collected;

use crate::{Engine, Error, Result};

impl Engine {
    /// Removes stored data that no session needs, and attachments that no event mentions and no
    /// writer has pinned. Afterwards no file of the store contains deleted bytes.
    ///
    /// # Errors
    /// - `unsupported` if the store has neither maintenance operations nor attachments.
    /// - `busy` if another process locks the store, or reads an older state of it, for too long.
    /// - `corrupt` if a session is too damaged to determine which attachments it mentions. No
    ///   attachment is removed in this case.
    pub fn gc(&self) -> Result<Collected> {
        let maintains = self.store.capabilities().maintenance;
        if !maintains && self.attachments.is_none() {
            return Err(Error::Unsupported("this store gives no space back".into()));
        }
        let collected = if maintains { self.store.gc()? } else { Collected::default() };
        let swept = self.sweep_attachments()?;
        let collected = Collected {
            freed_bytes: collected.freed_bytes + swept.bytes,
            attachments: swept.attachments,
            ..collected
        };
        let Collected { freed_bytes, attachments, .. } = collected;
        tracing::info!(freed_bytes, attachments, "collected garbage");
        Ok(collected)
    }
}
