//! `delegate`: a sub-agent with a fresh context and a budget of its own does a part of the work,
//! and its result comes back.

use std::collections::BTreeSet;
use std::sync::Arc;

use forklore_core::{Data, EventType, Header, Label, Selector, SessionId, SessionKind};
use forklore_engine::{Engine, Error as EngineError, Fork, NewEvent, Result as EngineResult};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::execute::Running;
use super::{AgentSession, Budget, Equipment, Inner, NewSession};
use crate::notify::Name;
use crate::tool::{ToolCall, ToolSpec};
use crate::turn::{Log, Status, Turn, event};
use crate::{Error, Result};

/// A piece of work for a sub-agent. How its configuration comes from its parent's is the
/// application's matter.
#[derive(Clone)]
pub struct Delegate {
    /// What it is to do.
    pub prompt: String,
    /// The name of the agent, for people who watch.
    pub agent: Option<String>,
    /// A sub-agent of this session that was there before and is given more to do; its id, label and
    /// so on stay as they are.
    pub resume: Option<SessionId>,
    /// Its id; none generates one.
    pub id: Option<SessionId>,
    /// Its label.
    pub label: Option<Label>,
    /// What it is called.
    pub title: Option<String>,
    /// Its configuration.
    pub config: Option<Data>,
    /// The application's notes.
    pub metadata: Option<Data>,
    /// What it may do at most, a subset of what its parent may; none is all of that.
    pub permissions: Option<BTreeSet<String>>,
    /// What it works with; none is what its parent works with.
    pub equipment: Option<Equipment>,
    /// What it may take.
    pub budget: Budget,
}

impl Delegate {
    /// A sub-agent that works with what its parent works with.
    #[must_use]
    pub fn new(prompt: &str) -> Self {
        Self {
            prompt: prompt.to_owned(),
            agent: None,
            resume: None,
            id: None,
            label: None,
            title: None,
            config: None,
            metadata: None,
            permissions: None,
            equipment: None,
            budget: Budget::default(),
        }
    }
}

/// Lets the model hand work to sub-agents, as a tool of this name. How deep that goes, and with
/// what they work, it decides.
pub trait Delegation: Send + Sync {
    /// The tool as the model is told of it.
    fn spec(&self) -> ToolSpec;

    /// What a call asks for; the child's parent is the session of `header`.
    ///
    /// # Errors
    /// Why it is not done, in words for the model.
    fn plan(
        &self,
        call: &ToolCall,
        header: &Header,
        equipment: &Equipment,
    ) -> Result<Delegate, String>;
}

/// What a sub-agent came to.
#[derive(Debug)]
#[must_use]
pub struct Delegated {
    /// The sub-agent's session.
    pub session_id: SessionId,
    /// Its turn, or why it failed.
    pub turn: Result<Turn>,
}

impl AgentSession {
    /// Has a sub-agent do a piece of work, between turns. Its beginning and its result are written
    /// into this session, where the model sees the result with the next turn; what it cost stays
    /// with the sub-agent. [`interrupt`](Self::interrupt) interrupts it.
    ///
    /// # Errors
    /// `busy` naming the runtime that holds the session; `permission_denied` when a hook denies the
    /// child, or it is to have a permission that this session does not have. That the sub-agent
    /// fails is no error: [`Delegated::turn`] tells it.
    pub async fn delegate(&self, delegate: Delegate) -> Result<Delegated> {
        let inner = &self.inner;
        let mut view = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
        inner.make_ready().await?;
        let running = Running::begin(inner);
        let (mut log, _) = Log::open(inner, &mut view).await?;
        let work = async {
            let child = inner.make_delegate(delegate, None).await?;
            log.append(vec![child.began()?]).await?;
            child.announce_began(inner);
            let turn = child.run(&running.cancel).await;
            log.append(vec![child.ended(&turn, true)?]).await?;
            child.announce_ended(inner, &turn);
            Ok(Delegated { session_id: child.session.id(), turn })
        };
        let delegated = work.await;
        log.close().await;
        delegated
    }
}

/// A sub-agent at work for a session.
#[derive(Clone)]
pub(crate) struct Child {
    pub(crate) session: AgentSession,
    prompt: String,
    agent: Option<String>,
    call: Option<String>,
    resumed: bool,
}

impl Inner {
    /// Makes a sub-agent; it is durable and announced when this returns.
    pub(crate) async fn make_delegate(
        &self,
        delegate: Delegate,
        call: Option<&ToolCall>,
    ) -> Result<Child> {
        if let Some(child) = delegate.resume.clone() {
            return self.resume_delegate(&child, delegate, call).await;
        }
        let here = self.identity();
        let id = here.session_id.clone();
        let header = self.kernel.run(move |engine| engine.show(&id)).await?;
        let new = NewSession {
            id: delegate.id,
            parent_id: Some(here.session_id),
            label: delegate.label,
            title: delegate.title,
            config: delegate.config,
            metadata: delegate.metadata,
            permissions: delegate.permissions,
            ..NewSession::in_workspace(header.workspace)
        };
        let mut equipment = delegate.equipment.unwrap_or_else(|| self.equipment());
        equipment.model.ready().map_err(Error::NotReady)?;
        equipment.settings.budget = delegate.budget;
        let session = AgentSession::planned(&self.kernel, new, equipment);
        session.inner.make_ready().await?;
        let (prompt, agent) = (delegate.prompt, delegate.agent);
        let call = call.map(|call| call.id.clone());
        Ok(Child { session, prompt, agent, call, resumed: false })
    }

    /// Opens a sub-agent of this session once more.
    async fn resume_delegate(
        &self,
        child: &SessionId,
        delegate: Delegate,
        call: Option<&ToolCall>,
    ) -> Result<Child> {
        let mut equipment = delegate.equipment.unwrap_or_else(|| self.equipment());
        equipment.model.ready().map_err(Error::NotReady)?;
        equipment.settings.budget = delegate.budget;
        let session = self.kernel.open(child, equipment).await?;
        if session.identity().parent_id != Some(self.identity().session_id) {
            return Err(Error::NotADelegate(child.clone()));
        }
        session.inner.make_ready().await?;
        let (prompt, agent) = (delegate.prompt, delegate.agent);
        let call = call.map(|call| call.id.clone());
        Ok(Child { session, prompt, agent, call, resumed: true })
    }
}

impl Child {
    /// Runs it to its end; what interrupts its parent interrupts it. A boxed future of a named
    /// type, because a sub-agent may have sub-agents.
    pub(crate) fn run(&self, cancel: &CancellationToken) -> BoxFuture<'static, Result<Turn>> {
        let (child, cancel) = (self.clone(), cancel.clone());
        Box::pin(async move {
            let turn = child.session.execute(&child.prompt);
            tokio::pin!(turn);
            let turn = tokio::select! {
                turn = &mut turn => turn,
                () = child.interrupted(cancel) => turn.await,
            };
            child.session.cleanup(true).await;
            turn
        })
    }

    /// Interrupts the turn as soon as it runs.
    async fn interrupted(&self, cancel: CancellationToken) {
        cancel.cancelled().await;
        while !self.session.interrupt() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }

    pub(crate) fn began(&self) -> Result<NewEvent> {
        let data = json!({"session_id": self.session.id(), "status": "running",
            "agent": self.agent, "call_id": self.call});
        event(EventType::SUBAGENT_EVENT, data)
    }

    /// Its end; with its result where the model is not told it otherwise.
    pub(crate) fn ended(&self, turn: &Result<Turn>, with_result: bool) -> Result<NewEvent> {
        let failed = failure(turn);
        let status = if failed.is_some() { "failed" } else { "finished" };
        let result = turn.as_ref().ok().filter(|_| with_result).map(|turn| turn.text.clone());
        let data = json!({"session_id": self.session.id(), "status": status,
            "agent": self.agent, "call_id": self.call, "result": result, "error": failed});
        event(EventType::SUBAGENT_EVENT, data)
    }

    pub(crate) fn announce_began(&self, parent: &Inner) {
        let name = if self.resumed { Name::DelegateResumed } else { Name::DelegateSpawned };
        parent.announce(name, self.data(parent));
    }

    pub(crate) fn announce_ended(&self, parent: &Inner, turn: &Result<Turn>) {
        let mut data = self.data(parent);
        let failed = failure(turn);
        let name = if failed.is_some() { Name::DelegateError } else { Name::DelegateCompleted };
        if let Value::Object(fields) = &mut data {
            fields.insert("success".into(), json!(failed.is_none()));
            fields.insert("error".into(), json!(failed));
            fields.insert("usage".into(), json!(turn.as_ref().ok().map(|turn| turn.usage)));
        }
        parent.announce(name, data);
    }

    fn data(&self, parent: &Inner) -> Value {
        json!({"agent": self.agent, "sub_session_id": self.session.id(),
            "parent_session_id": parent.identity().session_id, "tool_call_id": self.call})
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

/// Makes a delegate of its parent's present end, also while a turn of the parent runs.
pub(super) fn create_delegate(engine: &Engine, fork: Fork) -> EngineResult<Header> {
    let fork = Fork { kind: SessionKind::Delegate, at: Some(Selector::End), ..fork };
    let forked = engine.fork(&fork)?;
    if forked.existing {
        let (id, differs) = (forked.child_session_id, "it was made before");
        return Err(EngineError::OtherChild { id, differs });
    }
    engine.show(&forked.child_session_id)
}

/// Where a session's delegation tool is, if it has one.
pub(crate) fn delegation_of(equipment: &Equipment, call: &ToolCall) -> Option<Arc<dyn Delegation>> {
    equipment.delegation.clone().filter(|delegation| delegation.spec().name == call.name)
}
