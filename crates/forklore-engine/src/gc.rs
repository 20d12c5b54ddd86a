//! `gc`: erases the sessions that have been in the trash long enough, removes deleted data from the
//! files of the store, and frees the space.

use forklore_api::Gc;
use forklore_core::SessionId;
use forklore_store::port::{Children, Collected, Deletion, Filter};
use jiff::{SignedDuration, Timestamp};

use crate::{Engine, Error, Result};

impl Engine {
    /// Collects garbage like [`collect`](Self::collect). Erases the sessions that have been in the
    /// trash for 30 days or longer.
    ///
    /// # Errors
    /// Those of [`collect`](Self::collect).
    pub fn gc(&self) -> Result<Collected> {
        self.collect(&Gc::default())
    }

    /// Erases the sessions that have been in the trash for at least the time that the request
    /// states. Then removes stored data that no session needs, and attachments that no event
    /// mentions and no writer has pinned. Afterwards no file of the store contains erased bytes.
    ///
    /// # Errors
    /// - `unsupported` if the store has neither maintenance operations nor attachments.
    /// - `busy` if another process locks the store, or reads an older state of it, for too long.
    /// - `corrupt` if a session is too damaged to determine which attachments it mentions. No
    ///   attachment is removed in this case.
    pub fn collect(&self, request: &Gc) -> Result<Collected> {
        let maintains = self.store.capabilities().maintenance;
        if !maintains && self.attachments.is_none() {
            return Err(Error::Unsupported("this store gives no space back".into()));
        }
        let sessions = self.expire(request)?;
        let collected = if maintains { self.store.gc()? } else { Collected::default() };
        let swept = self.sweep_attachments()?;
        let collected = Collected {
            freed_bytes: collected.freed_bytes + swept.bytes,
            attachments: swept.attachments,
            sessions,
            ..collected
        };
        let Collected { freed_bytes, attachments, .. } = collected;
        tracing::info!(sessions, freed_bytes, attachments, "collected garbage");
        Ok(collected)
    }

    /// Returns the sessions that have been in the trash for at least the time that the request
    /// states, by the store's clock.
    ///
    /// # Errors
    /// `corrupt` or `internal` if the store cannot be read.
    pub fn expired(&self, request: &Gc) -> Result<Vec<SessionId>> {
        self.deleted_before(self.end_of_trash(request))
    }

    /// Returns the latest time of deletion of the sessions that the request erases now.
    fn end_of_trash(&self, request: &Gc) -> Timestamp {
        let age = i64::try_from(request.trash_older_than_seconds).unwrap_or(i64::MAX);
        let before = self.store.now().checked_sub(SignedDuration::from_secs(age));
        before.unwrap_or(Timestamp::MIN)
    }

    fn deleted_before(&self, before: Timestamp) -> Result<Vec<SessionId>> {
        let trash = Filter { trash: true, ..Filter::default() };
        let is_old = |deleted: Option<Timestamp>| deleted.is_some_and(|deleted| deleted <= before);
        let found = self.store.sessions(&trash, None, 0)?.sound.into_iter();
        let old = found.filter(|header| is_old(header.deleted.map(|it| it.deleted)));
        Ok(old.map(|header| header.id).collect())
    }

    /// Erases the sessions that have been in the trash for at least the time that the request
    /// states. Returns their number.
    fn expire(&self, request: &Gc) -> Result<u64> {
        let before = self.end_of_trash(request);
        let old = self.deleted_before(before)?;
        if old.is_empty() {
            return Ok(0);
        }
        // The store checks again that each of them is still in the trash, and old enough.
        let expire = Deletion::Expire(before);
        let erased = self.store.delete(&old, Children::Retain, expire, self.now())?;
        Ok(erased.deleted.len() as u64)
    }
}
