//! Runs one turn without a person who approves tool calls.

use std::collections::HashSet;
use std::sync::Arc;

use forklore_agent::approve::Nobody;
use forklore_agent::notify::event::ForkReason;
use forklore_agent::notify::{KernelEvent, Notification, Received};
use forklore_agent::{Prompt, Turn};
use forklore_core::{SessionId, SessionKind};
use futures_util::{FutureExt, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::interrupt::interruptible;
use crate::{Host, Result, Start};

/// The capacity of the queue for notifications. If this many wait, new notifications of mere
/// progress, such as pieces of an answer, are dropped. If 16 times as many wait, all new
/// notifications are dropped.
const CAPACITY: usize = 4096;

impl Host {
    /// Runs one turn, and denies every tool call that needs a person's approval. Without a prompt,
    /// continues the interrupted turn. Calls `notify` with each notification of the session, of its
    /// sub-agents, and of the fork in which the turn continues if another program takes over the
    /// session.
    ///
    /// Cancelling `cancel` interrupts the turn, which then ends with the text so far. If the caller
    /// drops the future instead, [`close`](Self::close) releases the session.
    ///
    /// # Errors
    /// Returns an error if no model is configured, the session does not exist, another program runs
    /// a turn in the session, or the model does not answer.
    pub async fn run_turn(
        &self,
        start: &Start,
        prompt: Option<Prompt>,
        cancel: &CancellationToken,
        notify: &mut impl FnMut(&Notification),
    ) -> Result<Turn> {
        let (session, _) = self.session(start, Arc::new(Nobody)).await?;
        let mut notifications = self.kernel().subscribe(CAPACITY);
        let mut followed = Followed::from(session.id());
        let mut pass_on = |received: Received| {
            if let Received::Event(notification) = received
                && followed.contains(&notification)
            {
                notify(&notification);
            }
        };
        let turn = async {
            match prompt {
                Some(prompt) => session.execute(prompt).await,
                None => session.resume().await,
            }
        };
        let mut turn = std::pin::pin!(interruptible(&session, cancel, turn));
        let done = loop {
            tokio::select! {
                biased;
                Some(notification) = notifications.next() => pass_on(notification),
                done = &mut turn => break done,
            }
        };
        session.cleanup(true).await;
        while let Some(Some(notification)) = notifications.next().now_or_never() {
            pass_on(notification);
        }
        Ok(done?)
    }
}

/// The sessions of one turn: the session in which the turn began, its sub-agents, and the forks in
/// which the turn continues. Other conversations of the host run in other sessions.
struct Followed(HashSet<SessionId>);

impl From<SessionId> for Followed {
    fn from(session: SessionId) -> Self {
        Self(HashSet::from([session]))
    }
}

impl Followed {
    /// Checks whether a notification belongs to the turn. If the notification announces a further
    /// session of the turn, adds that session to the set.
    fn contains(&mut self, notification: &Notification) -> bool {
        let id = &notification.session_id;
        let parent = notification.parent_id.as_ref();
        let is_child = parent.is_some_and(|parent| self.0.contains(parent));
        match &notification.event {
            KernelEvent::DelegateResumed(delegate) if self.0.contains(id) => {
                self.0.insert(delegate.sub_session_id.clone());
                true
            }
            KernelEvent::SessionFork(forked) if is_child => {
                let goes_on = forked.reason == Some(ForkReason::LeaseLost);
                if forked.kind == SessionKind::Delegate || goes_on {
                    self.0.insert(id.clone());
                }
                true
            }
            // If a sub-agent gets another task, hooks and approvals precede the event that
            // announces the sub-agent.
            KernelEvent::HookError(_)
            | KernelEvent::ApprovalRequired(_)
            | KernelEvent::ApprovalGranted(_)
            | KernelEvent::ApprovalDenied(_)
                if is_child =>
            {
                true
            }
            _ => self.0.contains(id),
        }
    }
}
