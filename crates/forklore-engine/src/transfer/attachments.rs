//! Copies the attachments that events name.

use std::collections::HashSet;

use forklore_core::{AttachmentId, Event};
use forklore_store::attachments::{Checked, Pin};

use super::Transferring;
use crate::Result;

impl Transferring<'_> {
    /// Copies the attachments that the events name and that the other store lacks. Returns a pin
    /// for each that is there now, which must live until the events are written. An attachment
    /// that is missing or damaged here stays missing there.
    pub(super) fn attach(&mut self, events: &[Event]) -> Result<Vec<Pin>> {
        let (Some(from), Some(into)) = (&self.from.attachments, &self.into.attachments) else {
            return Ok(Vec::new());
        };
        let mentioned = events.iter().flat_map(|event| {
            forklore_core::attachment::mentions(&event.data).into_iter().map(|mention| mention.id)
        });
        let mentioned: HashSet<AttachmentId> = mentioned.collect();
        let mut pins = Vec::new();
        for id in mentioned {
            if let Some(pin) = into.store().pin(&id)? {
                pins.push(pin);
                continue;
            }
            let Some(bytes) = from.store().open(&id)? else { continue };
            match into.store().put(&mut Checked::new(id, bytes), u64::MAX) {
                Ok(pin) => {
                    self.report.attachments += 1;
                    pins.push(pin);
                }
                Err(error) if crate::recover::is_damaged_attachment(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(pins)
    }
}
