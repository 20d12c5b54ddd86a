//! The log of a session, as a turn writes it. The store accepts a batch only if the turn has the
//! session's lease and the log ends where the turn saw it end. A turn that lost its session to
//! another runtime continues in a fork (docs/semantics.md, Writing).

use std::sync::Arc;

use forklore_core::{ErrorKind, Header, Selector, SessionId, ToolCallPolicy};
use forklore_engine::{Batch, ContextUsage, Fork, NewEvent};
use serde_json::json;

use super::lease::Lease;
use super::view::View;
use crate::context::Context;
use crate::model::Model;
use crate::notify::KernelEvent;
use crate::notify::event::{ForkReason, SessionForked};
use crate::{Error, Result};

/// The log of a session, which a turn writes while it has the lease.
pub(crate) struct Log<'a> {
    pub(crate) context: &'a Arc<Context>,
    pub(crate) view: &'a mut View,
    lease: Lease,
    session: SessionId,
    head: i64,
    moved_from: Option<SessionId>,
}

impl<'a> Log<'a> {
    /// Acquires the session's lease and returns its log, together with the header.
    pub(crate) async fn open(
        context: &'a Arc<Context>,
        view: &'a mut View,
    ) -> Result<(Self, Header)> {
        let session = context.identity().session_id;
        let (lease, header) = Lease::take(context, &session).await?;
        let head = header.head_seq();
        view.begin(&session, head);
        Ok((Self { context, view, lease, session, head, moved_from: None }, header))
    }

    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    pub(crate) fn head(&self) -> i64 {
        self.head
    }

    pub(crate) fn moved_from(&self) -> Option<&SessionId> {
        self.moved_from.as_ref()
    }

    /// Appends a batch of events. The batch is durable when this function returns.
    pub(crate) async fn append(&mut self, events: Vec<NewEvent>) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        loop {
            match self.try_append(events.clone()).await {
                Ok(head) => {
                    self.head = head;
                    self.view.follow(&events, head);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    self.recover().await?;
                    let session = &self.session;
                    tracing::warn!(%session, "an append met a conflict and is repeated");
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn try_append(&self, events: Vec<NewEvent>) -> Result<i64> {
        let owner = Some(self.context.owner.clone());
        let request = Batch { events, expect: Some(self.head), owner };
        let session = self.session.clone();
        let appended = self.context.kernel.run(move |engine| engine.append(&session, &request));
        Ok(appended.await?.head_seq)
    }

    /// Handles the loss of the lease, which expired or which another runtime acquired. If the lease
    /// can be acquired again and the log has not changed meanwhile, the turn continues in this
    /// session. If another runtime has the lease, or the log has changed, the turn continues in a
    /// fork, whose cut is after the last event that the turn saw.
    async fn recover(&mut self) -> Result<()> {
        match self.lease.regain().await {
            Ok(header) if header.head_seq() == self.head => {
                tracing::warn!(session = %self.session, "a lease had expired and was taken again");
                return Ok(());
            }
            Ok(_) => self.lease.leave().await,
            Err(error) if error.kind() == ErrorKind::Busy => {}
            Err(error) => return Err(error),
        }
        let child = self.fork_here().await?;
        let lost = std::mem::replace(&mut self.session, child.id.clone());
        tracing::warn!(session = %lost, fork = %child.id, "lost a lease: the turn goes on in a fork");
        self.lease.move_to(&child.id).await?;
        self.head = child.head_seq();
        self.view.move_to(&child.id, self.head);
        self.context.become_session(&child);
        let forked = SessionForked { reason: Some(ForkReason::LeaseLost), ..(&child).into() };
        self.context.announce(KernelEvent::SessionFork(forked));
        self.moved_from.get_or_insert(lost);
        Ok(())
    }

    async fn fork_here(&self) -> Result<Header> {
        let (session, head) = (self.session.clone(), self.head);
        let forked = self.context.kernel.run(move |engine| {
            let at = |at| Fork {
                at: Some(at),
                // The fork gets the results of running calls when these calls are done.
                tool_calls: ToolCallPolicy::Verbatim,
                ..Fork::of(session.clone())
            };
            let forked = match engine.fork_or_copy(&at(Selector::Seq(head))) {
                Err(error) if error.kind() == ErrorKind::InvalidArgs => {
                    engine.fork_or_copy(&at(Selector::Start))
                }
                forked => forked,
            }?;
            engine.show(&forked.child_session_id)
        });
        forked.await
    }

    /// Makes the view contain the messages that `model` would receive now, and their attachments.
    /// Reads only what the view does not contain yet.
    pub(crate) async fn look(&mut self, model: &dyn Model) -> Result<()> {
        if !self.view.is_current(&self.session, self.head, model) {
            let (session, name) = (self.session.clone(), model.name().model.clone());
            let view = self.context.kernel.run(move |engine| {
                Ok((engine.model_view(&session, Some(&name))?, engine.context_usage(&session)?))
            });
            let (view, pressure) = view.await?;
            self.view.set(view, pressure, model);
        }
        if let Some(unread) = self.view.unread(model.takes()) {
            let attached = self.context.kernel.run(move |engine| Ok(unread.read(engine))).await?;
            self.view.attach(attached);
        }
        Ok(())
    }

    /// Returns how many tokens the session's next request contains at least.
    pub(crate) async fn pressure(&self) -> Result<ContextUsage> {
        if let Some(pressure) = self.view.pressure() {
            return Ok(pressure);
        }
        let session = self.session.clone();
        self.context.kernel.run(move |engine| engine.context_usage(&session)).await
    }

    /// Marks the turn as ended and releases the session's lease.
    pub(crate) async fn close(self) {
        self.view.end();
        self.lease.release().await;
    }
}

impl Error {
    /// Returns the payload of the `turn_failed` event that records this error.
    pub(crate) fn record(&self) -> serde_json::Value {
        let attempts = match self {
            Self::Model { attempts, .. } => Some(attempts),
            _ => None,
        };
        json!({"error": {"kind": self.kind().name(), "message": self.to_string()},
            "attempts": attempts})
    }
}
