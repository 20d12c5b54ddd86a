//! The loop of a turn: calls the model and executes its tool calls, until the model makes no more
//! calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use forklore_core::units::count;
use forklore_core::{EventType, Header, SessionId};
use forklore_engine::NewEvent;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::call_model::{ModelCall, call_model};
use super::call_usage::Call;
use super::carry_out::carry_out;
use super::compact::compact;
use super::log::Log;
use super::new_event::{event, user_message};
use super::outcome::Status;
use super::stuck_loop::StuckLoop;
use super::subagent::SubagentFactory;
use crate::Result;
use crate::cache_key::cache_key;
use crate::config::SessionConfig;
use crate::gauge::Gauge;
use crate::model::{EndReason, Model, ModelErrorKind, Request};
use crate::notify::KernelEvent;
use crate::notify::event::{CompactionReason, ProviderAnswer, ProviderRetry, TurnUsage};

/// The parameters of a turn, such as its configuration and its tokens for interruption.
pub(crate) struct Run<'a> {
    pub(crate) config: &'a SessionConfig,
    pub(crate) root: &'a SessionId,
    pub(crate) ceiling: Option<&'a BTreeSet<String>>,
    /// The token that a person's interruption cancels.
    pub(crate) cancel: &'a CancellationToken,
    /// Creates the sub-agents of the session.
    factory: Arc<dyn SubagentFactory>,
    /// The token that stops the running work. Cancelled with `cancel`, or when the time budget is
    /// used up.
    stop: CancellationToken,
    began: Instant,
}

/// The counters and the last text of a turn so far.
#[derive(Debug, Default)]
pub(crate) struct Course {
    pub(crate) text: String,
    pub(crate) model_calls: u32,
    pub(crate) tool_calls: u32,
    pub(crate) usage: TurnUsage,
    /// Whether the current request is a repetition without the reasoning that the provider refused.
    is_without_reasoning: bool,
    /// Whether the last compaction did not make the messages shorter.
    compaction_freed_nothing: bool,
    stuck: StuckLoop,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        config: &'a SessionConfig,
        header: &'a Header,
        cancel: &'a CancellationToken,
        factory: Arc<dyn SubagentFactory>,
    ) -> Self {
        Self {
            config,
            root: &header.root_id,
            ceiling: header.permissions.as_ref(),
            cancel,
            factory,
            stop: cancel.child_token(),
            began: Instant::now(),
        }
    }

    /// Runs the turn whose prompt is already in the log. When the time budget is used up,
    /// interrupts the running work.
    pub(crate) async fn run(&self, log: &mut Log<'_>, course: &mut Course) -> Result<Status> {
        let most = self.config.settings.budget.time;
        let over = async {
            match most.and_then(|most| self.began.checked_add(most)) {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        let mut work = std::pin::pin!(self.rounds(log, course));
        tokio::select! {
            biased;
            done = &mut work => done,
            () = over => {
                self.stop.cancel();
                work.await
            }
        }
    }

    async fn rounds(&self, log: &mut Log<'_>, course: &mut Course) -> Result<Status> {
        loop {
            if let Some(budget) = self.exhausted_budget(course) {
                return Ok(Status::Incomplete(budget));
            }
            if self.stop.is_cancelled() {
                return Ok(self.stopped());
            }
            let Some(call) = self.call_model(log, course).await? else { continue };
            self.store(log, course, &call).await?;
            let answer = call.answer;
            if answer.end.is_some() || answer.has_text() {
                course.text = answer.text();
            }
            if let Some(failed) = call.failed {
                return Err(failed.into());
            }
            let Some(end) = &answer.end else { return Ok(self.stopped()) };
            let calls: Vec<_> = answer.calls().cloned().collect();
            if calls.is_empty() {
                return Ok(ended(&end.reason));
            }
            course.tool_calls += u32::try_from(calls.len()).unwrap_or(u32::MAX);
            let round =
                carry_out(log, self.config, self.ceiling, &self.factory, calls, &self.stop).await?;
            let stuck = course.stuck.count(round, self.config.settings.stuck_rounds);
            if let Some(why) = stuck.filter(|_| !self.stop.is_cancelled()) {
                return Ok(Status::Incomplete(why));
            }
        }
    }

    /// Returns the status of a turn that was interrupted or used up its time budget.
    fn stopped(&self) -> Status {
        if self.cancel.is_cancelled() {
            return Status::Cancelled;
        }
        Status::Incomplete(format!("{} s", self.began.elapsed().as_secs()))
    }

    /// Calls the model. Compacts the history first if the context window is too full.
    ///
    /// Returns `None` if the model then takes no further request; the caller ends the turn.
    ///
    /// If the model refuses the request as too long, compacts the history and returns `None`: the
    /// caller tries again with the shorter history. Also returns `None` if the turn is stopped
    /// during that compaction; the caller then ends the turn. If the provider refuses the reasoning
    /// in the request, leaves the reasoning out and returns `None`, but only once for each request.
    async fn call_model(
        &self,
        log: &mut Log<'_>,
        course: &mut Course,
    ) -> Result<Option<ModelCall>> {
        let settings = &self.config.settings;
        let model = &*self.config.model;
        log.look(model).await?;
        let gauge = Gauge::of(log.pressure().await?, model.context_window());
        let is_full = settings.compact_at.zip(gauge.fraction()).is_some_and(|(at, is)| is >= at);
        if is_full && !course.compaction_freed_nothing {
            self.compact(log, course, CompactionReason::Threshold).await?;
            // The summary may have used up a budget.
            if model.refusal().is_some() {
                return Ok(None);
            }
        }
        let request = self.request(log).await?;
        let call = call_model(log.context, model, &request, settings, &self.stop).await;
        let kind = call.failed.as_ref().map(|failed| &failed.source.kind);
        if kind == Some(&ModelErrorKind::TooLong)
            && (self.compact(log, course, CompactionReason::TooLong).await?
                || self.stop.is_cancelled())
        {
            let lost = self.account(course, call.lost(None))?;
            log.append(lost).await?;
            return Ok(None);
        }
        if kind == Some(&ModelErrorKind::ForeignReasoning)
            && !course.is_without_reasoning
            && drop_reasoning(log, model, &call).await?
        {
            course.is_without_reasoning = true;
            return Ok(None);
        }
        course.is_without_reasoning = false;
        Ok(Some(call))
    }

    /// Compacts the session's history. Returns whether the messages became shorter.
    async fn compact(
        &self,
        log: &mut Log<'_>,
        course: &mut Course,
        reason: CompactionReason,
    ) -> Result<bool> {
        let key = cache_key(self.root);
        let compacted = compact(log, self.config, key, reason, &self.stop).await?;
        let freed_tokens = compacted.is_some_and(|made| made.has_shrunk);
        course.compaction_freed_nothing = !freed_tokens;
        Ok(freed_tokens)
    }

    /// Returns the next request to the model. Messages that hooks inject into the request, or
    /// injected at earlier events, are also appended to the log.
    async fn request(&self, log: &mut Log<'_>) -> Result<Request> {
        let context = log.context.clone();
        inject(log, context.take_injected()).await?;
        log.look(&*self.config.model).await?;
        let request = log.view.request(self.root, self.config);
        let (request, injected) = context.must_pass(&context.identity(), request).await?;
        if injected.is_empty() {
            return Ok(request);
        }
        inject(log, injected).await?;
        log.look(&*self.config.model).await?;
        Ok(log.view.request(self.root, self.config))
    }

    /// Stores an answer together with its usage, and then announces the answer.
    async fn store(&self, log: &mut Log<'_>, course: &mut Course, call: &ModelCall) -> Result<()> {
        let (name, answer) = (self.config.model.name(), &call.answer);
        // The usage of failed attempts precedes the answer. The context-pressure gauge starts at
        // the last usage record, which must be that of the answer.
        let mut events = self.account(course, call.lost(None))?;
        events.extend(answer.events(name)?);
        events.extend(self.account(course, call.answered(None).into_iter())?);
        log.append(events).await?;
        answer.announce_blocks(log.context);
        if let Some(end) = &answer.end {
            course.model_calls += 1;
            log.context.announce(KernelEvent::ProviderResponse(ProviderAnswer {
                provider: name.provider.clone(),
                model: name.model.clone(),
                usage: end.usage,
                stop_reason: end.reason.clone(),
                request_id: end.request_id.clone(),
            }));
            let window = self.config.model.context_window();
            Gauge::of(log.pressure().await?, window).announce(log.context);
        }
        Ok(())
    }

    /// Adds the usage of model calls to the turn's total. Returns the events that record the usage.
    fn account<'c>(
        &self,
        course: &mut Course,
        calls: impl Iterator<Item = Call<'c>>,
    ) -> Result<Vec<NewEvent>> {
        let counted = calls.map(|call| {
            course.usage += call.usage(self.config);
            call.event(self.config)
        });
        counted.collect()
    }

    fn exhausted_budget(&self, course: &Course) -> Option<String> {
        if let Some(why) = self.config.model.refusal() {
            return Some(why);
        }
        let budget = &self.config.settings.budget;
        if budget.model_calls.is_some_and(|most| course.model_calls >= most) {
            return Some(format!("{} of the model", count(course.model_calls.into(), "call")));
        }
        let tokens = course.usage.input.saturating_add(course.usage.output);
        if budget.tokens.is_some_and(|most| tokens >= most) {
            return Some(format!("{tokens} tokens"));
        }
        let cost = course.usage.cost.unwrap_or(0.0);
        if budget.cost.is_some_and(|most| cost >= most) {
            return Some(format!("a cost of {cost}"));
        }
        let time = self.began.elapsed();
        budget.time.is_some_and(|most| time >= most).then(|| format!("{} s", time.as_secs()))
    }
}

/// Leaves out the reasoning of the history, because the provider has bound it to another
/// conversation. Records and announces this. Returns `false` if there is no reasoning.
async fn drop_reasoning(log: &mut Log<'_>, model: &dyn Model, call: &ModelCall) -> Result<bool> {
    let Some(failed) = &call.failed else { return Ok(false) };
    let blocks = log.view.drop_reasoning();
    if blocks == 0 {
        return Ok(false);
    }
    let (name, error) = (model.name(), failed.source.message.clone());
    let data = json!({"provider": name.provider, "model": name.model, "blocks": blocks,
        "error": error});
    log.append(vec![event(EventType::extension("kernel", "reasoning_dropped"), data)?]).await?;
    log.context.announce(KernelEvent::ProviderRetry(ProviderRetry {
        provider: name.provider.clone(),
        model: name.model.clone(),
        attempt: failed.attempts,
        error,
        pause_ms: Some(0),
    }));
    Ok(true)
}

/// Appends to the log the messages for the model that hooks injected.
async fn inject(log: &mut Log<'_>, texts: Vec<String>) -> Result<()> {
    let messages = texts.iter().map(|text| user_message(text, true));
    log.append(messages.collect::<Result<_>>()?).await
}

fn ended(reason: &EndReason) -> Status {
    match reason {
        EndReason::Done | EndReason::Calls => Status::Success,
        EndReason::Length => Status::Incomplete("the answer reached the most tokens".into()),
        EndReason::Refused => Status::Incomplete("the provider held the answer back".into()),
        EndReason::Other(reason) => Status::Incomplete(reason.clone()),
    }
}
