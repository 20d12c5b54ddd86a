//! The methods of [`Forklore`] that make and check anchors.

use forklore_core::SessionId;
use forklore_engine::{Anchor, AnchorKey, AnchorOptions, AnchorReport, Engine, Result};

use super::Forklore;

impl Forklore {
    /// Returns the head of a session, or of all sessions that are not deleted, each with the hash
    /// of its events up to it (docs/semantics.md, Integrity). With a key, each is signed.
    ///
    /// # Errors
    /// `not_found` if the session does not exist; `corrupt` or `missing_ancestor` if its events, or
    /// those of any session, cannot be read.
    pub async fn anchors(
        &self,
        session: Option<SessionId>,
        key: Option<AnchorKey>,
    ) -> Result<Vec<Anchor>> {
        self.step(move |engine: &Engine| engine.anchors(session.as_ref(), key.as_ref())).await
    }

    /// Verifies the whole store, and compares anchors with its sessions.
    ///
    /// # Errors
    /// The error of a store that cannot be read at all. Whatever is wrong with a session is a
    /// result in `checks`, or in `verification`.
    pub async fn check_anchors(
        &self,
        anchors: Vec<Anchor>,
        options: AnchorOptions,
    ) -> Result<AnchorReport> {
        self.step(move |engine: &Engine| engine.check_anchors(&anchors, &options)).await
    }
}
