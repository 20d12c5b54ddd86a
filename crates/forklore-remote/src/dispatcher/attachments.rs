//! The calls about attachments.

use std::io::Read;

use forklore_core::AttachmentId;
use forklore_store::attachments::Attachment;
use forklore_store::{Error, Result};

use super::{Answer, Dispatcher, arguments, done, nothing, stream};
use crate::protocol::{AttachmentMessage, Call, Holder, ToPin};

impl Dispatcher {
    /// Executes a call about attachments. `rest` is what follows the call in the path.
    pub(super) fn attach(&self, call: Call, rest: &str, body: &mut dyn Read) -> Result<Answer> {
        let store = &*self.store;
        let attachments = store
            .attachments()
            .ok_or_else(|| Error::Unsupported("this store has no attachments".into()))?;
        match call {
            Call::Put => {
                let (limit, holder) = rest.split_once('/').unwrap_or((rest, ""));
                let limit = limit.parse().map_err(|_| {
                    Error::Invalid("the path ends with the most bytes to attach".into())
                })?;
                let pin = attachments.put(body, limit)?;
                Ok(done(store, &self.pins.add(pin, Holder::in_path(holder))?))
            }
            Call::Pin => {
                let ToPin { id, holder } = arguments(body)?;
                let pin = attachments.pin(&id)?;
                Ok(done(store, &pin.map(|pin| self.pins.add(pin, holder)).transpose()?))
            }
            Call::Unpin => {
                self.pins.drop(&arguments::<String>(body)?);
                Ok(done(store, &()))
            }
            Call::Open => {
                let id: AttachmentId = arguments(body)?;
                let Some(found) = attachments.find(&id)? else { return Ok(nothing()) };
                let bytes = attachments.open(&id)?;
                Ok(bytes.map_or_else(nothing, |bytes| stream(found.bytes, bytes)))
            }
            Call::Find => {
                let found = attachments.find(&arguments::<AttachmentId>(body)?)?;
                Ok(done(store, &found.as_ref().map(AttachmentMessage::from)))
            }
            Call::Sweep => {
                let messages: Vec<AttachmentMessage> = arguments(body)?;
                let unneeded: Result<Vec<Attachment>> =
                    messages.into_iter().map(Attachment::try_from).collect();
                self.pins.drop_old();
                self.pins.drop_unused();
                Ok(done(store, &attachments.sweep(&unneeded?)?))
            }
            _ => {
                let listed = attachments.list()?;
                let messages: Vec<_> = listed.iter().map(AttachmentMessage::from).collect();
                Ok(done(store, &messages))
            }
        }
    }
}
