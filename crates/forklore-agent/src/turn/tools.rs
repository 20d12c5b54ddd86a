//! The calls of one answer: decided about in turn, carried out side by side, answered in the order
//! in which they were made.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use forklore_engine::NewEvent;
use forklore_model::EventType;
use futures_util::FutureExt;
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::cap::capped;
use super::decide::{Decided, decide};
use super::log::Log;
use super::new_event::{event, user_message};
use super::panic_text;
use crate::Result;
use crate::hook::Matter;
use crate::notify::Name;
use crate::session::Equipment;
use crate::tool::{CallContext, Progress, ToolCall, ToolOutcome};

const CANCELLED: &str = "Cancelled: the turn was interrupted.";

/// Carries out the calls. When it returns, each has its result in the log.
pub(super) async fn carry_out(
    log: &mut Log<'_>,
    equipment: &Equipment,
    ceiling: Option<&BTreeSet<String>>,
    calls: Vec<ToolCall>,
    cancel: &CancellationToken,
) -> Result<()> {
    let decided = decide_all(log, equipment, ceiling, calls, cancel).await?;
    let mut work = Work::begin(log, equipment, &decided, cancel);
    let mut written = 0;
    while written < decided.len() {
        work.next(equipment, cancel).await;
        let ready = work.ready_from(written);
        let mut events = Vec::new();
        let mut told = Vec::new();
        for (decided, outcome) in decided.iter().skip(written).zip(ready) {
            let outcome = finish(log, equipment, &decided.call, outcome).await;
            events.push(result_event(&decided.call, &outcome)?);
            told.push((&decided.call, outcome));
        }
        written += events.len();
        if written == decided.len() {
            // Hooks speak behind the last result: nothing may stand between calls and results.
            let said = decided.iter().flat_map(|decided| &decided.injected);
            events.extend(said.map(|text| user_message(text, true)).collect::<Result<Vec<_>>>()?);
        }
        log.append(events).await?;
        for (call, outcome) in told {
            let name = if outcome.is_error { Name::ToolError } else { Name::ToolPost };
            let data = json!({"tool_call_id": call.id, "tool_name": call.name,
                "result": outcome.content, "is_error": outcome.is_error});
            log.inner.announce(name, data);
        }
    }
    Ok(())
}

async fn decide_all(
    log: &mut Log<'_>,
    equipment: &Equipment,
    ceiling: Option<&BTreeSet<String>>,
    calls: Vec<ToolCall>,
    cancel: &CancellationToken,
) -> Result<Vec<Decided>> {
    let mut all = Vec::with_capacity(calls.len());
    for call in calls {
        let decided = tokio::select! {
            biased;
            () = cancel.cancelled() => Decided::cancelled(call.clone(), CANCELLED),
            decided = decide(log.inner, equipment, ceiling, call.clone()) => decided,
        };
        all.push(decided);
    }
    log.append(all.iter().map(Decided::event).collect::<Result<_>>()?).await?;
    let identity = log.inner.identity();
    for decided in all.iter().filter(|decided| decided.asked) {
        let call = Some(decided.call.id.as_str());
        log.inner.announce_answer(&identity, call, decided.refused.as_ref());
    }
    Ok(all)
}

/// The hooks may change what a tool said; then it is cut to size.
async fn finish(
    log: &Log<'_>,
    equipment: &Equipment,
    call: &ToolCall,
    outcome: ToolOutcome,
) -> ToolOutcome {
    let identity = log.inner.identity();
    let matter = Matter::Outcome { call, outcome: outcome.clone() };
    let judged = log.inner.judge(&identity, matter).await;
    let outcome = match (judged.denied, judged.matter) {
        (Some((by, reason)), _) => ToolOutcome::failed(&format!("Held back by {by}: {reason}")),
        (None, Matter::Outcome { outcome, .. }) => outcome,
        (None, _) => outcome,
    };
    let content = capped(outcome.content, equipment.settings.result_bytes);
    ToolOutcome { content, ..outcome }
}

fn result_event(call: &ToolCall, outcome: &ToolOutcome) -> Result<NewEvent> {
    let data = json!({"call_id": call.id, "name": call.name, "content": outcome.content,
        "is_error": outcome.is_error.then_some(true)});
    event(EventType::TOOL_RESULT, data)
}

/// Calls that are carried out side by side.
struct Work {
    running: JoinSet<(usize, ToolOutcome)>,
    outcomes: Vec<Option<ToolOutcome>>,
}

impl Work {
    fn begin(
        log: &Log<'_>,
        equipment: &Equipment,
        decided: &[Decided],
        cancel: &CancellationToken,
    ) -> Self {
        let mut running = JoinSet::new();
        let mut outcomes = Vec::with_capacity(decided.len());
        for (at, decided) in decided.iter().enumerate() {
            if let Some(reason) = &decided.refused {
                outcomes.push(Some(ToolOutcome::failed(reason)));
                continue;
            }
            outcomes.push(None);
            let call = decided.call.clone();
            let data = json!({"tool_call_id": call.id, "tool_name": call.name,
                "tool_input": call.arguments});
            log.inner.announce(Name::ToolPre, data);
            let context = CallContext {
                session: log.session().clone(),
                cancelled: cancel.child_token(),
                progress: progress(log, &call),
            };
            let tools = Arc::clone(&equipment.tools);
            running.spawn(async move {
                let called = async { tools.call(&call, &context).await };
                let outcome = AssertUnwindSafe(called).catch_unwind().await;
                let crashed = |panic: Box<dyn std::any::Any + Send>| {
                    ToolOutcome::failed(&format!("the tool crashed: {}", panic_text(&*panic)))
                };
                (at, outcome.unwrap_or_else(crashed))
            });
        }
        Self { running, outcomes }
    }

    /// Waits until one more is done; after an interruption no longer than the grace.
    async fn next(&mut self, equipment: &Equipment, cancel: &CancellationToken) {
        tokio::select! {
            biased;
            done = self.running.join_next() => self.take(done),
            () = cancel.cancelled() => {
                let grace = equipment.settings.grace;
                let ending = async {
                    while let Some(done) = self.running.join_next().await {
                        if let Ok((at, outcome)) = done
                            && let Some(place) = self.outcomes.get_mut(at)
                        {
                            *place = Some(outcome);
                        }
                    }
                };
                // What does not end by itself is broken off.
                let _ = tokio::time::timeout(grace, ending).await;
                self.running.abort_all();
                for place in self.outcomes.iter_mut().filter(|place| place.is_none()) {
                    *place = Some(ToolOutcome::failed(CANCELLED));
                }
            }
        }
    }

    fn take(&mut self, done: Option<Result<(usize, ToolOutcome), tokio::task::JoinError>>) {
        match done {
            Some(Ok((at, outcome))) => {
                if let Some(place) = self.outcomes.get_mut(at) {
                    *place = Some(outcome);
                }
            }
            // Only a runtime that shuts down breaks a call off unasked.
            Some(Err(_)) | None => {
                for place in self.outcomes.iter_mut().filter(|place| place.is_none()) {
                    *place = Some(ToolOutcome::failed("the call was broken off"));
                }
            }
        }
    }

    /// Takes the outcomes from `from` on, up to the first that is not there yet.
    fn ready_from(&mut self, from: usize) -> Vec<ToolOutcome> {
        let rest = self.outcomes.iter_mut().skip(from);
        rest.map_while(Option::take).collect()
    }
}

fn progress(log: &Log<'_>, call: &ToolCall) -> Progress {
    let teller = Arc::clone(log.inner);
    let (id, name) = (call.id.clone(), call.name.clone());
    Progress::to(move |step| {
        let data = json!({"tool_call_id": id, "tool_name": name, "step": step});
        teller.announce(Name::ToolProgress, data);
    })
}
