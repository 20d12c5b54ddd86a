//! What a session tells of what it does (SPEC 13).
//!
//! A notification is announced after what it tells of was stored; only streamed pieces of an
//! answer are [`ephemeral`](Notification::ephemeral). Each carries the ids of its session, of that
//! session's parent and of the family, whether or not anyone listens.

mod bus;
mod name;
mod subscription;
mod trace;

use forklore_core::{Header, SessionId};
use jiff::Timestamp;
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Map, Value, json};

pub(crate) use bus::Bus;
pub use bus::Sink;
pub use name::Name;
pub use subscription::{Heard, Missed, Subscription};
pub use trace::Trace;

/// Something that a session did.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// What sort of thing.
    pub name: Name,
    /// The session.
    pub session_id: SessionId,
    /// The session it came from; none for a root.
    pub parent_id: Option<SessionId>,
    /// The family.
    pub root_id: SessionId,
    /// When.
    pub ts: Timestamp,
    /// It is not stored, and a listener that is slow may miss it.
    pub ephemeral: bool,
    /// The particulars.
    pub data: Map<String, Value>,
}

impl Serialize for Notification {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event", self.name.as_str())?;
        map.serialize_entry("session_id", &self.session_id)?;
        map.serialize_entry("parent_id", &self.parent_id)?;
        map.serialize_entry("root_id", &self.root_id)?;
        map.serialize_entry("ts", &self.ts)?;
        if self.ephemeral {
            map.serialize_entry("ephemeral", &true)?;
        }
        if let (Name::SessionFork, Some(parent)) = (self.name, &self.parent_id) {
            map.serialize_entry("parent", parent)?;
        }
        map.serialize_entry("data", &self.data)?;
        map.end()
    }
}

/// Whose notifications these are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The session.
    pub session_id: SessionId,
    /// The session it came from; none for a root.
    pub parent_id: Option<SessionId>,
    /// The family.
    pub root_id: SessionId,
}

impl From<&Header> for Identity {
    fn from(header: &Header) -> Self {
        Self {
            session_id: header.id.clone(),
            parent_id: header.parent_id.clone(),
            root_id: header.root_id.clone(),
        }
    }
}

/// What `session:fork` says of a child: its parent as Amplifier says it, and what forklore adds.
pub(crate) fn fork_data(child: &Header, mut data: Map<String, Value>) -> Value {
    data.insert("parent".into(), json!(child.parent_id));
    data.insert("kind".into(), json!(child.kind));
    data.insert("label".into(), json!(child.label));
    data.insert("cut".into(), json!(child.cut));
    if let Some(metadata) = &child.metadata {
        data.insert("metadata".into(), json!(metadata));
    }
    Value::Object(data)
}
