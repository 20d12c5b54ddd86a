//! Creates a session that begins inside another one (docs/semantics.md, Fork and Sources).

use forklore_core::workspace::Workspace;
use forklore_core::{Cut, Header, SessionId, SessionKind, Strategy, ToolCallPolicy};
use forklore_engine::Result;
use forklore_engine::{ForkRecord, limitations};
use forklore_store::port::{Beginning, NewSession};
use jiff::Timestamp;

use crate::reading::Reading;

/// A session to create, and where it begins.
pub(crate) struct Child {
    pub(crate) id: SessionId,
    pub(crate) kind: SessionKind,
    pub(crate) parent: Header,
    pub(crate) cut: Cut,
    pub(crate) title: Option<String>,
    pub(crate) workspace: Workspace,
    pub(crate) created: Timestamp,
    /// The number of the file's revision that the session begins.
    pub(crate) revision: Option<u64>,
}

impl Child {
    /// Returns the number of inherited events.
    fn inherited(&self) -> u64 {
        if self.kind == SessionKind::Branch { self.cut.inheritable } else { 0 }
    }

    /// Returns the payload of the first event of its log.
    fn record(&self) -> ForkRecord<'_> {
        ForkRecord {
            kind: self.kind,
            parent_session_id: &self.parent.id,
            root_session_id: &self.parent.root_id,
            cut: &self.cut,
            requested_cut: None,
            event_count: self.inherited(),
            strategy: Strategy::ShareV1,
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

impl Reading<'_> {
    /// Creates the session, as the next of the file, and returns its number.
    pub(crate) fn begin_child(&mut self, child: Child) -> Result<u32> {
        let at = u32::try_from(self.sessions.len()).unwrap_or(u32::MAX);
        if child.kind == SessionKind::Branch {
            for call in self.engine.open_calls(&child.parent, &child.cut)?.calls() {
                self.state.open_call(at, &call.id);
            }
        }
        let (inherited, first) =
            (child.inherited(), child.record().event(&child.id, child.created)?);
        let Child { id, kind, parent, cut, title, workspace, created, revision } = child;
        let label = match revision {
            Some(revision) => self.conflicts.revision_label(revision, &id),
            None => self.conflicts.label(&id),
        };
        let new = NewSession {
            kind,
            label,
            title,
            principal: parent.principal,
            permissions: parent.permissions,
            events: vec![first],
            from: Some(Beginning {
                parent: parent.id,
                cut,
                strategy: Strategy::ShareV1,
                tool_calls: ToolCallPolicy::Verbatim,
            }),
            ..self.new_session(id, workspace, created)
        };
        self.add(new, inherited, 1);
        Ok(at)
    }
}
