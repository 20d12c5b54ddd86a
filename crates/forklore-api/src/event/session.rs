//! Events about sessions that start, fork and end.

use forklore_core::{Cut, Header, Label, SessionId, SessionKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Empty data, for events without details.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoDetails {}

/// A session that starts or resumes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionBegan {
    /// The session's kind: root, branch or delegate.
    pub kind: SessionKind,
    /// The session's label.
    pub label: Label,
}

/// A child session that was created.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionForked {
    /// The parent session.
    pub parent: Option<SessionId>,
    /// The child's kind: branch or delegate.
    pub kind: SessionKind,
    /// The child's label.
    pub label: Label,
    /// The position in the parent's log at which the child begins.
    pub cut: Option<Cut>,
    /// Metadata of the child, set by the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// Why the kernel created the child on its own. Absent if a caller requested the child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ForkReason>,
}

/// Why the kernel creates a child on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ForkReason {
    /// The turn lost the lease of its session to another runtime, and continues in the child.
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
