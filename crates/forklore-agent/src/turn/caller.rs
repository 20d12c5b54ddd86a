//! What a turn does for a tool that it calls: announces the tool's events, and runs sub-agents.
//!
//! The turn alone writes the session's log. A tool's sub-agent therefore sends its records to the
//! turn, which stores and announces them while it waits for the results of its calls.

use std::sync::Arc;

use forklore_engine::NewEvent;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::subagent::{Subagent, SubagentFactory};
use super::within::within;
use crate::context::Context;
use crate::delegation::{Delegate, Delegated};
use crate::notify::KernelEvent;
use crate::notify::event::ApplicationEvent;
use crate::tool::{Calling, ToolCall};
use crate::{Error, Result};

/// The turn that makes a call, as the call's tool sees it.
#[derive(Clone)]
pub(super) struct TurnCaller {
    pub(super) context: Arc<Context>,
    pub(super) factory: Arc<dyn SubagentFactory>,
    pub(super) call: ToolCall,
    /// Interrupts the sub-agents of the call.
    pub(super) cancel: CancellationToken,
    pub(super) records: mpsc::UnboundedSender<Record>,
}

/// A record of the start or the end of a tool's sub-agent. The turn stores the record, and then
/// announces it. The sub-agent does not announce its own end, because the turn could end before
/// that announcement.
pub(super) struct Record {
    pub(super) subagent: Subagent,
    pub(super) ends: bool,
    pub(super) event: NewEvent,
    pub(super) announcement: KernelEvent,
    /// Notified when the record is durable.
    pub(super) stored: oneshot::Sender<()>,
}

impl Calling for TurnCaller {
    fn announce(&self, event: ApplicationEvent) {
        self.context.announce(KernelEvent::Application(event));
    }

    fn delegate(&self, delegate: Delegate) -> BoxFuture<'_, Result<Delegated>> {
        Box::pin(async move {
            let cancel = self.cancel.child_token();
            // If the tool drops this future, the sub-agent is interrupted, and its end is recorded.
            let _interrupt = cancel.clone().drop_guard();
            let work = self.clone().run(delegate, cancel.clone());
            tokio::spawn(within(&self.context, work)).await?
        })
    }
}

impl TurnCaller {
    async fn run(self, delegate: Delegate, cancel: CancellationToken) -> Result<Delegated> {
        let call = Some(&self.call);
        let subagent = Subagent::make(&*self.factory, &self.context, delegate, call).await?;
        let announcement = subagent.began_announced(&self.context);
        self.store(&subagent, false, subagent.began()?, announcement).await?;
        let turn = subagent.run(&cancel).await;
        let announcement = subagent.ended_announced(&self.context, &turn);
        self.store(&subagent, true, subagent.ended(&turn, false)?, announcement).await?;
        Ok(Delegated { session_id: subagent.id(), turn })
    }

    /// Lets the turn store and announce the start or the end of a sub-agent.
    async fn store(
        &self,
        subagent: &Subagent,
        ends: bool,
        event: NewEvent,
        announcement: KernelEvent,
    ) -> Result<()> {
        let ended = |_| Error::Ended(self.context.identity().session_id);
        let (stored, durable) = oneshot::channel();
        let record = Record { subagent: subagent.clone(), ends, event, announcement, stored };
        self.records.send(record).map_err(|_| Error::Ended(self.context.identity().session_id))?;
        durable.await.map_err(ended)
    }
}
