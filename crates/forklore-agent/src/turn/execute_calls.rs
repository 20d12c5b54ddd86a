//! Executes tool calls concurrently, each in a separate task.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::authorize::Authorized;
use super::log::Log;
use super::outcome::Turn;
use super::subagent::{Subagent, failure};
use crate::Result;
use crate::config::SessionConfig;
use crate::notify::KernelEvent;
use crate::notify::event::{ToolInput, ToolProgress};
use crate::panic::panic_text;
use crate::tool::{CallContext, Progress, ToolCall, ToolOutcome, to_value};

/// The result that the model receives for an interrupted call.
pub(super) const CANCELLED: &str = "Cancelled: the turn was interrupted.";

/// Calls that run concurrently, and the outcomes of those that are done.
pub(super) struct RunningCalls {
    running: JoinSet<(usize, Done)>,
    outcomes: Vec<Option<Done>>,
    grace: Duration,
}

/// The outcome of a call, with the turn of its sub-agent.
pub(super) struct Done {
    pub(super) outcome: ToolOutcome,
    /// The sub-agent's turn, if the call was a delegation.
    pub(super) turn: Option<Result<Turn>>,
}

impl Done {
    fn failed(why: &str) -> Self {
        Self { outcome: ToolOutcome::failed(why), turn: None }
    }

    fn by_subagent(turn: Result<Turn>) -> Self {
        let text = turn.as_ref().map_or("", |turn| turn.text.as_str());
        let outcome = match failure(&turn) {
            None => ToolOutcome::text(text),
            Some(why) if text.is_empty() => ToolOutcome::failed(&why),
            Some(why) => ToolOutcome::failed(&format!("{why}\n\nIts last words:\n{text}")),
        };
        Self { outcome, turn: Some(turn) }
    }
}

impl RunningCalls {
    pub(super) fn begin(
        log: &Log<'_>,
        config: &SessionConfig,
        authorized: &[Authorized],
        subagents: &[Option<Subagent>],
        cancel: &CancellationToken,
    ) -> Self {
        let mut grace = config.settings.grace;
        let mut running = JoinSet::new();
        let mut outcomes = Vec::with_capacity(authorized.len());
        for (at, (authorized, subagent)) in authorized.iter().zip(subagents).enumerate() {
            if let Some(reason) = &authorized.refused {
                outcomes.push(Some(Done::failed(reason)));
                continue;
            }
            outcomes.push(None);
            let call = authorized.call.clone();
            log.context.announce(KernelEvent::ToolPre(ToolInput {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                tool_input: to_value(&call.arguments),
            }));
            if let Some(subagent) = subagent {
                let turn = subagent.run(cancel);
                running.spawn(async move { (at, Done::by_subagent(turn.await)) });
                // Wait longer for a sub-agent, because its own calls have a grace period too.
                grace = grace.max(config.settings.grace * 3);
                continue;
            }
            let context = CallContext {
                session: log.session().clone(),
                cancelled: cancel.child_token(),
                progress: progress(log, &call),
            };
            let tools = Arc::clone(&config.tools);
            running.spawn(async move {
                let called = async { tools.call(&call, &context).await };
                let outcome = AssertUnwindSafe(called).catch_unwind().await;
                let crashed = |panic: Box<dyn Any + Send>| {
                    ToolOutcome::failed(&format!("the tool crashed: {}", panic_text(&*panic)))
                };
                let outcome = outcome.unwrap_or_else(crashed);
                (at, Done { outcome, turn: None })
            });
        }
        Self { running, outcomes, grace }
    }

    /// Waits until one more call is done. After an interruption, waits for all calls, but at most
    /// for the grace period.
    pub(super) async fn next(&mut self, cancel: &CancellationToken) {
        tokio::select! {
            biased;
            done = self.running.join_next() => self.take(done),
            () = cancel.cancelled() => {
                let ending = async {
                    while let Some(done) = self.running.join_next().await {
                        if let Ok((at, outcome)) = done
                            && let Some(slot) = self.outcomes.get_mut(at)
                        {
                            *slot = Some(outcome);
                        }
                    }
                };
                // If the grace period ends first, abort the calls that still run.
                let _ = tokio::time::timeout(self.grace, ending).await;
                self.running.abort_all();
                for missing in self.outcomes.iter_mut().filter(|outcome| outcome.is_none()) {
                    *missing = Some(Done::failed(CANCELLED));
                }
            }
        }
    }

    fn take(&mut self, done: Option<Result<(usize, Done), tokio::task::JoinError>>) {
        match done {
            Some(Ok((at, outcome))) => {
                if let Some(slot) = self.outcomes.get_mut(at) {
                    *slot = Some(outcome);
                }
            }
            // Panics of tools and sub-agents become outcomes. A task that was not aborted therefore
            // fails only if the async runtime shuts down.
            Some(Err(_)) | None => {
                for missing in self.outcomes.iter_mut().filter(|outcome| outcome.is_none()) {
                    *missing = Some(Done::failed("the call was broken off"));
                }
            }
        }
    }

    /// Removes and returns the outcomes from index `from` up to the first call that is not done.
    pub(super) fn ready_from(&mut self, from: usize) -> Vec<Done> {
        let rest = self.outcomes.iter_mut().skip(from);
        rest.map_while(Option::take).collect()
    }
}

fn progress(log: &Log<'_>, call: &ToolCall) -> Progress {
    let context = Arc::clone(log.context);
    let (id, name) = (call.id.clone(), call.name.clone());
    Progress::to(move |step| {
        let (tool_call_id, tool_name) = (id.clone(), name.clone());
        let progress = ToolProgress { tool_call_id, tool_name, step };
        context.announce(KernelEvent::ToolProgress(progress));
    })
}
