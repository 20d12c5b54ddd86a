//! The envelope of an event: the ids of the event's session, and the time.

use forklore_core::{Header, SessionId};
use jiff::Timestamp;
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Serialize, Serializer};

use super::{KernelEvent, Name};

/// An event of a running session: its data, its time, and the ids of the session.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = with_derived_fields)
)]
pub struct Notification {
    /// The id of the session that the event belongs to.
    pub session_id: SessionId,
    /// The id of the session's parent. `null` for a root.
    pub parent_id: Option<SessionId>,
    /// The id of the root of the session's family (a root with all its descendants).
    pub root_id: SessionId,
    /// When the event happened.
    pub ts: Timestamp,
    /// The name and the data of the event.
    #[serde(flatten)]
    pub event: KernelEvent,
}

impl Notification {
    /// Creates a notification: the event at time `ts`, of the session with the ids in `identity`.
    #[must_use]
    pub fn new(identity: Identity, ts: Timestamp, event: KernelEvent) -> Self {
        let Identity { session_id, parent_id, root_id } = identity;
        Self { session_id, parent_id, root_id, ts, event }
    }

    /// Returns the name of the event as it is written in JSON, for example `session:start`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.event.name()
    }

    /// Checks whether this is an event of the kernel with this name.
    #[must_use]
    pub fn is(&self, name: Name) -> bool {
        self.event.kind() == Some(name)
    }

    /// Checks whether the event is ephemeral: it reports only progress. Such an event is not
    /// stored, and a slow listener may miss it.
    #[must_use]
    pub fn is_ephemeral(&self) -> bool {
        self.event.kind().is_some_and(Name::is_ephemeral)
    }
}

impl Serialize for Notification {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event", self.name())?;
        map.serialize_entry("session_id", &self.session_id)?;
        map.serialize_entry("parent_id", &self.parent_id)?;
        map.serialize_entry("root_id", &self.root_id)?;
        map.serialize_entry("ts", &self.ts)?;
        if self.is_ephemeral() {
            map.serialize_entry("ephemeral", &true)?;
        }
        // Amplifier's observers read the parent of a fork from `parent` at the top level.
        if let (true, Some(parent)) = (self.is(Name::SessionFork), &self.parent_id) {
            map.serialize_entry("parent", parent)?;
        }
        map.serialize_entry("data", &self.event.data().map_err(S::Error::custom)?)?;
        map.end()
    }
}

/// Adds the fields `ephemeral` and `parent`, and the events that the application defines, to the
/// JSON Schema. The Rust type has no such fields: serialization computes them from other fields.
#[cfg(feature = "schema")]
fn with_derived_fields(schema: &mut schemars::Schema) {
    use serde_json::{Value, json};

    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let ephemeral = "The event is not stored. A slow listener may miss it. Absent otherwise.";
        let parent = "The `parent_id`. Only of `session:fork`.";
        properties.insert("ephemeral".into(), json!({"const": true, "description": ephemeral}));
        let id = json!({"$ref": "#/$defs/SessionId", "description": parent});
        properties.insert("parent".into(), id);
    }
    // An event has one name, so exactly one of the variants fits the event.
    let Some(Value::Array(mut events)) = schema.remove("anyOf") else { return };
    for event in &mut events {
        let name = event.pointer("/properties/event/const").cloned().unwrap_or_default();
        let name: Option<Name> = serde_json::from_value(name).ok();
        if let (true, Some(Value::Array(required))) =
            (name.is_some_and(Name::is_ephemeral), event.get_mut("required"))
        {
            required.push("ephemeral".into());
        }
    }
    let words = "^[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+)+$";
    events.push(json!({
        "description": "An event of the application, in a form that the application chooses.",
        "type": "object",
        "properties": {
            "event": {"type": "string", "maxLength": 64, "pattern": words,
                "not": {"enum": Name::ALL}},
            "data": {"description": "The details."},
        },
        "required": ["event", "data"],
    }));
    schema.insert("oneOf".to_owned(), Value::Array(events));
}

/// The ids that identify a session in its events: its own, its parent's and its root's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The session's own id.
    pub session_id: SessionId,
    /// The id of the session's parent. `None` for a root.
    pub parent_id: Option<SessionId>,
    /// The id of the root of the session's family (a root with all its descendants).
    pub root_id: SessionId,
}

impl Identity {
    /// Returns the ids of a child of the session `parent`.
    #[must_use]
    pub fn of_child(id: SessionId, parent: &Self) -> Self {
        Self {
            session_id: id,
            parent_id: Some(parent.session_id.clone()),
            root_id: parent.root_id.clone(),
        }
    }
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
