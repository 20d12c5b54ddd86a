//! `attach`: stores bytes as an attachment, and appends the message that names the attachment.

use std::collections::BTreeSet;
use std::io::Read;

use forklore_api::{Attach, Attached, Batch, NewEvent};
use forklore_core::limits::ATTACHMENT_NAME_BYTES;
use forklore_core::{AttachmentId, Data, EventType, SessionId, attachment};
use forklore_store::attachments::{Attachments, Pin};
use serde_json::json;

use crate::{Engine, Error, Result};

impl Engine {
    /// Stores `bytes` as an attachment and appends a user message that names the attachment. Equal
    /// bytes are stored only once. Reads `bytes` to its end in constant memory.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use forklore_engine::{Attach, Create, Engine};
    /// # use forklore_core::workspace::Workspace;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let store = Arc::new(forklore_store::memory::MemoryStore::default());
    /// # let engine = Engine::new(store.clone());
    /// # let session = engine.create(&Create::in_workspace(Workspace::new("/demo")))?.id;
    /// let note = Attach {
    ///     name: Some("note.txt".into()),
    ///     media_type: "text/plain".into(),
    ///     ..Attach::default()
    /// };
    /// let attached = engine.attach(&session, &mut "some text".as_bytes(), &note)?;
    /// let mut bytes = Vec::new();
    /// engine.read_attachment(&attached.id, &mut bytes)?;
    /// assert_eq!(bytes, b"some text");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `unsupported` if the store has no attachments, `invalid_args` if `bytes` is longer than the
    /// request's limit or the name or media type is invalid, and the errors of
    /// [`append`](Engine::append). If only the append fails, the attachment is already stored; the
    /// next `gc` removes it.
    pub fn attach(
        &self,
        session: &SessionId,
        bytes: &mut dyn Read,
        request: &Attach,
    ) -> Result<Attached> {
        check(request)?;
        // Checks that the session exists before reading the bytes, because reading may take long.
        self.show(session)?;
        let pin = self.put_attachment(bytes, request.limit)?;
        let append = Batch {
            events: vec![message(pin.id, request)?],
            expect: request.expect,
            owner: request.owner.clone(),
        };
        let appended = self.append(session, &append)?;
        Ok(Attached {
            session_id: session.clone(),
            id: pin.id,
            name: request.name.clone(),
            media_type: request.media_type.clone(),
            bytes: pin.bytes,
            new: pin.new,
            seq: appended.to_seq,
            head_seq: appended.head_seq,
        })
    }

    /// Stores the content of `bytes`, at most `limit` bytes, as an attachment, and pins it. A pin
    /// protects an attachment from removal by `gc`. The caller then appends a message with a part
    /// `{type:"attachment",ref,media_type,name?}` whose `ref` is the attachment's id. Drop the
    /// returned pin only after that append.
    ///
    /// # Errors
    /// `unsupported` if the store has no attachments, `invalid_args` if there are more than `limit`
    /// bytes.
    pub fn put_attachment(&self, bytes: &mut dyn Read, limit: u64) -> Result<Pin> {
        Ok(self.attachments_of_store()?.put(bytes, limit)?)
    }

    /// Returns the attachment storage, or `unsupported` if the store has none.
    pub(crate) fn attachments_of_store(&self) -> Result<&dyn Attachments> {
        let attachments = self.attachments.as_ref();
        let attachments =
            attachments.ok_or_else(|| Error::Unsupported("this store keeps no attachments".into()));
        Ok(&**attachments?.store())
    }

    /// Pins the attachments that these event payloads mention. No `gc` removes an attachment while
    /// its returned pin exists. Call this before the payloads are appended: a `gc` that has already
    /// read the session does not see the new mentions.
    pub fn hold_mentioned<'d>(&self, data: impl IntoIterator<Item = &'d Data>) -> Vec<Pin> {
        let Some(attachments) = &self.attachments else { return Vec::new() };
        let mentions = data.into_iter().flat_map(attachment::mentions);
        let named: BTreeSet<_> = mentions.map(|mention| mention.id).collect();
        // A message may name a missing or damaged attachment.
        named.iter().filter_map(|id| attachments.store().pin(id).ok().flatten()).collect()
    }
}

fn check(request: &Attach) -> Result<()> {
    let too_long = |what: &str, text: &str| {
        let message =
            format!("the {what} has {} bytes; {ATTACHMENT_NAME_BYTES} are allowed", text.len());
        Err(Error::invalid("too_long", message))
    };
    match &request.name {
        Some(name) if name.is_empty() => {
            return Err(Error::invalid("name", "the name of an attachment is not empty"));
        }
        Some(name) if name.len() > ATTACHMENT_NAME_BYTES => return too_long("name", name),
        _ => {}
    }
    let media_type = &request.media_type;
    if media_type.len() > ATTACHMENT_NAME_BYTES {
        return too_long("media type", media_type);
    }
    let is_plain = media_type.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    let parts = media_type.split_once('/');
    if !is_plain || parts.is_none_or(|(kind, rest)| kind.is_empty() || rest.is_empty()) {
        return Err(Error::invalid("media_type", "a media type is written like image/png"));
    }
    Ok(())
}

/// Builds the user message whose attachment part refers to the attachment `id`.
fn message(id: AttachmentId, request: &Attach) -> Result<NewEvent> {
    let mut part = json!({"type": "attachment", "ref": id, "media_type": request.media_type});
    if let (Some(name), Some(part)) = (&request.name, part.as_object_mut()) {
        part.insert("name".into(), json!(name));
    }
    let text = request.text.as_ref().map(|text| json!({"type": "text", "text": text}));
    let parts: Vec<_> = text.into_iter().chain([part]).collect();
    let data = Data::of(&json!({ "content": parts }))
        .map_err(|error| Error::invalid("json", error.to_string()))?;
    Ok(NewEvent::new(EventType::USER_MESSAGE, data))
}
