//! Checks whether attachments exist and are intact. Reads each version of an attachment only once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use forklore_core::{AttachmentId, Content, Message, Part};
use forklore_store::attachments::{Attachments, check};

use crate::Engine;

/// The attachments of a store, with a cache that records which attachments matched their digests.
#[derive(Clone)]
pub(crate) struct StoredAttachments {
    store: Arc<dyn Attachments>,
    /// The result of the last integrity check, by attachment: the version checked, and whether the
    /// bytes matched the digest. The version of an attachment changes whenever it is stored again
    /// or pinned.
    read: Arc<Mutex<HashMap<AttachmentId, (u128, bool)>>>,
}

impl StoredAttachments {
    pub(crate) fn new(store: Arc<dyn Attachments>) -> Self {
        Self { store, read: Arc::default() }
    }

    pub(crate) fn store(&self) -> &Arc<dyn Attachments> {
        &self.store
    }

    /// Returns the size of an attachment in bytes, or `None` if it is missing, damaged or
    /// unreadable.
    fn sound_bytes(&self, id: &AttachmentId) -> Option<u64> {
        let found = self.store.find(id).ok()??;
        let read = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let checked = read().get(id).copied().filter(|(version, _)| *version == found.version);
        let is_sound = match checked {
            Some((_, is_sound)) => is_sound,
            None => {
                let is_sound = check(&*self.store, id).is_ok_and(|bytes| bytes.is_some());
                read().insert(*id, (found.version, is_sound));
                is_sound
            }
        };
        is_sound.then_some(found.bytes)
    }
}

impl Engine {
    /// Returns the size of an attachment in bytes, or `None` if it is missing, damaged or
    /// unreadable.
    pub(crate) fn sound_bytes(&self, id: &AttachmentId) -> Option<u64> {
        self.attachments.as_ref()?.sound_bytes(id)
    }

    /// Sets `missing` on those attachment parts of a message whose bytes are missing or damaged.
    pub(crate) fn mark_missing(&self, message: &mut Message) {
        let Content::Parts(parts) = &mut message.content else { return };
        for part in parts {
            if let Part::Attachment { r#ref, missing, .. } = part
                && AttachmentId::is_meant_by(r#ref)
            {
                let id = r#ref.parse().ok();
                *missing = id.and_then(|id| self.sound_bytes(&id)).is_none();
            }
        }
    }
}
