//! Builds the sessions that an import creates: roots, and sessions that begin inside another
//! session (docs/semantics.md, Fork and Sources).

use forklore_core::Usage;
use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Header, Label, SessionId, SessionKind, Strategy, ToolCallPolicy};
use forklore_engine::Result;
use forklore_engine::{ForkRecord, limitations};
use forklore_store::port::{Beginning, NewSession};
use jiff::Timestamp;

use crate::agent_file::AgentFile;

/// A session to create that begins inside another session.
pub(crate) struct Child {
    pub(crate) id: SessionId,
    pub(crate) kind: SessionKind,
    pub(crate) parent: Header,
    pub(crate) cut: Cut,
    pub(crate) strategy: Strategy,
    pub(crate) title: Option<String>,
    pub(crate) workspace: Workspace,
    pub(crate) created: Timestamp,
    /// How often the file has been rewritten, if this is the first session of a rewritten file;
    /// otherwise `None`.
    pub(crate) revision: Option<u64>,
}

impl Child {
    /// Converts this description into a new session for the store. The session's log begins with a
    /// `session_fork` event that names the parent session.
    pub(crate) fn into_session(self, file: &AgentFile<'_>, label: Label) -> Result<NewSession> {
        let first = self.record().event(&self.id, self.created)?;
        let Self { id, kind, parent, cut, strategy, title, workspace, created, .. } = self;
        Ok(NewSession {
            kind,
            label,
            title,
            principal: parent.principal,
            permissions: parent.permissions,
            events: vec![first],
            from: Some(Beginning {
                parent: parent.id,
                cut,
                strategy,
                tool_calls: ToolCallPolicy::Verbatim,
            }),
            ..root(file, id, workspace, created)
        })
    }

    /// Returns how many events the new session inherits from its parent; 0 for the session of a
    /// sub-agent.
    fn inherited(&self) -> u64 {
        if self.kind == SessionKind::Branch { self.cut.inheritable } else { 0 }
    }

    /// Returns the payload of the `session_fork` event with which the new session begins.
    fn record(&self) -> ForkRecord<'_> {
        ForkRecord {
            kind: self.kind,
            parent_session_id: &self.parent.id,
            root_session_id: &self.parent.root_id,
            cut: &self.cut,
            requested_cut: None,
            event_count: self.inherited(),
            strategy: self.strategy,
            tool_calls: ToolCallPolicy::Verbatim,
            workspace: &self.workspace,
            parent_workspace: &self.parent.workspace,
            principal: self.parent.principal.as_deref(),
            parent_principal: self.parent.principal.as_deref(),
            revision: self.revision,
            limitations: limitations(self.kind),
        }
    }
}

/// Describes a new root session for a file. The session has no parent, title or events.
pub(crate) fn root(
    file: &AgentFile<'_>,
    id: SessionId,
    workspace: Workspace,
    created: Timestamp,
) -> NewSession {
    NewSession {
        id,
        kind: SessionKind::Root,
        label: Label::main(),
        title: None,
        workspace,
        principal: None,
        permissions: None,
        metadata: None,
        config: None,
        dialect: Some(file.format().name().to_owned()),
        source: Some(file.path().to_owned()),
        copy_of: None,
        created,
        from: None,
        events: Vec::new(),
        usage: Usage::default(),
    }
}
