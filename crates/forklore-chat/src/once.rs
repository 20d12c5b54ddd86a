//! One turn without a terminal.

use std::sync::Arc;

use forklore_agent::approve::Nobody;
use forklore_agent::notify::{Heard, Notification};
use forklore_agent::{AgentSession, Equipment, NewSession, Turn};
use forklore_engine::Summarize;
use forklore_model::{Selector, SessionId};
use futures_util::{FutureExt, StreamExt};

use crate::chat::Start;
use crate::interrupts::Interrupts;
use crate::{Result, Supplies};

/// Notifications that wait to be told.
const WAITING: usize = 4096;

impl Supplies {
    /// The session that a conversation begins with.
    pub(crate) fn session(&self, start: &Start, equipment: Equipment) -> Result<AgentSession> {
        Ok(match &start.session {
            Some(id) => self.runtime().block_on(self.kernel().open(id, equipment))?,
            None => {
                let new = NewSession {
                    title: start.title.clone(),
                    ..NewSession::in_workspace(start.workspace.clone())
                };
                self.kernel().create(new, equipment)
            }
        })
    }

    /// What a model says of a session up to a place, or why it says nothing.
    ///
    /// # Errors
    /// When no model is configured, or the session is held by another program.
    pub fn summary(
        &self,
        model: Option<&str>,
        session: &SessionId,
        up_to: &Selector,
    ) -> Result<Summarize> {
        let (model, _) = self.configured().model(model)?;
        let equipment = self.equipment(model, Arc::new(Nobody))?;
        Ok(self.runtime().block_on(async {
            let session = self.kernel().open(session, equipment).await?;
            session.summarize_up_to(up_to).await
        })?)
    }

    /// Runs one turn; whatever would have to be asked is denied. Ctrl-C interrupts it: what was
    /// said so far is kept.
    ///
    /// # Errors
    /// When no model is configured, the session is not there or held by another program, or the
    /// model does not answer.
    pub fn once(
        &self,
        start: &Start,
        prompt: &str,
        told: &mut dyn FnMut(&Notification),
    ) -> Result<Turn> {
        let (model, _) = self.configured().model(start.model.as_deref())?;
        let equipment = self.equipment(model, Arc::new(Nobody))?;
        let session = self.session(start, equipment)?;
        let mut interrupts = Interrupts::listen(self.runtime());
        self.runtime().block_on(async {
            let mut heard = session.subscribe(WAITING);
            let mut tell = |heard: Heard| {
                if let Heard::Told(notification) = heard {
                    told(&notification);
                }
            };
            let turn = session.execute(prompt);
            let mut turn = std::pin::pin!(turn);
            let done = loop {
                tokio::select! {
                    biased;
                    done = &mut turn => break done,
                    Some(heard) = heard.next() => tell(heard),
                    () = interrupts.next() => { session.interrupt(); }
                }
            };
            session.cleanup(true).await;
            while let Some(Some(heard)) = heard.next().now_or_never() {
                tell(heard);
            }
            Ok(done?)
        })
    }
}
