//! A session, and the verbs that make, list and name sessions.

use std::collections::BTreeSet;

use forklore_core::header::CopyOf;
use forklore_core::report::Problem;
use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Data, Header, Label, SessionId, SessionKind, Strategy};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A session without its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The id of the family's root.
    pub root_id: SessionId,
    /// The session that it was forked from; none for a root.
    pub parent_id: Option<SessionId>,
    /// How it came to be.
    pub kind: SessionKind,
    /// Its name in the family.
    pub label: Label,
    /// What people call it.
    pub title: Option<String>,
    /// Where in its parent it begins.
    pub cut: Option<Cut>,
    /// How its prefix is stored.
    pub strategy: Option<Strategy>,
    /// The folder that it belongs to.
    pub workspace: Workspace,
    /// For whom it acts.
    pub principal: Option<String>,
    /// The most that it may do; none is no limit.
    pub permissions: Option<BTreeSet<String>>,
    /// The application's notes.
    pub metadata: Option<Data>,
    /// Which agent's records it was read from.
    pub dialect: Option<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last written.
    pub updated: Timestamp,
    /// Its last log position; -1 when it is empty.
    pub head_seq: i64,
    /// How many conversation events it has.
    pub head_index: u64,
    /// How many events it wrote itself.
    pub own_events: u64,
    /// Links up to the root.
    pub depth: u64,
    /// Whether a runtime holds it now.
    pub status: Status,
    /// Whether its prefix is its own copy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
    /// The session of its file that the agent would resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<SessionId>,
    /// The file that it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The session whose beginning it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<CopyOf>,
    /// Whether it was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl Session {
    /// The session of this header, as it is at `now`.
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

/// Whether a runtime holds a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody runs it.
    Idle,
    /// A runtime holds it.
    Running,
}

/// The answer of the verbs that make, name or show one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionAnswer {
    /// The session.
    pub session: Session,
}

impl SessionAnswer {
    /// The answer about the session of this header, as it is at `now`.
    #[must_use]
    pub fn of(header: &Header, now: Timestamp) -> Self {
        Self { session: Session::of(header, now) }
    }
}

/// `new`: the session to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Create {
    /// Its id; none generates one.
    pub id: Option<SessionId>,
    /// What it is called.
    pub title: Option<String>,
    /// Its label; a root's is `main`.
    pub label: Option<Label>,
    /// Its folder.
    pub workspace: Workspace,
    /// For whom it acts.
    pub principal: Option<String>,
    /// The most that it may do; none is no limit.
    pub permissions: Option<BTreeSet<String>>,
    /// The application's notes.
    pub metadata: Option<Data>,
    /// The application's configuration.
    pub config: Option<Data>,
    /// The session whose delegate it is; none makes a root.
    #[serde(rename = "parent_session_id")]
    pub parent: Option<SessionId>,
}

impl Create {
    /// A root in `workspace`, with every default.
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

/// `list`: which sessions to list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ListRequest {
    /// Those of this workspace; none is all.
    pub workspace: Option<Workspace>,
    /// Those of this kind; none is all but delegates.
    pub kind: Option<SessionKind>,
    /// Those updated since then.
    pub since: Option<Timestamp>,
    /// How many at most; 0 is all.
    pub limit: usize,
    /// Those after this position, which an earlier answer gave as `next`.
    pub after: Option<String>,
}

/// The answer of `list`: sessions, the last updated first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// Where the next page begins; none on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Sessions whose header cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}
