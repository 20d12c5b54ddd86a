//! Reads the attachments that a history references, each of them only once. Converts them to the
//! form in which a request contains them.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use forklore_core::attachment::{Mention, mentions};
use forklore_core::{AttachmentId, Content, Message, Part};
use forklore_engine::Engine;

use super::{Capabilities, Media, NotSent, is_text, sniff};

/// The attachments that the messages of a request reference, if the model accepts them. A clone is
/// cheap.
#[derive(Clone, Default)]
pub struct Attached {
    found: Arc<HashMap<AttachmentId, Found>>,
    /// The total size of the attachments in bytes, in the form in which they are sent.
    bytes: usize,
}

type Found = Result<Arc<Media>, NotSent>;

/// An attachment that a message references, with the media type that the message declares.
pub(crate) type Named = (AttachmentId, String);

impl Attached {
    /// Reads the attachments that these messages reference. Does not read the bytes of attachments
    /// whose type the model does not accept. Reading may take long.
    #[must_use]
    pub fn read(engine: &Engine, messages: &[Message], takes: &Capabilities) -> Self {
        let named = messages.iter().flat_map(named).collect::<Vec<_>>();
        Self::default().and(engine, named, takes, &Self::default())
    }

    /// Returns the attachment whose id is `reference`.
    ///
    /// # Errors
    /// Returns the reason why the attachment is not sent.
    pub fn get(&self, reference: &str) -> Result<&Media, NotSent> {
        let found = reference.parse().ok().and_then(|id: AttachmentId| self.found.get(&id));
        match found {
            Some(Ok(media)) => Ok(media),
            Some(Err(why)) => Err(*why),
            None => Err(NotSent::NotAccepted),
        }
    }

    /// Reads further attachments, in the order of `named`. Reuses the attachments that `earlier`
    /// contains instead of reading them again.
    pub(crate) fn and(
        mut self,
        engine: &Engine,
        named: impl IntoIterator<Item = Named>,
        takes: &Capabilities,
        earlier: &Self,
    ) -> Self {
        for (id, media_type) in named {
            if self.found.contains_key(&id) {
                continue;
            }
            let left = takes.most_together.saturating_sub(self.bytes);
            let found = match earlier.found.get(&id) {
                Some(Ok(media)) if takes.most_of(&media_type).is_some() => Ok(media.clone()),
                _ => read(engine, &id, &media_type, takes).map(Arc::new),
            };
            // Never retain more bytes than one request can send, however many attachments the
            // messages name.
            let found = found.and_then(|media| match &*media {
                Media::Shown { sniffed, .. } if !takes.has(sniffed.media_type) => {
                    Err(NotSent::NotAccepted)
                }
                _ if media.bytes() > left => Err(NotSent::OverLimit),
                _ => {
                    self.bytes += media.bytes();
                    Ok(media)
                }
            });
            Arc::make_mut(&mut self.found).insert(id, found);
        }
        self
    }
}

impl Media {
    /// Returns the attachment's size in bytes, in the form in which a request contains it.
    fn bytes(&self) -> usize {
        match self {
            Self::Shown { base64, .. } => base64.len(),
            Self::Text(text) => text.len(),
        }
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Attached({} of {} bytes)", self.found.len(), self.bytes)
    }
}

impl PartialEq for Attached {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.found, &other.found) || self.found == other.found
    }
}

/// Returns the attachments that a message references, also in its tool results.
pub(crate) fn named(message: &Message) -> Vec<Named> {
    let Content::Parts(parts) = &message.content else { return Vec::new() };
    let mut all = Vec::new();
    for part in parts {
        match part {
            Part::Attachment { r#ref, media_type, .. } => {
                all.extend(r#ref.parse().ok().map(|id| (id, media_type.clone())));
            }
            Part::ToolResult { content, .. } => {
                let parts = mentions(content).into_iter();
                all.extend(parts.filter_map(|Mention { id, part }| Some((id, part?.media_type))));
            }
            _ => {}
        }
    }
    all
}

fn read(
    engine: &Engine,
    id: &AttachmentId,
    media_type: &str,
    takes: &Capabilities,
) -> Result<Media, NotSent> {
    let most = takes.most_of(media_type).filter(|most| *most > 0).ok_or(NotSent::NotAccepted)?;
    let mut bytes = UpTo { most, bytes: Vec::new(), is_more: false };
    match engine.read_attachment(id, &mut bytes) {
        Ok(_) => {}
        Err(_) if bytes.is_more => return Err(NotSent::TooLarge),
        Err(_) => return Err(NotSent::Missing),
    }
    let bytes = bytes.bytes;
    if let Some(sniffed) = sniff(&bytes) {
        return Ok(Media::Shown { sniffed, base64: BASE64_STANDARD.encode(bytes) });
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.filter(|_| is_text(media_type)).map(Media::Text).ok_or(NotSent::Unreadable)
}

/// A writer that stores at most `most` bytes and fails if it receives more.
struct UpTo {
    most: usize,
    bytes: Vec<u8>,
    is_more: bool,
}

impl Write for UpTo {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > self.most {
            self.is_more = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
