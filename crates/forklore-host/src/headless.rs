//! Runs one turn without a person who approves tool calls.

use std::sync::Arc;

use forklore_agent::approve::Nobody;
use forklore_agent::notify::{Notification, Received};
use forklore_agent::{Prompt, Turn};
use futures_util::{FutureExt, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::interrupt::interruptible;
use crate::{Host, Result, Start};

/// The maximum number of notifications buffered for the caller. Beyond this number, the oldest is
/// dropped.
const CAPACITY: usize = 4096;

impl Host {
    /// Runs one turn, and denies every tool call that needs a person's approval. Without a prompt,
    /// continues the interrupted turn. Calls `notify` with each notification of the session.
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
        let mut notifications = session.subscribe(CAPACITY);
        let mut pass_on = |received: Received| {
            if let Received::Event(notification) = received {
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
