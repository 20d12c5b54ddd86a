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
    /// The id of the root of the session's family (a root with all its descendants).
    pub root_id: SessionId,
    /// The id of the parent session. `null` for a root.
    pub parent_id: Option<SessionId>,
    /// The session's kind: root, branch, or delegate (the session of a sub-agent).
    pub kind: SessionKind,
    /// The session's label: a short name, unique in its family (a root with all its descendants).
    pub label: Label,
    /// The session's title, for display. `null` if it has none.
    pub title: Option<String>,
    /// The beginning of what a person typed first in the session, as one line of at most 200
    /// characters. Present only in the answer of `list`, for a session without a title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_words: Option<String>,
    /// The position in the parent's log at which the session begins. `null` for a root.
    pub cut: Option<Cut>,
    /// How the store represents the events that the session inherits: shared with the parent, or
    /// copied from it. `null` for a root.
    pub strategy: Option<Strategy>,
    /// The workspace (folder) that the session belongs to.
    pub workspace: Workspace,
    /// The principal (user) for whom the session acts. `null` if it has none.
    pub principal: Option<String>,
    /// The session's permissions: an upper limit on what it may do. `null` means no limit.
    pub permissions: Option<BTreeSet<String>>,
    /// Metadata of the session, set by the application. forklore does not interpret it. `null` if
    /// there is none.
    pub metadata: Option<Data>,
    /// The dialect (name of an agent's record format) of the imported events in the session's
    /// history. `null` if the history has no imported events.
    pub dialect: Option<String>,
    /// When the session was created.
    pub created: Timestamp,
    /// When the session was last written to.
    pub updated: Timestamp,
    /// The log position (`seq`) of the session's last event. -1 if the log is empty.
    pub head_seq: i64,
    /// The number of conversation events in the session's history, including inherited events.
    pub head_index: u64,
    /// The number of turns in the session's history, including inherited turns.
    pub turns: u64,
    /// The number of events that the session wrote itself, without inherited events.
    pub own_events: u64,
    /// The total size of the payloads that the session wrote itself, in bytes.
    pub own_bytes: u64,
    /// The number of parent links between the session and its root.
    pub depth: u64,
    /// Whether a runtime (a process that runs turns) has leased the session.
    pub status: Status,
    /// Whether the session has its own copy of the events that it inherits, so that it needs no
    /// ancestor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
    /// The session that the agent would resume from the file of this imported session. Present only
    /// if the file has several branches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<SessionId>,
    /// The path of the file from which the session was imported. Absent if it was not imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The session whose beginning this imported session repeats. Absent if none was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<CopyOf>,
    /// Whether the session was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// When the session was deleted. Absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
}

impl Session {
    /// Creates the public form of a stored session header. `running` states whether a runtime has
    /// leased the session now.
    #[must_use]
    pub fn of(header: &Header, running: bool) -> Self {
        Self {
            id: header.id.clone(),
            root_id: header.root_id.clone(),
            parent_id: header.parent_id.clone(),
            kind: header.kind,
            label: header.label.clone(),
            title: header.title.clone(),
            first_words: None,
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
            turns: header.counts.turns,
            own_events: header.own_events,
            own_bytes: header.own_bytes,
            depth: header.depth,
            status: if running { Status::Running } else { Status::Idle },
            detached: header.detached,
            leaf: header.leaf.clone(),
            source: header.source.clone(),
            copy_of: header.copy_of.clone(),
            deleted: header.deleted.is_some(),
            deleted_at: header.deleted.map(|tombstone| tombstone.deleted),
        }
    }
}

/// Whether a runtime (a process that runs turns) has leased a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// No runtime has leased the session.
    Idle,
    /// A runtime has leased the session.
    Running,
}

/// The answer of `new`, `label`, `rename` and `show`: the header of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionAnswer {
    /// The header of the session, after the request was executed.
    pub session: Session,
    /// Whether the fork that created the session recorded a summary of the inherited history.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
}

impl SessionAnswer {
    /// Creates the answer from a stored header. `running` states whether a runtime has leased the
    /// session now. `summary` states whether the fork that created the session recorded a summary.
    #[must_use]
    pub fn of(header: &Header, running: bool, summary: bool) -> Self {
        Self { session: Session::of(header, running), summary }
    }
}

/// The request of `new`: creates a session without history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// The new session's id. `null` generates an id.
    pub id: Option<SessionId>,
    /// The new session's title, for display. `null` gives it no title.
    pub title: Option<String>,
    /// The new session's label. With `null`, a root gets the label `main`, and a delegate (the
    /// session of a sub-agent) a label that is derived from its id.
    pub label: Option<Label>,
    /// The new session's workspace (folder).
    pub workspace: Workspace,
    /// The principal (user) for whom the new session acts. `null` sets none.
    pub principal: Option<String>,
    /// The new session's permissions: an upper limit on what it may do. `null` means no limit.
    pub permissions: Option<BTreeSet<String>>,
    /// Metadata of the new session, set by the application. forklore does not interpret it. `null`
    /// sets none.
    pub metadata: Option<Data>,
    /// Configuration of the new session, set by the application. forklore does not interpret it.
    /// `null` sets none.
    pub config: Option<Data>,
    /// The parent, if the new session is a delegate (the session of a sub-agent). `null` creates a
    /// root.
    #[serde(rename = "parent_session_id")]
    pub parent: Option<SessionId>,
}

impl Create {
    /// Creates a request for a new root in `workspace`. All other fields have their defaults.
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
    /// Lists only sessions of this kind. `null` lists roots and branches, but no delegates
    /// (sessions of sub-agents).
    pub kind: Option<SessionKind>,
    /// Lists only sessions that were last written to at or after this time. `null` lists sessions
    /// whatever their time.
    pub since: Option<Timestamp>,
    /// The maximum number of sessions to return. 0 means no limit.
    pub limit: usize,
    /// The position at which the requested page begins: the field `next` of the previous page.
    /// `null` begins with the first session.
    pub after: Option<String>,
    /// Lists the sessions in the trash instead of the living ones.
    pub deleted: bool,
}

/// The answer of `list`: one page of sessions. The most recently written session comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionPage {
    /// The headers of the sessions on this page.
    pub sessions: Vec<Session>,
    /// The position at which the next page begins, for the field `after` of the next request.
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The problems of sessions whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}
