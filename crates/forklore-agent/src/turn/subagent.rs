//! A sub-agent that works for a session. Contains the port through which a turn creates and runs
//! the sub-agent, and the records and notifications that the parent makes about the sub-agent.

use std::sync::Arc;

use forklore_core::{EventType, SessionId};
use forklore_engine::NewEvent;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::new_event::event;
use super::outcome::{Status, Turn};
use crate::Result;
use crate::context::Context;
use crate::delegation::Delegate;
use crate::notify::KernelEvent;
use crate::notify::event::{DelegateEnded, DelegateStarted};
use crate::panic::catch_panic;
use crate::tool::ToolCall;

/// Creates the sub-agents of a session.
pub(crate) trait SubagentFactory: Send + Sync {
    /// Creates a sub-agent, or opens an existing sub-agent for another task. When this function
    /// returns, the sub-agent's session is durable. If the session is new, its creation was
    /// announced.
    fn make<'a>(
        &'a self,
        parent: &'a Context,
        delegate: Delegate,
    ) -> BoxFuture<'a, Result<Arc<dyn SubagentSession>>>;
}

/// The session of a sub-agent, as the turn of its parent sees it.
pub(crate) trait SubagentSession: Send + Sync {
    fn id(&self) -> SessionId;

    /// Checks whether the sub-agent existed before its current task.
    fn is_resumed(&self) -> bool;

    /// Runs the sub-agent's turn to its end. `cancel` interrupts the turn. The future is boxed
    /// because a sub-agent may itself run sub-agents.
    fn run(&self, cancel: &CancellationToken) -> BoxFuture<'static, Result<Turn>>;
}

/// A sub-agent, with its name and the id of the tool call that assigned its task.
#[derive(Clone)]
pub(crate) struct Subagent {
    subagent: Arc<dyn SubagentSession>,
    agent: Option<String>,
    call: Option<String>,
}

impl Subagent {
    pub(crate) async fn make(
        factory: &dyn SubagentFactory,
        parent: &Context,
        delegate: Delegate,
        call: Option<&ToolCall>,
    ) -> Result<Self> {
        let agent = delegate.agent.clone();
        let subagent = factory.make(parent, delegate).await?;
        Ok(Self { subagent, agent, call: call.map(|call| call.id.clone()) })
    }

    pub(crate) fn id(&self) -> SessionId {
        self.subagent.id()
    }

    /// Runs the sub-agent to its end. Returns an error if the sub-agent panics.
    pub(crate) fn run(&self, cancel: &CancellationToken) -> BoxFuture<'static, Result<Turn>> {
        let (subagent, cancel) = (Arc::clone(&self.subagent), cancel.clone());
        Box::pin(catch_panic(async move { subagent.run(&cancel).await }))
    }

    pub(crate) fn began(&self) -> Result<NewEvent> {
        let data = json!({"session_id": self.id(), "status": "running",
            "agent": self.agent, "call_id": self.call});
        event(EventType::SUBAGENT_EVENT, data)
    }

    /// Builds the event that records the sub-agent's end in the parent's log. Set `with_result` if
    /// no tool result gives the sub-agent's result to the model. The event then contains the
    /// result.
    pub(crate) fn ended(&self, turn: &Result<Turn>, with_result: bool) -> Result<NewEvent> {
        let failed = failure(turn);
        let status = if failed.is_some() { "failed" } else { "finished" };
        let result = turn.as_ref().ok().filter(|_| with_result).map(|turn| turn.text.clone());
        let data = json!({"session_id": self.id(), "status": status,
            "agent": self.agent, "call_id": self.call, "result": result, "error": failed});
        event(EventType::SUBAGENT_EVENT, data)
    }

    pub(crate) fn announce_began(&self, parent: &Context) {
        parent.announce(self.began_announced(parent));
    }

    /// Builds the notification that the sub-agent started.
    pub(super) fn began_announced(&self, parent: &Context) -> KernelEvent {
        let started = self.started(parent);
        if self.subagent.is_resumed() {
            KernelEvent::DelegateResumed(started)
        } else {
            KernelEvent::DelegateSpawned(started)
        }
    }

    pub(crate) fn announce_ended(&self, parent: &Context, turn: &Result<Turn>) {
        parent.announce(self.ended_announced(parent, turn));
    }

    /// Builds the notification that the sub-agent ended.
    pub(super) fn ended_announced(&self, parent: &Context, turn: &Result<Turn>) -> KernelEvent {
        let error = failure(turn);
        let success = error.is_none();
        let usage = turn.as_ref().ok().map(|turn| turn.usage);
        let ended = DelegateEnded { delegate: self.started(parent), success, error, usage };
        if success {
            KernelEvent::DelegateCompleted(ended)
        } else {
            KernelEvent::DelegateError(ended)
        }
    }

    fn started(&self, parent: &Context) -> DelegateStarted {
        DelegateStarted {
            agent: self.agent.clone(),
            sub_session_id: self.id(),
            parent_session_id: parent.identity().session_id,
            tool_call_id: self.call.clone(),
        }
    }
}

/// Returns why a sub-agent has no complete result, or `None` if its turn succeeded.
pub(crate) fn failure(turn: &Result<Turn>) -> Option<String> {
    match turn {
        Ok(Turn { status: Status::Success, .. }) => None,
        Ok(Turn { status: Status::Cancelled, .. }) => Some("it was interrupted".into()),
        Ok(Turn { status: Status::Incomplete(reason), .. }) => {
            Some(format!("it was cut short: {reason}"))
        }
        Err(error) => Some(error.to_string()),
    }
}
