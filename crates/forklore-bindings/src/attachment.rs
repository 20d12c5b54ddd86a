//! Attachments, whose bytes are outside the JSON.

use std::collections::BTreeSet;

use forklore::Engine;
use forklore_api::{ReadAttachment, Request};
use forklore_core::ErrorKind;

use crate::failure::{Failure, Result};
use crate::rows::json;

pub(crate) fn attach(engine: &Engine, request: Request, mut bytes: &[u8]) -> Result<String> {
    let Request::Attach { session_id, attachment } = request else {
        return Err(Failure::invalid("this verb takes no bytes"));
    };
    json(&engine.attach(&session_id, &mut bytes, &attachment)?)
}

/// Returns the bytes of an attachment of the session that has this reference or this name.
pub(crate) fn read(engine: &Engine, request: &ReadAttachment) -> Result<Vec<u8>> {
    let ReadAttachment { session_id, reference, path: _ } = request;
    let named = engine.attachments(session_id)?.into_iter();
    let fits = named.filter(|one| {
        one.id.to_string() == *reference || one.name.as_deref() == Some(reference.as_str())
    });
    let mut ids: BTreeSet<_> = fits.map(|one| one.id).collect();
    match (ids.pop_first(), ids.is_empty()) {
        (Some(id), true) => {
            let mut bytes = Vec::new();
            engine.read_attachment(&id, &mut bytes)?;
            Ok(bytes)
        }
        (Some(_), false) => {
            Err(Failure::invalid("several attachments have this name; use a reference"))
        }
        (None, _) => {
            let message = "nothing of that name or reference is attached to the session";
            Err(Failure::new(ErrorKind::NotFound, message))
        }
    }
}
