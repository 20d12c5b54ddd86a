//! Parted branches: what becomes of a session that went on differently in two stores
//! (docs/semantics.md, Moving between stores).

use forklore_core::{Cut, Event, Header, Label, SessionId, SessionKind, Strategy, ToolCallPolicy};
use forklore_store::port::{Beginning, NewSession};

use crate::fork::{ForkRecord, limitations};
use crate::{Error, Result};

/// What the id of every parted branch begins with.
const NAME: &str = "parted";

/// The maximum number of bytes of a label, with a number behind it.
const LABEL_BYTES: usize = 56;

/// Returns the id of the branch that parts from `session` with the event `first`.
pub(super) fn parted_id(session: &SessionId, first: &Event) -> Result<SessionId> {
    let dialect = first.dialect.as_deref().unwrap_or_default();
    let (ts, class) = (first.ts.to_string(), first.class.code().to_string());
    let parts = [
        session.as_str(),
        first.id.as_str(),
        &ts,
        first.kind.as_str(),
        &class,
        dialect,
        first.data.get(),
    ];
    SessionId::derived(NAME, &parts)
        .map_err(|source| Error::Name { what: "id of a parted branch", source })
}

/// Checks whether a session may be a parted branch, without a look at its events.
pub(super) fn may_be_parted(header: &Header) -> bool {
    header.kind == SessionKind::Branch
        && header.own_events > 1
        && header.id.as_str().strip_prefix(NAME).is_some_and(|rest| rest.starts_with('-'))
}

/// Builds the branch that parts from the session `parent` of the other store. `from` is the
/// session here whose events follow in the branch, the first of them `first`.
pub(super) fn parted(
    id: SessionId,
    from: &Header,
    parent: &Header,
    cut: Cut,
    first: &Event,
) -> Result<NewSession> {
    let (kind, tool_calls) = (SessionKind::Branch, ToolCallPolicy::Verbatim);
    let record = ForkRecord {
        kind,
        parent_session_id: &parent.id,
        root_session_id: &parent.root_id,
        cut: &cut,
        requested_cut: None,
        event_count: cut.inheritable,
        strategy: Strategy::ShareV1,
        tool_calls,
        workspace: &from.workspace,
        parent_workspace: &parent.workspace,
        principal: from.principal.as_deref(),
        parent_principal: parent.principal.as_deref(),
        revision: None,
        limitations: limitations(kind),
    };
    let events = vec![record.event(&id, first.ts)?];
    Ok(NewSession {
        kind,
        label: Label::of_fork(&id, 0),
        title: from.title.clone(),
        workspace: from.workspace.clone(),
        principal: from.principal.clone(),
        permissions: from.permissions.clone(),
        metadata: from.metadata.clone(),
        config: from.config.clone(),
        dialect: from.dialect.clone(),
        source: None,
        copy_of: None,
        created: first.ts,
        from: Some(Beginning {
            parent: parent.id.clone(),
            cut,
            strategy: Strategy::ShareV1,
            tool_calls,
        }),
        events,
        usage: forklore_core::Usage::default(),
        id,
    })
}

/// Returns the label of a parted branch that says whose it is. `attempt` counts from 0, with a
/// further number for each label that was in use. Without an owner, returns a default label.
pub(super) fn label_of(owner: Option<&str>, id: &SessionId, attempt: usize) -> Label {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut label: String = owner.unwrap_or_default().chars().take(LABEL_BYTES).collect();
    label = label.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    if attempt > 0 {
        label += &format!("-{}", attempt.saturating_add(1));
    }
    match label.parse() {
        Ok(label) if owner.is_some() => label,
        _ => Label::of_fork(id, attempt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_whose_a_parted_branch_is() {
        let id: SessionId = "parted-0123456789abcdef".parse().unwrap();
        let label = |owner, attempt| label_of(owner, &id, attempt).to_string();
        assert_eq!(label(Some("did:key:ann b"), 0), "did_key_ann_b");
        assert_eq!(label(Some("ann"), 2), "ann-3");
        assert_eq!(label(Some("-ann"), 0), Label::of_fork(&id, 0).to_string());
        assert_eq!(label(None, 1), Label::of_fork(&id, 1).to_string());
    }
}
