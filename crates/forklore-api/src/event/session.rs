//! Sessions that start, fork and end.

use forklore_core::{Cut, Header, Label, SessionId, SessionKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event that says everything by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoDetails {}

/// The session that starts or is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionBegan {
    /// A root, a branch or a delegate.
    pub kind: SessionKind,
    /// Its label.
    pub label: Label,
}

/// The child that was made.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionForked {
    /// The parent.
    pub parent: Option<SessionId>,
    /// A branch or a delegate.
    pub kind: SessionKind,
    /// The child's label.
    pub label: Label,
    /// The place in the parent at which the child begins.
    pub cut: Option<Cut>,
    /// The application's notes, where there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// Why the kernel made the child by itself; none where somebody asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ForkReason>,
}

/// Why the kernel makes a child by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ForkReason {
    /// The turn lost its session to another runtime and goes on in the child.
    LeaseLost,
}

impl From<&Header> for SessionForked {
    fn from(child: &Header) -> Self {
        let metadata = child.metadata.as_ref();
        Self {
            parent: child.parent_id.clone(),
            kind: child.kind,
            label: child.label.clone(),
            cut: child.cut.clone(),
            metadata: metadata.map(|data| data.read().unwrap_or_default()),
            reason: None,
        }
    }
}
