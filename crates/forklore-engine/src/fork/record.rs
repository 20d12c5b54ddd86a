//! The first events of a child: `session_fork`, synthetic results and the branch summary.

use forklore_core::Usage;
use forklore_core::call::OpenCall;
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

/// The payload of a child's first event, `session_fork`. It states the child's lineage, so that a
/// reader of the log does not need the header.
#[derive(Clone, Debug, Serialize)]
pub struct ForkRecord<'a> {
    /// Whether the forked child is a branch or a delegate (a sub-agent without inherited history).
    pub kind: SessionKind,
    /// The id of the session from which the child was forked.
    pub parent_session_id: &'a SessionId,
    /// The id of the root session of the family, to which parent and child belong.
    pub root_session_id: &'a SessionId,
    /// The position in the parent's log where the child begins. Includes the id of the parent's
    /// last event before that position.
    pub cut: &'a Cut,
    /// The cut that the caller requested, if the fork uses an earlier one. It does if the requested
    /// cut leaves tool calls open and the policy is [`ToolCallPolicy::Remove`].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "cut_asked")]
    pub requested_cut: Option<&'a Cut>,
    /// Number of events that the child inherits from its parent.
    pub event_count: u64,
    /// How the events that the child inherits are stored: shared with the parent, or copied.
    pub strategy: Strategy,
    /// The requested policy for tool calls that have no result at the cut.
    pub tool_calls: ToolCallPolicy,
    /// The workspace of the forked child.
    pub workspace: &'a Workspace,
    /// The workspace of the session from which the child was forked.
    pub parent_workspace: &'a Workspace,
    /// The principal (a user, for example) on whose behalf the child acts; `None` if it has none.
    pub principal: Option<&'a str>,
    /// The principal on whose behalf the parent acts; `None` if it has none.
    pub parent_principal: Option<&'a str>,
    /// The number of the rewrite of an imported file, from 1. Only a child that an import forked
    /// for the new content of a rewritten file has such a number; `None` for any other child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// English sentences that state what the child does not inherit.
    pub limitations: &'a [&'a str],
}

impl ForkRecord<'_> {
    /// Builds the `session_fork` event, the first event in the log of `child`. The event's id is
    /// derived from the child's id. The same fork, repeated in two copies of a store, thus gives
    /// the same event id.
    ///
    /// # Errors
    /// Returns an error if the record cannot be serialized to JSON.
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

/// Returns English sentences that state what a child of this kind does not inherit. The
/// `session_fork` event contains them.
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

/// The content of a synthetic tool result. With [`ToolCallPolicy::Complete`], a fork adds such a
/// result for each tool call that has no result at its cut.
pub(crate) const FORKED_BEFORE: &str =
    "No result: the session was forked before the tool answered.";

/// Builds a synthetic `tool_result` event for a tool call that has no result. Its payload has
/// `synthetic: true` and `is_error: true`. Its id is derived from `child` and `seq`, the session
/// and the position of the event.
///
/// # Errors
/// Returns an error if the payload cannot be serialized to JSON or is invalid.
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
