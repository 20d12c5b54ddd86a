//! JSON Schemas of the types whose serialization is written by hand.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::id::{EventId, Label, SessionId};
use crate::kind::EventType;
use crate::limits::{EVENT_ID_BYTES, ID_BYTES, LABEL_BYTES};
use crate::{AttachmentId, Data, Selector};

macro_rules! written_as {
    ($($name:ident = $title:literal: $schema:tt;)*) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $title.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

written_as! {
    SessionId = "SessionId": {
        "type": "string", "minLength": 1, "maxLength": ID_BYTES,
        "description": "The id of a session: letters, digits, `_`, `-` and `.`, not beginning with `-` or `.`."
    };
    Label = "Label": {
        "type": "string", "minLength": 1, "maxLength": LABEL_BYTES,
        "description": "The name of a session in its family, in the grammar of a session id."
    };
    EventId = "EventId": {
        "type": "string", "minLength": 1, "maxLength": EVENT_ID_BYTES,
        "description": "The id of an event: any text without control characters."
    };
    AttachmentId = "AttachmentId": {
        "type": "string", "pattern": "^sha256:[0-9a-fA-F]{64}$",
        "description": "The name of an attachment: the sha256 of its bytes."
    };
    EventType = "EventType": {
        "type": "string", "pattern": "^[a-z][a-z0-9_.-]*$",
        "description": "The type of an event; a program's own types begin with `x.`."
    };
    Selector = "Selector": {
        "type": "string",
        "pattern": "^(start|end|(seq|message|turn):-?[0-9]+|index:[0-9]+|event:.+)$",
        "description": "A position in a session: start, end, seq:N, message:N, index:N, turn:N or event:ID."
    };
    Data = "Data": { "description": "Any JSON value; its spelling survives." };
}
