//! The tool calls of one answer. They are authorized one after the other and executed concurrently.
//! Their results are stored in the order of the calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use forklore_core::{Data, EventType};
use forklore_engine::NewEvent;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::attach_result::{Attachments, attach};
use super::authorize::{Authorized, authorize};
use super::create_subagents::create_subagents;
use super::execute_calls::{CANCELLED, Done, RunningCalls};
use super::log::Log;
use super::new_event::{user_message, verbatim};
use super::outcome::Turn;
use super::readable_json::plain;
use super::stuck_loop::Round;
use super::subagent::{Subagent, SubagentFactory};
use crate::config::SessionConfig;
use crate::hook::ResultInput;
use crate::notify::KernelEvent;
use crate::notify::event::ToolResult;
use crate::tool::{ToolCall, ToolOutcome, to_value};
use crate::{Error, Result};

/// Executes the tool calls of one answer. Returns which calls failed. When this function returns,
/// the log has a result for every call.
pub(super) async fn carry_out(
    log: &mut Log<'_>,
    config: &SessionConfig,
    ceiling: Option<&BTreeSet<String>>,
    factory: &Arc<dyn SubagentFactory>,
    calls: Vec<ToolCall>,
    cancel: &CancellationToken,
) -> Result<Round> {
    let mut authorized = authorize_all(log, config, ceiling, calls, cancel).await?;
    let subagents = create_subagents(log, config, &**factory, &mut authorized).await?;
    let mut work = RunningCalls::begin(log, config, factory, &authorized, &subagents, cancel);
    let mut round = Round::default();
    let mut written = 0;
    let mut injected: Vec<String> =
        authorized.iter().flat_map(|authorized| authorized.injected.clone()).collect();
    while written < authorized.len() || work.has_subagents() {
        if let Some(record) = work.next(cancel).await {
            log.append(vec![record.event.clone()]).await?;
            work.stored(log.context, record);
            continue;
        }
        let ready = work.ready_from(written);
        let mut events = Vec::new();
        let mut announced = Vec::new();
        let mut holding = Vec::new();
        let done = authorized.iter().zip(&subagents).skip(written).zip(ready);
        for ((authorized, subagent), Done { outcome, turn }) in done {
            let (outcome, messages) = changed_by_hooks(log, &authorized.call, outcome).await;
            injected.extend(messages);
            let (mut outcome, attachments) =
                attach(log, config.settings.result_bytes, outcome).await;
            outcome.content = plain(outcome.content);
            let ended = subagent
                .as_ref()
                .map(|subagent| (subagent, turn.unwrap_or_else(|| given_up(subagent.clone()).1)));
            if let Some((subagent, turn)) = &ended {
                // The model receives the sub-agent's text as the result of the call, so this event
                // omits it.
                events.push(subagent.ended(turn, false)?);
            }
            events.push(result_event(&authorized.call, &outcome, &attachments)?);
            // The attachments stay pinned until the event that names them is written.
            holding.push(attachments);
            round.add(authorized, &outcome);
            announced.push((&authorized.call, outcome, ended));
            written += 1;
        }
        if written == authorized.len() {
            // The messages of hooks follow the last result: nothing may separate calls from their
            // results.
            let messages = std::mem::take(&mut injected);
            let messages = messages.iter().map(|text| user_message(text, true));
            events.extend(messages.collect::<Result<Vec<_>>>()?);
        }
        let lost: Vec<_> = work.take_lost().into_iter().map(given_up).collect();
        for (subagent, turn) in &lost {
            events.insert(0, subagent.ended(turn, false)?);
        }
        log.append(events).await?;
        drop(holding);
        for (subagent, turn) in &lost {
            subagent.announce_ended(log.context, turn);
        }
        for (call, outcome, ended) in announced {
            if let Some((subagent, turn)) = ended {
                subagent.announce_ended(log.context, &turn);
            }
            let (session, tool) = (log.session(), &call.name);
            let outcome_name = if outcome.is_error { "error" } else { "ok" };
            tracing::debug!(%session, %tool, outcome = outcome_name, "a tool call ended");
            log.context.announce(result_announced(call, &outcome));
        }
    }
    Ok(round)
}

/// Returns a sub-agent that was given up, with an error in place of its turn.
fn given_up(subagent: Subagent) -> (Subagent, Result<Turn>) {
    let turn = Err(Error::Ended(subagent.id()));
    (subagent, turn)
}

async fn authorize_all(
    log: &mut Log<'_>,
    config: &SessionConfig,
    ceiling: Option<&BTreeSet<String>>,
    calls: Vec<ToolCall>,
    cancel: &CancellationToken,
) -> Result<Vec<Authorized>> {
    let mut all = Vec::with_capacity(calls.len());
    let there: Vec<String> = config.specs().into_iter().map(|spec| spec.name).collect();
    for call in calls {
        if !there.contains(&call.name) {
            all.push(Authorized::unknown(call, &there));
            continue;
        }
        let authorized = tokio::select! {
            biased;
            () = cancel.cancelled() => Authorized::cancelled(call.clone(), CANCELLED),
            authorized = authorize(log.context, config, ceiling, call.clone()) => authorized,
        };
        all.push(authorized);
    }
    log.append(all.iter().map(Authorized::event).collect::<Result<_>>()?).await?;
    let identity = log.context.identity();
    for authorized in all.iter().filter(|authorized| authorized.person_consulted) {
        let call = Some(authorized.call.id.as_str());
        let answer = match &authorized.refused {
            Some(reason) => Err(reason.as_str()),
            None => Ok(authorized.note.as_deref()),
        };
        log.context.announce_answer(&identity, call, answer);
    }
    Ok(all)
}

/// Asks the hooks about a tool's result. Returns the result as the hooks changed it, and the
/// messages that the hooks injected for the model. If a hook denies the result, the outcome is a
/// failure.
async fn changed_by_hooks(
    log: &Log<'_>,
    call: &ToolCall,
    outcome: ToolOutcome,
) -> (ToolOutcome, Vec<String>) {
    let identity = log.context.identity();
    let judged = log.context.ask_hooks(&identity, ResultInput { call, outcome }).await;
    let outcome = match judged.denied {
        Some((by, reason)) => ToolOutcome::failed(&format!("Held back by {by}: {reason}")),
        None => judged.input.outcome,
    };
    (outcome, judged.injected)
}

fn result_announced(call: &ToolCall, outcome: &ToolOutcome) -> KernelEvent {
    let result = ToolResult {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        result: to_value(&outcome.content),
        is_error: outcome.is_error,
    };
    if outcome.is_error { KernelEvent::ToolError(result) } else { KernelEvent::ToolPost(result) }
}

fn result_event(
    call: &ToolCall,
    outcome: &ToolOutcome,
    attachments: &Attachments,
) -> Result<NewEvent> {
    let (call_id, name, content) = (&call.id, &call.name, &outcome.content);
    let result = ResultPayload {
        call_id,
        name,
        content,
        is_error: outcome.is_error,
        whole: attachments.whole(),
    };
    verbatim(EventType::TOOL_RESULT, &result)
}

/// The payload of a `tool_result` event.
#[derive(Serialize)]
struct ResultPayload<'a> {
    call_id: &'a str,
    name: &'a str,
    content: &'a Data,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<&'a Value>,
}
