//! Lists the attachments that a session names, and reads the bytes of an attachment.

mod mentioned;
mod soundness;

use std::io::{self, Read, Write};

use forklore_api::NamedAttachment;
use forklore_core::attachment::Mention;
use forklore_core::{AttachmentId, SessionId};
use forklore_store::attachments::{BUFFER, Checked, failure};
use forklore_store::port::At;

pub(crate) use soundness::StoredAttachments;

use crate::{Engine, Error, Result};

impl Engine {
    /// Returns the attachments that the messages of a session name, in log order. Includes
    /// inherited messages. A missing attachment is marked `missing` and is not an error.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing.
    pub fn attachments(&self, session: &SessionId) -> Result<Vec<NamedAttachment>> {
        let end = u64::try_from(self.show(session)?.head_seq()).ok();
        let mut named = Vec::new();
        for stored in self.events(session, At::Seq(0)) {
            let stored = stored?;
            if end.is_none_or(|end| stored.seq > end) {
                break;
            }
            for Mention { id, part } in forklore_core::attachment::mentions(&stored.event.data) {
                let Some(part) = part else { continue };
                let bytes = self.sound_bytes(&id);
                named.push(NamedAttachment {
                    seq: stored.seq,
                    id,
                    name: part.name,
                    media_type: part.media_type,
                    bytes,
                    missing: bytes.is_none(),
                });
            }
        }
        Ok(named)
    }

    /// Returns the total size of all attachments in the store, in bytes.
    pub(crate) fn attachment_bytes(&self) -> Result<u64> {
        let Some(attachments) = &self.attachments else { return Ok(0) };
        Ok(attachments.store().list()?.iter().map(|attachment| attachment.bytes).sum())
    }

    /// Writes the bytes of an attachment to `out` and returns how many bytes it wrote. The digest
    /// is verified only after the last byte: after an error, discard the bytes in `out`.
    ///
    /// # Errors
    /// `not_found` if the store does not have the attachment, `corrupt` if its bytes do not match
    /// its digest, `unsupported` if the store has no attachments, or the error of writing to `out`.
    pub fn read_attachment(&self, id: &AttachmentId, out: &mut dyn Write) -> Result<u64> {
        let bytes = self.attachments_of_store()?.open(id)?;
        let bytes = bytes.ok_or(Error::NoAttachment(*id))?;
        let (mut checked, mut buffer, mut done) = (Checked::new(*id, bytes), vec![0; BUFFER], 0);
        loop {
            match checked.read(&mut buffer) {
                Ok(0) => return Ok(done),
                Ok(read) => {
                    let bytes = buffer.get(..read).unwrap_or_default();
                    let written = out.write_all(bytes);
                    written.map_err(|error| Error::io("writing the attachment", error))?;
                    done += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failure(id, error).into()),
            }
        }
    }
}
