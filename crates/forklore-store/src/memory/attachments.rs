//! The attachment storage of the memory store.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forklore_core::AttachmentId;
use sha2::{Digest, Sha256};

use crate::attachments::{Attachment, Attachments, Pin, Swept};
use crate::error::{Error, Result};

/// Attachment storage in memory. All attachments are lost when the storage is dropped.
#[derive(Debug, Default)]
pub struct MemoryAttachments {
    stored: Mutex<BTreeMap<AttachmentId, Stored>>,
    versions: AtomicU64,
}

#[derive(Debug)]
struct Stored {
    bytes: Arc<[u8]>,
    version: u128,
    /// Each pin has a clone of this value, so the reference count shows whether the attachment is
    /// pinned.
    holders: Arc<()>,
}

impl Stored {
    fn describe(&self, id: AttachmentId) -> Attachment {
        let pinned = Arc::strong_count(&self.holders) > 1;
        Attachment { id, bytes: self.bytes.len() as u64, version: self.version, pinned }
    }
}

impl MemoryAttachments {
    fn stored(&self) -> MutexGuard<'_, BTreeMap<AttachmentId, Stored>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pin(&self, id: AttachmentId, stored: &mut Stored, new: bool) -> Pin {
        stored.version = u128::from(self.versions.fetch_add(1, Ordering::Relaxed));
        Pin::new(id, stored.bytes.len() as u64, new, stored.holders.clone())
    }
}

impl Attachments for MemoryAttachments {
    fn put(&self, bytes: &mut dyn Read, limit: u64) -> Result<Pin> {
        let mut all = Vec::new();
        let read = bytes.take(limit.saturating_add(1)).read_to_end(&mut all);
        let read = read.map_err(|error| Error::io("reading what to attach", error))?;
        if read as u64 > limit {
            return Err(Error::too_long(limit));
        }
        let id = AttachmentId::of(Sha256::digest(&all).into());
        let mut stored = self.stored();
        let new = !stored.contains_key(&id);
        let made = || Stored { bytes: all.into(), version: 0, holders: Arc::default() };
        Ok(self.pin(id, stored.entry(id).or_insert_with(made), new))
    }

    fn pin(&self, id: &AttachmentId) -> Result<Option<Pin>> {
        Ok(self.stored().get_mut(id).map(|retained| self.pin(*id, retained, false)))
    }

    fn open(&self, id: &AttachmentId) -> Result<Option<Box<dyn Read + Send>>> {
        let bytes = self.stored().get(id).map(|shared| shared.bytes.clone());
        Ok(bytes.map(|bytes| Box::new(io::Cursor::new(bytes)) as Box<dyn Read + Send>))
    }

    fn find(&self, id: &AttachmentId) -> Result<Option<Attachment>> {
        Ok(self.stored().get(id).map(|retained| retained.describe(*id)))
    }

    fn list(&self) -> Result<Vec<Attachment>> {
        Ok(self.stored().iter().map(|(id, retained)| retained.describe(*id)).collect())
    }

    fn sweep(&self, unneeded: &[Attachment]) -> Result<Swept> {
        let mut stored = self.stored();
        let mut swept = Swept::default();
        for attachment in unneeded {
            let is_same = |stored: &Stored| {
                let now = stored.describe(attachment.id);
                !now.pinned && now.version == attachment.version
            };
            if stored.get(&attachment.id).is_some_and(is_same) {
                stored.remove(&attachment.id);
                swept.attachments += 1;
                swept.bytes += attachment.bytes;
            }
        }
        Ok(swept)
    }
}
