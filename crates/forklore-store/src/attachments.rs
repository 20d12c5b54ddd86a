//! Attachments: bytes stored next to the log, which events name by digest (docs/semantics.md,
//! Attachments).
//!
//! This interface is separate from the `Store` trait and optional. Each attachment is stored once,
//! however many events name it, and the storage does not know which events do. A gc must not remove
//! bytes that are about to be named. Therefore, a writer pins an attachment until the event that
//! names it is written, and a [`sweep`](Attachments::sweep) spares attachments that are pinned, or
//! were pinned since they were listed.

mod checked;
mod folder;

use std::any::Any;
use std::fmt;
use std::io::Read;

use forklore_core::AttachmentId;

pub use checked::{Checked, Damaged, check, failure};
pub use folder::AttachmentFolder;

use crate::error::Result;

/// The size of the read buffer: how many bytes of an attachment are in memory at once.
pub const BUFFER: usize = 256 << 10;

/// Storage for attachments, each stored once.
pub trait Attachments: Send + Sync {
    /// Stores these bytes, at most `limit` of them. Reads them to the end in constant memory. The
    /// bytes are durable when it returns. Even after a crash, their name gives either all bytes or
    /// nothing.
    ///
    /// # Errors
    /// `Invalid` if there are more than `limit` bytes, `Io` also if reading `bytes` fails; then
    /// nothing is stored. `Denied`, `Poisoned`.
    fn put(&self, bytes: &mut dyn Read, limit: u64) -> Result<Pin>;

    /// Pins an existing attachment for an event about to name it; `None` if it does not exist.
    ///
    /// # Errors
    /// `Corrupt` if its path is not a regular file, `Denied`, `Io`.
    fn pin(&self, id: &AttachmentId) -> Result<Option<Pin>>;

    /// Opens the bytes of an attachment as they are stored. [`Checked`] verifies them.
    ///
    /// # Errors
    /// `Corrupt` if its path is not a regular file, `Io`.
    fn open(&self, id: &AttachmentId) -> Result<Option<Box<dyn Read + Send>>>;

    /// Returns the metadata of an attachment without reading its bytes.
    ///
    /// # Errors
    /// `Corrupt` if its path is not a regular file, `Io`.
    fn find(&self, id: &AttachmentId) -> Result<Option<Attachment>>;

    /// Lists all attachments, ordered by name.
    ///
    /// # Errors
    /// `Io`.
    fn list(&self) -> Result<Vec<Attachment>>;

    /// Removes those attachments of an earlier [`list`](Attachments::list) that are not pinned now
    /// and have not been pinned or put since. Also removes the remains of interrupted puts.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    fn sweep(&self, unneeded: &[Attachment]) -> Result<Swept>;
}

/// A pinned attachment: no sweep removes it before this value is dropped.
#[must_use]
pub struct Pin {
    /// The attachment's name.
    pub id: AttachmentId,
    /// The attachment's length in bytes.
    pub bytes: u64,
    /// Whether this put stored it; false if it already existed.
    pub new: bool,
    _until: Box<dyn Any + Send + Sync>,
}

impl Pin {
    /// Creates a pin that lasts until `until` is dropped.
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

/// The metadata of an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The attachment's name.
    pub id: AttachmentId,
    /// The attachment's length in bytes.
    pub bytes: u64,
    /// A version that changes whenever the attachment is put or pinned.
    pub version: u128,
    /// Whether it is pinned. Only [`list`](Attachments::list) sets this.
    pub pinned: bool,
}

/// The result of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// The number of attachments removed.
    pub attachments: u64,
    /// The bytes freed, including those of interrupted puts.
    pub bytes: u64,
}
