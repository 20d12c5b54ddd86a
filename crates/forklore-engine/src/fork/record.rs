//! The first events of a child: `session_fork`, synthetic results, a summary (SPEC 6.2, 6.3, 8).

use forklore_core::call::OpenCall;
use forklore_core::header::Usage;
use forklore_core::workspace::Workspace;
use forklore_core::{
    Class, Cut, Data, Effect, Event, EventId, EventType, Header, SessionId, SessionKind, Strategy,
    ToolCallPolicy, payload,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::plan::Plan;
use crate::summary::{Of, usage_events};
use crate::{Engine, Error, Result};

/// The payload of `session_fork`: a child's lineage, readable without its header.
#[derive(Clone, Debug, Serialize)]
pub struct ForkRecord<'a> {
    /// A branch or a delegate.
    pub kind: SessionKind,
    /// The parent.
    pub parent_session_id: &'a SessionId,
    /// The family.
    pub root_session_id: &'a SessionId,
    /// The place in the parent, with the parent's event id there.
    pub cut: &'a Cut,
    /// The place asked for, where open calls moved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "cut_asked")]
    pub requested_cut: Option<&'a Cut>,
    /// Inherited events.
    pub event_count: u64,
    /// How the prefix is stored.
    pub strategy: Strategy,
    /// What was asked for open calls.
    pub tool_calls: ToolCallPolicy,
    /// The child's folder.
    pub workspace: &'a Workspace,
    /// The parent's folder.
    pub parent_workspace: &'a Workspace,
    /// For whom the child acts.
    pub principal: Option<&'a str>,
    /// For whom the parent acts.
    pub parent_principal: Option<&'a str>,
    /// The number of the revision that the child begins, where its file was rewritten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// What the child does not have.
    pub limitations: &'a [&'a str],
}

impl ForkRecord<'_> {
    /// The event that a child's log begins with. Its id is made from the child's, so that the
    /// same fork in two copies of a store is the same to the byte.
    ///
    /// # Errors
    /// When the record cannot be written as JSON.
    pub fn event(&self, child: &SessionId, ts: Timestamp) -> Result<Event> {
        Ok(Event {
            id: EventId::derived(child, 0),
            ts,
            kind: EventType::SESSION_FORK,
            class: Class::Lineage,
            dialect: None,
            effect: Effect::default(),
            data: to_data(self)?,
        })
    }
}

const BRANCH_LIMITS: &[&str] = &["usage, failures and other audit events are not inherited"];
const DELEGATE_LIMITS: &[&str] = &["no history is inherited"];

/// What a child of this kind does not have, as its `session_fork` says.
#[must_use]
pub fn limitations(kind: SessionKind) -> &'static [&'static str] {
    if kind == SessionKind::Delegate { DELEGATE_LIMITS } else { BRANCH_LIMITS }
}

impl Plan {
    pub(super) fn first_events(
        &self,
        engine: &Engine,
        parent: &Header,
        ts: Timestamp,
    ) -> Result<(Vec<Event>, Usage)> {
        let record = ForkRecord {
            kind: self.kind,
            parent_session_id: &parent.id,
            root_session_id: &parent.root_id,
            cut: &self.cut,
            requested_cut: self.requested.as_ref(),
            event_count: self.inherited(),
            strategy: self.strategy,
            tool_calls: self.tool_calls,
            workspace: &self.workspace,
            parent_workspace: &parent.workspace,
            principal: self.principal.as_deref(),
            parent_principal: parent.principal.as_deref(),
            revision: None,
            limitations: limitations(self.kind),
        };
        let mut events = vec![record.event(&self.child, ts)?];
        for call in &self.synthetic {
            let seq = self.inherited() + events.len() as u64;
            events.push(synthetic_result(&self.child, seq, call, ts)?);
        }
        let mut cost = Usage::default();
        if let Some(by) = &self.summarize {
            let seq = self.inherited() + events.len() as u64;
            let of = Of { session_id: parent.id.clone(), from_index: 0, to_index: self.cut.index };
            let data = to_data(&engine.gather(of, self.cut.inheritable)?.written(by))?;
            events.push(own_event(
                EventId::derived(&self.child, seq),
                EventType::BRANCH_SUMMARY,
                data,
                ts,
            )?);
            let (usage, sum) =
                usage_events(by, ts, |at| EventId::derived(&self.child, seq + 1 + at as u64))?;
            events.extend(usage);
            cost = sum;
        }
        Ok((events, cost))
    }
}

/// What stands in for the result of a call that a fork left open.
pub(crate) const FORKED_BEFORE: &str =
    "No result: the session was forked before the tool answered.";

/// A result in place of one that never came, marked as such.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn synthetic_result(
    child: &SessionId,
    seq: u64,
    call: &OpenCall,
    ts: Timestamp,
) -> Result<Event> {
    let data = to_data(&json!({
        "call_id": call.id,
        "name": call.name,
        "content": FORKED_BEFORE,
        "is_error": true,
        "synthetic": true,
    }))?;
    own_event(EventId::derived(child, seq), EventType::TOOL_RESULT, data, ts)
}

fn own_event(id: EventId, kind: EventType, data: Data, ts: Timestamp) -> Result<Event> {
    let (class, effect) =
        payload::check(&kind, None, &data).map_err(|source| Error::Event { line: 1, source })?;
    Ok(Event { id, ts, kind, class, dialect: None, effect, data })
}

fn to_data(value: &impl Serialize) -> Result<Data> {
    Data::of(value).map_err(|error| Error::invalid("json", error.to_string()))
}
