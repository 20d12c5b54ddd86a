//! Bytes beside the log that events name by their digest (SPEC 12).
//!
//! Beside the port: a store that keeps attachments keeps the bytes of each once, whoever names
//! them. It does not know which events do. So that a gc never takes bytes that are about to be
//! named, whoever names an attachment holds it until the event that names it is written, and a
//! [`sweep`](Attachments::sweep) spares what is held, and what was held since it was listed.

mod checked;
mod folder;

use std::any::Any;
use std::fmt;
use std::io::Read;

use forklore_core::AttachmentId;

pub use checked::{Checked, Damaged, check, failure};
pub use folder::AttachmentFolder;

use crate::error::Result;

/// How much of an attachment is in memory at once.
pub const BUFFER: usize = 256 << 10;

/// Keeps attachments, each once.
pub trait Attachments: Send + Sync {
    /// Keeps these bytes, at most `limit` of them, read to their end in constant memory. They are
    /// durable when it returns, and under their name whole or not at all whatever happens.
    ///
    /// # Errors
    /// `Invalid` when there are more than `limit` bytes, `Io` also for what `bytes` failed with;
    /// nothing is then kept. `Denied`, `Poisoned`.
    fn put(&self, bytes: &mut dyn Read, limit: u64) -> Result<Pin>;

    /// Holds an attachment that is there, for an event about to name it; none where it is not.
    ///
    /// # Errors
    /// `Corrupt` when something else stands in its place, `Denied`, `Io`.
    fn pin(&self, id: &AttachmentId) -> Result<Option<Pin>>;

    /// The bytes of an attachment as they are; [`Checked`] tells whether they are sound.
    ///
    /// # Errors
    /// `Corrupt` when something else stands in its place, `Io`.
    fn open(&self, id: &AttachmentId) -> Result<Option<Box<dyn Read + Send>>>;

    /// What is known of an attachment without reading it.
    ///
    /// # Errors
    /// `Corrupt` when something else stands in its place, `Io`.
    fn find(&self, id: &AttachmentId) -> Result<Option<Attachment>>;

    /// All attachments, in the order of their names.
    ///
    /// # Errors
    /// `Io`.
    fn list(&self) -> Result<Vec<Attachment>>;

    /// Removes those of an earlier [`list`](Attachments::list) that nobody holds now or has held
    /// or put since, and what was left of puts that were cut short.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    fn sweep(&self, unneeded: &[Attachment]) -> Result<Swept>;
}

/// An attachment that no sweep removes before this is dropped.
#[must_use]
pub struct Pin {
    /// Its name.
    pub id: AttachmentId,
    /// How many bytes it has.
    pub bytes: u64,
    /// Whether it was not there before.
    pub new: bool,
    _until: Box<dyn Any + Send + Sync>,
}

impl Pin {
    /// An attachment that is held until `until` is dropped.
    pub fn new(id: AttachmentId, bytes: u64, new: bool, until: impl Any + Send + Sync) -> Self {
        Self { id, bytes, new, _until: Box::new(until) }
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, bytes, new, .. } = self;
        f.debug_struct("Held")
            .field("id", id)
            .field("bytes", bytes)
            .field("new", new)
            .finish_non_exhaustive()
    }
}

/// What is known of an attachment without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its name.
    pub id: AttachmentId,
    /// How many bytes it has.
    pub bytes: u64,
    /// Another one whenever it was put or held.
    pub version: u128,
    /// Whether somebody holds it; told by a list only.
    pub pinned: bool,
}

/// What a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Attachments.
    pub attachments: u64,
    /// Their bytes, and those of what was left of puts.
    pub bytes: u64,
}
