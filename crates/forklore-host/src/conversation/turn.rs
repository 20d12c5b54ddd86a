//! Runs the turns of a conversation.

use forklore_agent::{Prompt, SessionConfig, Turn};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

use super::Conversation;
use crate::interrupt::interruptible;
use crate::{PendingAttachment, Result};

impl Conversation {
    /// Sends a prompt with the pending attachments, and returns the turn that answers the prompt.
    ///
    /// Cancelling `cancel` interrupts the turn, which then ends with the text so far. Each
    /// attachment is sent once. If the prompt was not stored, the attachments stay pending for the
    /// next prompt.
    ///
    /// # Errors
    /// The errors of [`AgentSession::execute`](forklore_agent::AgentSession::execute).
    pub async fn say(&self, text: &str, cancel: &CancellationToken) -> Result<Turn> {
        self.count_budgets().await?;
        let add = |prompt, file: &PendingAttachment| file.add_to(prompt);
        let prompt = self.attachments().iter().fold(Prompt::from(text), add);
        let (session, before) = (self.session(), self.turns().await);
        let done = interruptible(&session, cancel, session.execute(prompt)).await;
        if self.turns().await > before {
            self.drop_attachments();
        }
        Ok(done?)
    }

    /// Continues the interrupted or failed turn of the current session.
    ///
    /// # Errors
    /// The errors of [`AgentSession::resume`](forklore_agent::AgentSession::resume).
    pub async fn continue_turn(&self, cancel: &CancellationToken) -> Result<Turn> {
        self.count_budgets().await?;
        let session = self.session();
        Ok(interruptible(&session, cancel, session.resume()).await?)
    }

    /// Sets how long a turn of the current session waits while another program runs a turn in the
    /// session. `None` restores the time that was set when the conversation was opened.
    pub fn wait_for_lease(&self, wait: Option<Duration>) {
        let wait = wait.unwrap_or(self.lease_wait);
        self.session().equip(|equipment: &mut SessionConfig| equipment.settings.lease_wait = wait);
    }

    async fn turns(&self) -> u64 {
        self.header().await.map_or(0, |header| header.counts.turns)
    }
}
