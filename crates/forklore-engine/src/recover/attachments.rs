//! Copies the attachments of a damaged store. Runs before the copy of the events that name them.

use forklore_api::{LostKind, Recovery};
use forklore_store::Error as StoreError;
use forklore_store::attachments::{Checked, Damaged};

use super::report::Losing;
use crate::{Engine, Result};

impl Engine {
    /// Copies every attachment whose bytes are intact to the store of `into`. Does nothing if one
    /// of the two stores cannot store attachments.
    pub(super) fn salvage_attachments(&self, into: &Self, report: &mut Recovery) -> Result<()> {
        let (Some(from), Some(into)) = (&self.attachments, &into.attachments) else {
            return Ok(());
        };
        for attachment in from.store().list()? {
            let id = attachment.id;
            let saved = match from.store().open(&id) {
                Ok(Some(bytes)) => into.store().put(&mut Checked::new(id, bytes), u64::MAX),
                Ok(None) => continue,
                Err(error) => Err(error),
            };
            match saved {
                Ok(_) => report.attachments += 1,
                Err(error) if is_damage(&error) => {
                    let reason = format!("the attachment {id}: {error}");
                    report.lose(LostKind::Attachment, None, None, &reason);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Checks whether an attachment could not be copied because its stored bytes are damaged.
pub(crate) fn is_damage(error: &StoreError) -> bool {
    match error {
        StoreError::Corrupt { .. } => true,
        StoreError::Io { source, .. } => {
            let source = source.downcast_ref::<std::io::Error>();
            let source = source.and_then(std::io::Error::get_ref);
            source.and_then(|source| source.downcast_ref::<Damaged>()).is_some()
        }
        _ => false,
    }
}
