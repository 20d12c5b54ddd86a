//! The calls about attachments.

use std::io::Read;

use forklore_core::AttachmentId;
use forklore_store::attachments::Attachment;
use forklore_store::{Error, Result};

use super::{Answer, Dispatcher, arguments, done, nothing, stream};
use crate::protocol::{AttachmentMessage, Call};

impl Dispatcher {
    /// Executes a call about attachments. `rest` is what follows the call in the path.
    pub(super) fn attach(&self, call: Call, rest: &str, body: &mut dyn Read) -> Result<Answer> {
        let attachments = self
            .store
            .attachments()
            .ok_or_else(|| Error::Unsupported("this store has no attachments".into()))?;
        match call {
            Call::Put => {
                let limit = rest.parse().map_err(|_| {
                    Error::Invalid("the path ends with the most bytes to attach".into())
                })?;
                Ok(done(&self.pins.add(attachments.put(body, limit)?)))
            }
            Call::Pin => {
                let pin = attachments.pin(&arguments::<AttachmentId>(body)?)?;
                Ok(done(&pin.map(|pin| self.pins.add(pin))))
            }
            Call::Unpin => {
                self.pins.drop(&arguments::<String>(body)?);
                Ok(done(&()))
            }
            Call::Open => {
                let id: AttachmentId = arguments(body)?;
                let Some(found) = attachments.find(&id)? else { return Ok(nothing()) };
                let bytes = attachments.open(&id)?;
                Ok(bytes.map_or_else(nothing, |bytes| stream(found.bytes, bytes)))
            }
            Call::Find => {
                let found = attachments.find(&arguments::<AttachmentId>(body)?)?;
                Ok(done(&found.as_ref().map(AttachmentMessage::from)))
            }
            Call::Sweep => {
                let messages: Vec<AttachmentMessage> = arguments(body)?;
                let unneeded: Result<Vec<Attachment>> =
                    messages.into_iter().map(Attachment::try_from).collect();
                Ok(done(&attachments.sweep(&unneeded?)?))
            }
            _ => {
                let listed = attachments.list()?;
                let messages: Vec<_> = listed.iter().map(AttachmentMessage::from).collect();
                Ok(done(&messages))
            }
        }
    }
}
