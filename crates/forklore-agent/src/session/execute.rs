//! `execute`: runs a turn, from the prompt to the answer.

use std::sync::Arc;

use forklore_core::{EventType, Header, SessionKind};
use forklore_engine::NewEvent;
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{AgentSession, Inner, Prompt};
use crate::evidence::Seen;
use crate::hook::PromptInput;
use crate::notify::KernelEvent;
use crate::notify::event::{
    EndStatus, HookFailure, NoDetails, PromptAnswered, PromptSubmitted, ProviderFailure,
    SessionBegan, TurnEnded, TurnResult, TurnStatus,
};
use crate::turn::{Course, Log, Run, Status, Turn, event, user_message};
use crate::{Error, Result};

/// The message that asks the model to continue an answer that was cut short.
const GO_ON: &str = "[Your last answer was cut off. Go on from where it stopped.]";

impl AgentSession {
    /// Runs a turn. Stores the prompt, then calls the model and its tools until the model makes no
    /// more calls. Events are in the log before they are announced. The turn has the session's
    /// lease, so no other runtime writes to the session.
    ///
    /// Dropping the future has the same effect on the log as a killed process: stored events stay.
    /// [`resume`](Self::resume) or the next prompt then continues.
    ///
    /// # Errors
    /// - `busy`: this runtime is running a turn, or another runtime has leased the session. In the
    ///   second case the error names the other runtime.
    /// - `permission_denied`: a hook denies the prompt.
    /// - [`Error::NotReady`]: the model cannot be called. Nothing is stored.
    /// - [`Error::Model`]: the model does not answer. The log records this failure as
    ///   `turn_failed`, after the text that arrived before the answer broke off.
    pub async fn execute(&self, prompt: impl Into<Prompt>) -> Result<Turn> {
        self.execute_prompt(prompt.into()).await
    }

    fn execute_prompt(&self, prompt: Prompt) -> BoxFuture<'_, Result<Turn>> {
        async move {
            let inner = &self.inner;
            let mut view = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
            inner.model_is_ready()?;
            let running = inner.context.begin();
            inner.make_ready().await?;
            let identity = inner.context.identity();
            let input = PromptInput { text: prompt.text.clone(), parts: &prompt.parts };
            let (PromptInput { text, .. }, injected) =
                inner.context.must_pass(&identity, input).await?;
            let message = prompt.event(&text)?;
            let (mut log, header) = Log::open(&inner.context, &mut view).await?;
            let turn = async {
                let before = inner.look(&header).await;
                let mut events = before.events;
                events.extend(inner.first_events(&header, message, &injected)?);
                log.append(events).await?;
                inner.announce_start(&header);
                inner.announce_problem(before.problem);
                let submitted = PromptSubmitted { prompt: text.clone(), parts: prompt.announced() };
                inner.context.announce(KernelEvent::PromptSubmit(submitted));
                inner.run_turn(&mut log, &header, &running.cancel).await
            };
            let turn = turn.await;
            let turn = inner.end(&mut log, &header, turn).await;
            log.close().await;
            if let Ok(turn) = &turn
                && turn.status == Status::Success
            {
                let answered = PromptAnswered { prompt: text, response: turn.text.clone() };
                inner.context.announce(KernelEvent::PromptComplete(answered));
            }
            inner.announce_complete(&turn);
            turn
        }
        .boxed()
    }

    /// Continues an interrupted turn, for example the turn of a process that was killed. Each open
    /// call gets a synthetic result that states the interruption, and then the model is called. If
    /// an answer was cut short, its stored part stays, and an injected message asks the model to
    /// continue from there.
    ///
    /// # Errors
    /// [`Error::NothingToResume`] if the last turn is complete. Otherwise the errors of
    /// [`execute`](Self::execute).
    pub fn resume(&self) -> BoxFuture<'_, Result<Turn>> {
        async move {
            let inner = &self.inner;
            let mut view = inner.turn.try_lock().map_err(|_| Error::Running(self.id()))?;
            inner.model_is_ready()?;
            let running = inner.context.begin();
            inner.make_ready().await?;
            let (mut log, header) = Log::open(&inner.context, &mut view).await?;
            let turn = async {
                let missing = inner.broken_off(&header).await?;
                log.append(missing).await?;
                inner.announce_start(&header);
                inner.run_turn(&mut log, &header, &running.cancel).await
            };
            let turn = turn.await;
            let turn = inner.end(&mut log, &header, turn).await;
            log.close().await;
            inner.announce_complete(&turn);
            turn
        }
        .boxed()
    }
}

impl Inner {
    /// Returns an error if the session's model cannot be called. Call this before creating or
    /// storing anything.
    pub(super) fn model_is_ready(&self) -> Result<()> {
        self.context.config().model.ready().map_err(Error::NotReady)
    }

    fn first_events(
        &self,
        header: &Header,
        prompt: NewEvent,
        injected: &[String],
    ) -> Result<Vec<NewEvent>> {
        let mut events = Vec::new();
        let empty = header.counts.index == 0;
        if let Some(system) = self.context.config().system.filter(|_| empty) {
            events.push(event(EventType::SYSTEM_MESSAGE, json!({"content": system}))?);
        }
        events.push(prompt);
        for text in injected {
            events.push(user_message(text, true)?);
        }
        Ok(events)
    }

    /// Looks at what surrounds the session, if it is not that of a sub-agent.
    async fn look(&self, header: &Header) -> Seen {
        match self.context.config().evidence {
            Some(evidence) if header.kind != SessionKind::Delegate => evidence.look(header).await,
            _ => Seen::default(),
        }
    }

    /// Stores what surrounds the session after a turn, however it ended.
    async fn end(&self, log: &mut Log<'_>, header: &Header, turn: Result<Turn>) -> Result<Turn> {
        let now = Header { id: log.session().clone(), ..header.clone() };
        let Seen { events, problem } = self.look(&now).await;
        let problem = match log.append(events).await {
            Ok(()) => problem,
            Err(error) => Some(error.to_string()),
        };
        self.announce_problem(problem);
        turn.map(|turn| Turn {
            session_id: log.session().clone(),
            moved_from: log.moved_from().cloned(),
            head_seq: log.head(),
            ..turn
        })
    }

    fn announce_problem(&self, problem: Option<String>) {
        let evidence = self.context.config().evidence;
        if let (Some(error), Some(evidence)) = (problem, evidence) {
            let (hook, gate) = (evidence.name().to_owned(), "the turn".to_owned());
            self.context.announce(KernelEvent::HookError(HookFailure { hook, gate, error }));
        }
    }

    async fn run_turn(
        &self,
        log: &mut Log<'_>,
        header: &Header,
        cancel: &CancellationToken,
    ) -> Result<Turn> {
        let config = self.context.config();
        let run = Run::new(&config, header, cancel, Arc::new(self.home.clone()));
        let mut course = Course::default();
        let status = match run.run(log, &mut course).await {
            Ok(status) => status,
            Err(error) => {
                // This append may fail too. The caller gets the error of the turn.
                let _ = log.append(vec![event(EventType::TURN_FAILED, error.record())?]).await;
                if let Error::Model { attempts, source } = &error {
                    self.context.announce(KernelEvent::ProviderError(ProviderFailure {
                        provider: source.provider.clone(),
                        error: source.message.clone(),
                        attempts: *attempts,
                    }));
                }
                return Err(error);
            }
        };
        if let Status::Incomplete(reason) = &status {
            let data = json!({"error": {"kind": "incomplete", "message": reason}});
            log.append(vec![event(EventType::TURN_FAILED, data)?]).await?;
        }
        if status == Status::Cancelled {
            self.context.announce(KernelEvent::CancelCompleted(NoDetails {}));
        }
        Ok(Turn {
            session_id: log.session().clone(),
            moved_from: log.moved_from().cloned(),
            status,
            text: course.text,
            model_calls: course.model_calls,
            tool_calls: course.tool_calls,
            usage: course.usage,
            head_seq: log.head(),
        })
    }

    /// Announces `session:start` for the first turn of the session. Announces `session:resume` for
    /// the first turn in this process if the session had turns before. Otherwise announces nothing.
    fn announce_start(&self, header: &Header) {
        // If the future of the turn is dropped, nothing reports how the turn ended. Such a turn
        // counts as interrupted, so this status is set in advance.
        if self.state().ran.replace(EndStatus::Cancelled).is_some() {
            return;
        }
        let first = header.counts.turns == header.inherited.turns;
        let began = SessionBegan { kind: header.kind, label: header.label.clone() };
        self.context.announce(if first {
            KernelEvent::SessionStart(began)
        } else {
            KernelEvent::SessionResume(began)
        });
    }

    fn announce_complete(&self, turn: &Result<Turn>) {
        let (status, result) = match turn {
            Ok(turn) => {
                let result = TurnResult::Ran {
                    session_id: turn.session_id.clone(),
                    moved_from: turn.moved_from.clone(),
                    turn_count: turn.model_calls,
                    tool_calls: turn.tool_calls,
                    usage: turn.usage,
                };
                (turn.status.status(), result)
            }
            Err(error) => (TurnStatus::Incomplete, TurnResult::Failed { error: error.to_string() }),
        };
        if let Some(ran) = &mut self.state().ran {
            *ran = status.into();
        }
        let ended = TurnEnded { orchestrator: "forklore".to_owned(), status, result };
        self.context.announce(KernelEvent::OrchestratorComplete(ended));
    }

    /// Returns the events that must precede the next model call of an interrupted turn: synthetic
    /// results for the open tool calls, or a message to the model that its answer was cut short.
    async fn broken_off(&self, header: &Header) -> Result<Vec<NewEvent>> {
        let id = header.id.clone();
        let looked = self.context.kernel.run(move |engine| {
            let open = engine.interrupted_turn(&id)?;
            let cut_short = open.is_none() && engine.is_cut_short(&id)?;
            Ok((open, cut_short))
        });
        let (open, cut_short) = looked.await?;
        if cut_short {
            return Ok(vec![user_message(GO_ON, true)?]);
        }
        let Some(open) = open else { return Err(Error::NothingToResume(header.id.clone())) };
        let lost = open.iter().map(|call| {
            let content = "No result: the runtime that made the call is gone.";
            let data = json!({"call_id": call.id, "name": call.name, "content": content,
                "is_error": true, "synthetic": true});
            event(EventType::TOOL_RESULT, data)
        });
        lost.collect()
    }
}
