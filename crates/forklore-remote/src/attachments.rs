//! Attachments, whose bytes are the bodies of requests and answers.

use std::io::{self, Read};
use std::sync::Arc;

use forklore_core::AttachmentId;
use forklore_store::attachments::{Attachment, Attachments, Pin, Swept};
use forklore_store::{Error, Result, lease_owner};

use crate::client::{Client, Effort};
use crate::exchange::{Answered, doing};
use crate::failure::Failed;
use crate::protocol::{AttachmentMessage, Call, Holder, Pinned, ToPin};

/// The attachments of a store.
pub(crate) struct HttpAttachments {
    client: Arc<Client>,
    /// This process, as the holder of pins.
    holder: Holder,
}

/// Drops the pin of the server when the pin of the caller is dropped.
struct Unpin {
    client: Arc<Client>,
    pin: String,
}

impl Drop for Unpin {
    fn drop(&mut self) {
        let deadline = self.client.address.deadline;
        let effort = Effort { deadline, is_repeatable: false, is_patient: false };
        // If it fails, the pin expires.
        let _ = self.client.call::<()>(Call::Unpin, &self.pin, effort);
    }
}

/// Reads what to attach, no more than is allowed, and notes why it failed.
struct Source<'a> {
    bytes: &'a mut dyn Read,
    left: u64,
    limit: u64,
    failed: Option<Error>,
}

impl Read for Source<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = match self.bytes.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                self.failed = Some(Error::io("reading what to attach", error));
                // It ends the connection, so that the server sees no end of the bytes.
                return Err(io::Error::other("what to attach cannot be read"));
            }
            Ok(read) => read,
        };
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                self.failed = Some(Error::too_long(self.limit));
                return Err(io::Error::other("what to attach is too long"));
            }
        }
        Ok(read)
    }
}

impl HttpAttachments {
    pub(crate) fn new(client: Arc<Client>) -> Self {
        Self { client, holder: Holder::of(&lease_owner::name("forklore", "http")) }
    }

    fn pinned(&self, pinned: Pinned) -> Pin {
        let Pinned { id, bytes, new, pin } = pinned;
        Pin::new(id, bytes, new, Unpin { client: Arc::clone(&self.client), pin })
    }
}

impl Attachments for HttpAttachments {
    fn put(&self, bytes: &mut dyn Read, limit: u64) -> Result<Pin> {
        let rest = format!("{limit}/{}", self.holder.as_str());
        let mut source = Source { bytes, left: limit, limit, failed: None };
        match self.client.upload(Call::Put, &rest, &mut source) {
            Ok(pinned) => Ok(self.pinned(pinned)),
            Err(failed) => Err(match (source.failed, failed) {
                (Some(error), _) => error,
                (None, Failed::Lost(why)) => {
                    let location = &self.client.address;
                    let message = format!("the connection ended: {why}; attach it again");
                    Error::io(format!("{} {location}", doing(Call::Put)), message)
                }
                (None, failed) => {
                    failed.into_error(doing(Call::Put), &self.client.address.to_string())
                }
            }),
        }
    }

    fn pin(&self, id: &AttachmentId) -> Result<Option<Pin>> {
        let to_pin = ToPin { id: *id, holder: self.holder.clone() };
        let pinned: Option<Pinned> = self.client.read(Call::Pin, &to_pin)?;
        Ok(pinned.map(|pinned| self.pinned(pinned)))
    }

    fn open(&self, id: &AttachmentId) -> Result<Option<Box<dyn Read + Send>>> {
        let found = self.client.download(Call::Open, id)?;
        Ok(found.map(|answered: Answered| Box::new(answered.bytes()) as _))
    }

    fn find(&self, id: &AttachmentId) -> Result<Option<Attachment>> {
        let found: Option<AttachmentMessage> = self.client.read(Call::Find, id)?;
        found.map(Attachment::try_from).transpose()
    }

    fn list(&self) -> Result<Vec<Attachment>> {
        let listed: Vec<AttachmentMessage> = self.client.read(Call::List, &())?;
        listed.into_iter().map(Attachment::try_from).collect()
    }

    fn sweep(&self, unneeded: &[Attachment]) -> Result<Swept> {
        let messages: Vec<_> = unneeded.iter().map(AttachmentMessage::from).collect();
        self.client.call(Call::Sweep, &messages, self.client.usual(false))
    }
}
