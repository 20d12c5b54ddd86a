//! Executes tool calls concurrently, each in a separate task.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::authorize::Authorized;
use super::caller::{Record, TurnCaller};
use super::log::Log;
use super::outcome::Turn;
use super::subagent::{Subagent, SubagentFactory, failure};
use super::within::within;
use crate::Result;
use crate::config::SessionConfig;
use crate::context::Context;
use crate::notify::KernelEvent;
use crate::notify::event::{ToolInput, ToolProgress};
use crate::panic::panic_text;
use crate::tool::{CallContext, Caller, Progress, ToolCall, ToolOutcome, Tools, to_value};

/// The result that the model receives for an interrupted call.
pub(super) const CANCELLED: &str = "Cancelled: the turn was interrupted.";

/// Calls that run concurrently, and the outcomes of those that are done.
pub(super) struct RunningCalls {
    running: JoinSet<(usize, Done)>,
    outcomes: Vec<Option<Done>>,
    grace: Duration,
    /// The grace period without sub-agents: how long cancelled calls may take to end. `grace` is
    /// longer as soon as a sub-agent was started.
    shortest_grace: Duration,
    /// The time at which the calls and the sub-agents that still run are given up. `None` until an
    /// interruption or the end of all calls starts the grace period.
    deadline: Option<Instant>,
    records: mpsc::UnboundedReceiver<Record>,
    /// The sub-agents that tools run now.
    subagents: Vec<Subagent>,
    /// The tools' sub-agents that were given up.
    lost: Vec<Subagent>,
}

/// The outcome of a call, with the turn of its sub-agent.
pub(super) struct Done {
    pub(super) outcome: ToolOutcome,
    /// The sub-agent's turn; `None` if the call was not a delegation, or was given up.
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
        factory: &Arc<dyn SubagentFactory>,
        authorized: &[Authorized],
        subagents: &[Option<Subagent>],
        cancel: &CancellationToken,
    ) -> Self {
        let (sender, records) = mpsc::unbounded_channel();
        let mut calls = Self {
            running: JoinSet::new(),
            outcomes: Vec::with_capacity(authorized.len()),
            grace: config.settings.grace,
            shortest_grace: config.settings.grace,
            deadline: None,
            records,
            subagents: Vec::new(),
            lost: Vec::new(),
        };
        for (at, (authorized, subagent)) in authorized.iter().zip(subagents).enumerate() {
            if let Some(reason) = &authorized.refused {
                calls.outcomes.push(Some(Done::failed(reason)));
                continue;
            }
            calls.outcomes.push(None);
            let call = authorized.call.clone();
            log.context.announce(KernelEvent::ToolPre(ToolInput {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                tool_input: to_value(&call.arguments),
            }));
            if let Some(subagent) = subagent {
                calls.wait_for_subagents();
                let turn = subagent.run(cancel);
                let work = async move { (at, Done::by_subagent(turn.await)) };
                calls.running.spawn(within(log.context, work));
                continue;
            }
            let cancel = cancel.child_token();
            let caller = TurnCaller {
                context: Arc::clone(log.context),
                factory: Arc::clone(factory),
                call: call.clone(),
                cancel: cancel.clone(),
                records: sender.clone(),
            };
            let context = CallContext {
                session: log.session().clone(),
                cancelled: cancel.clone(),
                progress: progress(log, &call),
                caller: Caller::of(caller),
            };
            let tools = Arc::clone(&config.tools);
            let work = async move {
                // The end of the call interrupts the sub-agents that its tool left behind.
                let _interrupt = cancel.drop_guard();
                (at, call_tool(&*tools, &call, &context).await)
            };
            calls.running.spawn(within(log.context, work));
        }
        calls
    }

    /// Extends the grace period, because the calls of a sub-agent have a grace period too.
    fn wait_for_subagents(&mut self) {
        self.grace = self.shortest_grace * 3;
    }

    /// Checks whether a tool's sub-agent runs.
    pub(super) fn has_subagents(&self) -> bool {
        !self.subagents.is_empty()
    }

    /// Announces the start or the end of a tool's sub-agent after its record was stored, and
    /// updates the list of the tools' sub-agents.
    pub(super) fn stored(&mut self, context: &Context, record: Record) {
        let Record { subagent, ends, announcement, stored, .. } = record;
        context.announce(announcement);
        if ends {
            let id = subagent.id();
            self.subagents.retain(|running| running.id() != id);
        } else {
            self.wait_for_subagents();
            self.subagents.push(subagent);
        }
        // The sub-agent may have been given up.
        let _ = stored.send(());
    }

    /// Removes and returns the tools' sub-agents that were given up. They send no record of their
    /// end, so the caller must write one.
    pub(super) fn take_lost(&mut self) -> Vec<Subagent> {
        std::mem::take(&mut self.lost)
    }

    /// Waits for the next change of the calls. Returns a record if a tool's sub-agent sends one for
    /// the turn to store. Returns `None` if a call is done, `cancel` is triggered, or the grace
    /// period is over. When the grace period is over, gives up what still runs. The period begins
    /// with an interruption, or when all calls are done and only sub-agents still run.
    pub(super) async fn next(&mut self, cancel: &CancellationToken) -> Option<Record> {
        if self.running.is_empty() {
            // Panics of tools and sub-agents become outcomes. An outcome is therefore missing only
            // if the async runtime shuts down.
            self.give_up("the call was broken off");
            if self.subagents.is_empty() && self.records.is_closed() {
                // All calls were refused, or have ended: nothing is left to wait for.
                return self.records.try_recv().ok();
            }
            self.deadline = self.deadline.or_else(|| Instant::now().checked_add(self.grace));
        }
        let deadline = self.deadline;
        let is_over = async move {
            match deadline {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(record) = self.records.recv() => return Some(record),
            Some(done) = self.running.join_next() => {
                if let Ok((at, outcome)) = done && let Some(slot) = self.outcomes.get_mut(at) {
                    *slot = Some(outcome);
                }
            }
            () = cancel.cancelled(), if deadline.is_none() => {
                self.deadline = Instant::now().checked_add(self.grace);
            }
            () = is_over => {
                self.running.abort_all();
                self.give_up(CANCELLED);
                self.records.close();
                self.lost.append(&mut self.subagents);
            }
        }
        None
    }

    /// Sets a failed outcome for each call that has no outcome yet.
    fn give_up(&mut self, why: &str) {
        for missing in self.outcomes.iter_mut().filter(|outcome| outcome.is_none()) {
            *missing = Some(Done::failed(why));
        }
    }

    /// Removes and returns the outcomes from index `from` up to the first call that is not done.
    pub(super) fn ready_from(&mut self, from: usize) -> Vec<Done> {
        let rest = self.outcomes.iter_mut().skip(from);
        rest.map_while(Option::take).collect()
    }
}

async fn call_tool(tools: &dyn Tools, call: &ToolCall, context: &CallContext) -> Done {
    let called = async { tools.call(call, context).await };
    let outcome = AssertUnwindSafe(called).catch_unwind().await;
    let crashed = |panic: Box<dyn Any + Send>| {
        ToolOutcome::failed(&format!("the tool crashed: {}", panic_text(&*panic)))
    };
    Done { outcome: outcome.unwrap_or_else(crashed), turn: None }
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
