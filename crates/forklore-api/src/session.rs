//! The session type, and the types of the verbs that create, list, show and label sessions.

use std::collections::BTreeSet;

use forklore_core::header::CopyOf;
use forklore_core::report::Problem;
use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Data, Header, Label, SessionId, SessionKind, Strategy};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The header of a session: its lineage, settings and counts, without its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Session {
    /// The session's id.
    pub id: SessionId,
    /// The id of the root of the session's family.
    pub root_id: SessionId,
    /// The id of the parent session. `null` for a root.
    pub parent_id: Option<SessionId>,
    /// The session's kind: root, branch, or delegate (the session of a sub-agent).
    pub kind: SessionKind,
    /// The session's label, unique in its family.
    pub label: Label,
    /// The session's title, for display.
    pub title: Option<String>,
    /// The position in the parent's log at which the session begins. `null` for a root.
    pub cut: Option<Cut>,
    /// How the session stores its inherited prefix: shared or copied.
    pub strategy: Option<Strategy>,
    /// The workspace that the session belongs to.
    pub workspace: Workspace,
    /// The principal for whom the session acts.
    pub principal: Option<String>,
    /// The session's permissions: an upper limit on what it may do. `null` means no limit.
    pub permissions: Option<BTreeSet<String>>,
    /// Metadata set by the application.
    pub metadata: Option<Data>,
    /// The agent from whose records the session was imported.
    pub dialect: Option<String>,
    /// When the session was created.
    pub created: Timestamp,
    /// When the session was last written to.
    pub updated: Timestamp,
    /// The last log position. -1 if the log is empty.
    pub head_seq: i64,
    /// The number of conversation events, including inherited ones.
    pub head_index: u64,
    /// The number of events that the session wrote itself.
    pub own_events: u64,
    /// The number of parent links between the session and its root.
    pub depth: u64,
    /// Whether a runtime has leased the session.
    pub status: Status,
    /// Whether the session was detached, so that it has its own copy of its inherited events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
    /// If the imported file has several branches, the session that the file's agent would resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<SessionId>,
    /// The file from which the session was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The session whose beginning this imported session repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<CopyOf>,
    /// Whether the session was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl Session {
    /// Creates the value from a stored header. `now` decides whether the session's lease is still
    /// valid.
    #[must_use]
    pub fn of(header: &Header, now: Timestamp) -> Self {
        let running = header.leased_by_other(None, now).is_some();
        Self {
            id: header.id.clone(),
            root_id: header.root_id.clone(),
            parent_id: header.parent_id.clone(),
            kind: header.kind,
            label: header.label.clone(),
            title: header.title.clone(),
            cut: header.cut.clone(),
            strategy: header.strategy,
            workspace: header.workspace.clone(),
            principal: header.principal.clone(),
            permissions: header.permissions.clone(),
            metadata: header.metadata.clone(),
            dialect: header.dialect.clone(),
            created: header.created,
            updated: header.updated,
            head_seq: header.head_seq(),
            head_index: header.counts.index,
            own_events: header.own_events,
            depth: header.depth,
            status: if running { Status::Running } else { Status::Idle },
            detached: header.detached,
            leaf: header.leaf.clone(),
            source: header.source.clone(),
            copy_of: header.copy_of.clone(),
            deleted: header.deleted.is_some(),
        }
    }
}

/// Whether a runtime has leased a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// No runtime has leased the session.
    Idle,
    /// A runtime has leased the session.
    Running,
}

/// The answer of the verbs that create, label or show one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionAnswer {
    /// The session.
    pub session: Session,
}

impl SessionAnswer {
    /// Creates the answer from a stored header. `now` decides whether the session's lease is still
    /// valid.
    #[must_use]
    pub fn of(header: &Header, now: Timestamp) -> Self {
        Self { session: Session::of(header, now) }
    }
}

/// The request of `new`: the session to create.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// The session's id. `null` generates an id.
    pub id: Option<SessionId>,
    /// The session's title.
    pub title: Option<String>,
    /// The session's label. The label of a root is `main`.
    pub label: Option<Label>,
    /// The session's workspace.
    pub workspace: Workspace,
    /// The principal for whom the session acts.
    pub principal: Option<String>,
    /// The session's permissions: an upper limit on what it may do. `null` means no limit.
    pub permissions: Option<BTreeSet<String>>,
    /// Metadata set by the application. forklore does not interpret it.
    pub metadata: Option<Data>,
    /// Configuration set by the application. forklore does not interpret it.
    pub config: Option<Data>,
    /// The parent, if the session is a delegate. `null` creates a root.
    #[serde(rename = "parent_session_id")]
    pub parent: Option<SessionId>,
}

impl Create {
    /// Creates a request for a root in `workspace`, with all defaults.
    #[must_use]
    pub fn in_workspace(workspace: Workspace) -> Self {
        Self {
            id: None,
            title: None,
            label: None,
            workspace,
            principal: None,
            permissions: None,
            metadata: None,
            config: None,
            parent: None,
        }
    }
}

/// The request of `list`: conditions that the listed sessions must match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListRequest {
    /// Lists only sessions of this workspace. `null` lists all workspaces.
    pub workspace: Option<Workspace>,
    /// Lists only sessions of this kind. `null` lists roots and branches.
    pub kind: Option<SessionKind>,
    /// Lists only sessions updated at or after this time.
    pub since: Option<Timestamp>,
    /// The maximum number of sessions to return. 0 means no limit.
    pub limit: usize,
    /// The position to continue from: the `next` of an earlier answer.
    pub after: Option<String>,
}

/// The answer of `list`: one page of sessions, the most recently updated first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// The position of the next page. Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The problems of sessions whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}
