//! A sub-agent at work for a session: the port through which a turn has one made and runs it, and
//! what its parent records and announces of it.

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
use crate::tool::ToolCall;

/// Makes the sub-agents of a session.
pub(crate) trait Children: Send + Sync {
    /// Makes a sub-agent, or opens one that is to do more. It is durable and announced when this
    /// returns.
    fn make<'a>(
        &'a self,
        parent: &'a Context,
        delegate: Delegate,
    ) -> BoxFuture<'a, Result<Arc<dyn Subagent>>>;
}

/// A session that works as a sub-agent.
pub(crate) trait Subagent: Send + Sync {
    fn id(&self) -> SessionId;

    /// Whether it was there before.
    fn is_resumed(&self) -> bool;

    /// Runs it to its end; what interrupts its parent interrupts it. The future is boxed because a
    /// sub-agent may have sub-agents.
    fn run(&self, cancel: &CancellationToken) -> BoxFuture<'static, Result<Turn>>;
}

/// A sub-agent, and for what it was made.
#[derive(Clone)]
pub(crate) struct Child {
    subagent: Arc<dyn Subagent>,
    agent: Option<String>,
    call: Option<String>,
}

impl Child {
    pub(crate) async fn make(
        children: &dyn Children,
        parent: &Context,
        delegate: Delegate,
        call: Option<&ToolCall>,
    ) -> Result<Self> {
        let agent = delegate.agent.clone();
        let subagent = children.make(parent, delegate).await?;
        Ok(Self { subagent, agent, call: call.map(|call| call.id.clone()) })
    }

    pub(crate) fn id(&self) -> SessionId {
        self.subagent.id()
    }

    pub(crate) fn run(&self, cancel: &CancellationToken) -> BoxFuture<'static, Result<Turn>> {
        self.subagent.run(cancel)
    }

    pub(crate) fn began(&self) -> Result<NewEvent> {
        let data = json!({"session_id": self.id(), "status": "running",
            "agent": self.agent, "call_id": self.call});
        event(EventType::SUBAGENT_EVENT, data)
    }

    /// The record of its end. It has the result where no call brings it to the model.
    pub(crate) fn ended(&self, turn: &Result<Turn>, with_result: bool) -> Result<NewEvent> {
        let failed = failure(turn);
        let status = if failed.is_some() { "failed" } else { "finished" };
        let result = turn.as_ref().ok().filter(|_| with_result).map(|turn| turn.text.clone());
        let data = json!({"session_id": self.id(), "status": status,
            "agent": self.agent, "call_id": self.call, "result": result, "error": failed});
        event(EventType::SUBAGENT_EVENT, data)
    }

    pub(crate) fn announce_began(&self, parent: &Context) {
        let started = self.started(parent);
        parent.announce(if self.subagent.is_resumed() {
            KernelEvent::DelegateResumed(started)
        } else {
            KernelEvent::DelegateSpawned(started)
        });
    }

    pub(crate) fn announce_ended(&self, parent: &Context, turn: &Result<Turn>) {
        let error = failure(turn);
        let success = error.is_none();
        let usage = turn.as_ref().ok().map(|turn| turn.usage);
        let ended = DelegateEnded { delegate: self.started(parent), success, error, usage };
        parent.announce(if success {
            KernelEvent::DelegateCompleted(ended)
        } else {
            KernelEvent::DelegateError(ended)
        });
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

/// Why a sub-agent has no whole result.
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
