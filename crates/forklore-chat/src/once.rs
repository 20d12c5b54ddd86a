//! One turn without a terminal.

use std::ops::Range;
use std::sync::Arc;

use forklore_agent::approve::Nobody;
use forklore_agent::notify::{Heard, Notification};
use forklore_agent::{AgentSession, Equipment, NewSession, Prompt, Turn};
use forklore_core::SessionId;
use forklore_engine::{Fork, Forked, Summarize};
use futures_util::{FutureExt, StreamExt};

use crate::chat::Start;
use crate::interrupts::MOMENT;
use crate::{Error, Result, Stop, Supplies};

/// Notifications that wait to be told.
const WAITING: usize = 4096;

/// A turn without a terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct Once {
    /// What it came to.
    pub turn: Turn,
    /// Who interrupted it.
    pub stopped: Option<Stop>,
}

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

    /// Forks a session with a summary by a model behind the history; where the model cannot be
    /// asked, by forklore. The second value is the summary where this call made it.
    ///
    /// # Errors
    /// When the fork is refused.
    pub fn fork_with_summary(
        &self,
        model: Option<&str>,
        request: Fork,
    ) -> Result<(Forked, Option<Summarize>)> {
        let session = match self.opened(model, &request.parent) {
            Ok(session) => session,
            Err(error) => {
                let summary = Summarize::fallback(error.to_string());
                let summarize = Some(summary.clone());
                let forked = self.kernel().engine().fork(&Fork { summarize, ..request })?;
                let made = forked.recorded;
                return Ok((forked, made.then_some(summary)));
            }
        };
        let forking = session.fork_with_summary(request);
        let (branched, summary) = self.runtime().block_on(forking)?;
        Ok((branched.forked, summary))
    }

    /// Sums up a part of a session, by the indexes of its messages.
    ///
    /// # Errors
    /// When no model is configured, or there is no such session or part.
    pub fn summary_of_part(
        &self,
        model: Option<&str>,
        session: &SessionId,
        part: Range<u64>,
    ) -> Result<Summarize> {
        let session = self.opened(model, session)?;
        Ok(self.runtime().block_on(session.summarize_part(part))?)
    }

    fn opened(&self, model: Option<&str>, session: &SessionId) -> Result<AgentSession> {
        let (model, _) = self.configured().model(model)?;
        let equipment = self.equipment(model, Arc::new(Nobody))?;
        Ok(self.runtime().block_on(self.kernel().open(session, equipment))?)
    }

    /// Runs one turn, or without a prompt goes on with one that was interrupted or broken off;
    /// whatever would have to be asked is denied. Ctrl-C, SIGTERM and SIGHUP
    /// interrupt it: what was said so far is kept. A second one waits for nothing.
    ///
    /// # Errors
    /// When no model is configured, the session is not there or held by another program, the
    /// model does not answer, or [`Error::Stopped`] when it was interrupted twice.
    pub fn once(
        &self,
        start: &Start,
        prompt: Option<Prompt>,
        told: &mut dyn FnMut(&Notification),
    ) -> Result<Once> {
        let (model, _) = self.configured().model(start.model.as_deref())?;
        let mut equipment = self.equipment(model, Arc::new(Nobody))?;
        equipment.settings.lease_wait = start.wait;
        let session = self.session(start, equipment)?;
        let mut interrupts = self.interrupts();
        let once = self.runtime().block_on(async {
            let mut heard = session.subscribe(WAITING);
            let mut tell = |heard: Heard| {
                if let Heard::Told(notification) = heard {
                    told(&notification);
                }
            };
            let mut turn = Box::pin(async {
                match prompt {
                    Some(prompt) => session.execute(prompt).await,
                    None => session.resume().await,
                }
            });
            let mut stopped = None;
            let mut is_told = false;
            let done = loop {
                tokio::select! {
                    biased;
                    done = &mut turn => break done.map_err(Error::from),
                    Some(heard) = heard.next() => tell(heard),
                    stop = interrupts.next() => {
                        if let Some(first) = stopped {
                            break Err(Error::Stopped(first));
                        }
                        stopped = Some(stop);
                        is_told = session.interrupt();
                    }
                    // It was about to begin.
                    () = tokio::time::sleep(MOMENT), if stopped.is_some() && !is_told => {
                        is_told = session.interrupt();
                    }
                }
            };
            // Where nothing is waited for, the turn is broken off here.
            drop(turn);
            session.cleanup(true).await;
            while let Some(Some(heard)) = heard.next().now_or_never() {
                tell(heard);
            }
            match (done, stopped) {
                (Ok(turn), stopped) => Ok(Once { turn, stopped }),
                // It need not have begun.
                (Err(_), Some(stop)) => Err(Error::Stopped(stop)),
                (Err(error), None) => Err(error),
            }
        });
        self.keep(interrupts);
        once
    }
}
