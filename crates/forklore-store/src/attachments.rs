//! Storage for attachments: bytes stored outside the log, which events name by their digest
//! (docs/semantics.md, Attachments).
//!
//! This interface is separate from the `Store` trait, and a store may lack it. Each attachment is
//! stored once, however many events name it. The storage has no record of which events name an
//! attachment. A gc must not remove an attachment that an event is about to name. A writer
//! therefore pins the attachment until that event is written. A [`sweep`](Attachments::sweep)
//! removes no attachment that is pinned, or that was pinned after it was listed.

mod checked;
mod folder;

use std::any::Any;
use std::fmt;
use std::io::Read;

use forklore_core::AttachmentId;
use serde::{Deserialize, Serialize};

pub use checked::{Checked, Damaged, check, failure};
pub use folder::AttachmentFolder;

use crate::error::Result;

/// The size of the read buffer, in bytes: the largest part of an attachment that is in memory at
/// once.
pub const BUFFER: usize = 256 << 10;

/// Storage for attachments, which are byte strings that events name by their SHA-256. Equal
/// attachments are stored once.
pub trait Attachments: Send + Sync {
    /// Reads `bytes` to the end and stores them as an attachment. Returns a pin, which protects the
    /// attachment from removal. Storage on a disk reads in constant memory. The attachment is
    /// durable when the method returns, unless the storage is in memory. Even after a crash, a read
    /// of the attachment gives either all its bytes or nothing.
    ///
    /// # Errors
    /// `Invalid` if there are more than `limit` bytes; `Io` if reading `bytes` or a write fails. In
    /// both cases, nothing is stored. `Denied` if the storage is read-only or the operating system
    /// forbids the write; `Poisoned` if a sync of the disk failed.
    fn put(&self, bytes: &mut dyn Read, limit: u64) -> Result<Pin>;

    /// Pins an existing attachment, for an event that is about to name it. A pin prevents the
    /// removal of the attachment. Returns `None` if the attachment does not exist.
    ///
    /// # Errors
    /// `Corrupt` if the path of the attachment is not a regular file; `Denied` if the storage is
    /// read-only or the operating system forbids the access; `Poisoned` if a sync of the disk
    /// failed; `Io` if the file cannot be accessed for another reason.
    fn pin(&self, id: &AttachmentId) -> Result<Option<Pin>>;

    /// Opens an attachment for reading, without verifying its bytes; [`Checked`] verifies them.
    /// Returns `None` if the attachment does not exist.
    ///
    /// # Errors
    /// `Corrupt` if the path of the attachment is not a regular file; `Io` if the file cannot be
    /// opened.
    fn open(&self, id: &AttachmentId) -> Result<Option<Box<dyn Read + Send>>>;

    /// Returns the metadata of an attachment, without reading its bytes; `None` if the attachment
    /// does not exist.
    ///
    /// # Errors
    /// `Corrupt` if the path of the attachment is not a regular file; `Io` if the file cannot be
    /// accessed.
    fn find(&self, id: &AttachmentId) -> Result<Option<Attachment>>;

    /// Lists all attachments, ordered by name.
    ///
    /// # Errors
    /// `Io` if the storage cannot be read.
    fn list(&self) -> Result<Vec<Attachment>>;

    /// Removes the attachments in `unneeded`, which come from an earlier
    /// [`list`](Attachments::list). The method skips each attachment that is pinned, or that was
    /// pinned or put after that list. It also removes the remains of interrupted puts.
    ///
    /// # Errors
    /// `Denied` if the storage is read-only or the operating system forbids the removal; `Io` if
    /// the removal fails for another reason.
    fn sweep(&self, unneeded: &[Attachment]) -> Result<Swept>;
}

/// A pin, which protects an attachment from removal until the pin is dropped.
#[must_use]
pub struct Pin {
    /// The attachment's name, which is the SHA-256 of its bytes.
    pub id: AttachmentId,
    /// The attachment's length in bytes.
    pub bytes: u64,
    /// Whether the call that returned this pin stored the attachment; false if it already existed.
    pub new: bool,
    _until: Box<dyn Any + Send + Sync>,
}

impl Pin {
    /// Creates a pin, which protects the attachment `id` from removal. The pin owns `until`; the
    /// protection ends when `until` is dropped. In a folder of attachments, `until` is a locked
    /// file.
    pub fn new(id: AttachmentId, bytes: u64, new: bool, until: impl Any + Send + Sync) -> Self {
        Self { id, bytes, new, _until: Box::new(until) }
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, bytes, new, .. } = self;
        f.debug_struct("Pin")
            .field("id", id)
            .field("bytes", bytes)
            .field("new", new)
            .finish_non_exhaustive()
    }
}

/// The metadata of an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The attachment's name, which is the SHA-256 of its bytes.
    pub id: AttachmentId,
    /// The attachment's length in bytes.
    pub bytes: u64,
    /// The version of the attachment: a number that changes whenever the attachment is stored again
    /// or pinned.
    pub version: u128,
    /// Whether the attachment is pinned, i.e. protected from removal. This field is reliable only
    /// in a result of [`list`](Attachments::list).
    pub pinned: bool,
}

/// The result of a sweep, which removes attachments that no event needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swept {
    /// The number of attachments removed.
    pub attachments: u64,
    /// The number of bytes freed, including those of attachments whose write was interrupted.
    pub bytes: u64,
}
