//! The calls of one answer: decided about in turn, carried out side by side, answered in the order
//! in which they were made.

use std::collections::BTreeSet;

use forklore_core::{Data, EventType};
use forklore_engine::NewEvent;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::child::Children;
use super::children::make_children;
use super::decide::{Decided, decide};
use super::keep::{Kept, keep};
use super::log::Log;
use super::new_event::{user_message, verbatim};
use super::plain::plain;
use super::vain::Round;
use super::work::{CANCELLED, Done, Work};
use crate::config::Equipment;
use crate::hook::Matter;
use crate::notify::KernelEvent;
use crate::notify::event::ToolResult;
use crate::tool::{ToolCall, ToolOutcome, to_value};
use crate::{Error, Result};

/// Carries out the calls. When it returns, each has its result in the log; it tells how they
/// failed.
pub(super) async fn carry_out(
    log: &mut Log<'_>,
    equipment: &Equipment,
    ceiling: Option<&BTreeSet<String>>,
    children: &dyn Children,
    calls: Vec<ToolCall>,
    cancel: &CancellationToken,
) -> Result<Round> {
    let mut decided = decide_all(log, equipment, ceiling, calls, cancel).await?;
    let children = make_children(log, equipment, children, &mut decided).await?;
    let mut work = Work::begin(log, equipment, &decided, &children, cancel);
    let mut round = Round::default();
    let mut written = 0;
    while written < decided.len() {
        work.next(cancel).await;
        let ready = work.ready_from(written);
        let mut events = Vec::new();
        let mut told = Vec::new();
        let mut holding = Vec::new();
        let done = decided.iter().zip(&children).skip(written).zip(ready);
        for ((decided, child), Done { outcome, turn }) in done {
            let outcome = changed_by_hooks(log, &decided.call, outcome).await;
            let (mut outcome, kept) = keep(log, equipment.settings.result_bytes, outcome).await;
            outcome.content = plain(outcome.content);
            let ended = child
                .as_ref()
                .map(|child| (child, turn.unwrap_or_else(|| Err(Error::Ended(child.id())))));
            if let Some((child, turn)) = &ended {
                // The model is told its result by the call's.
                events.push(child.ended(turn, false)?);
            }
            events.push(result_event(&decided.call, &outcome, &kept)?);
            // No gc takes what the event is about to name.
            holding.push(kept);
            round.add(decided, &outcome);
            told.push((&decided.call, outcome, ended));
            written += 1;
        }
        if written == decided.len() {
            // Hooks speak behind the last result: nothing may stand between calls and results.
            let said = decided.iter().flat_map(|decided| &decided.injected);
            events.extend(said.map(|text| user_message(text, true)).collect::<Result<Vec<_>>>()?);
        }
        log.append(events).await?;
        drop(holding);
        for (call, outcome, ended) in told {
            if let Some((child, turn)) = ended {
                child.announce_ended(log.context, &turn);
            }
            log.context.announce(result_announced(call, &outcome));
        }
    }
    Ok(round)
}

async fn decide_all(
    log: &mut Log<'_>,
    equipment: &Equipment,
    ceiling: Option<&BTreeSet<String>>,
    calls: Vec<ToolCall>,
    cancel: &CancellationToken,
) -> Result<Vec<Decided>> {
    let mut all = Vec::with_capacity(calls.len());
    let there: Vec<String> = equipment.specs().into_iter().map(|spec| spec.name).collect();
    for call in calls {
        if !there.contains(&call.name) {
            all.push(Decided::unknown(call, &there));
            continue;
        }
        let decided = tokio::select! {
            biased;
            () = cancel.cancelled() => Decided::cancelled(call.clone(), CANCELLED),
            decided = decide(log.context, equipment, ceiling, call.clone()) => decided,
        };
        all.push(decided);
    }
    log.append(all.iter().map(Decided::event).collect::<Result<_>>()?).await?;
    let identity = log.context.identity();
    for decided in all.iter().filter(|decided| decided.asked) {
        let call = Some(decided.call.id.as_str());
        log.context.announce_answer(&identity, call, decided.refused.as_ref());
    }
    Ok(all)
}

async fn changed_by_hooks(log: &Log<'_>, call: &ToolCall, outcome: ToolOutcome) -> ToolOutcome {
    let identity = log.context.identity();
    let matter = Matter::Outcome { call, outcome: outcome.clone() };
    let judged = log.context.judge(&identity, matter).await;
    match (judged.denied, judged.matter) {
        (Some((by, reason)), _) => ToolOutcome::failed(&format!("Held back by {by}: {reason}")),
        (None, Matter::Outcome { outcome, .. }) => outcome,
        (None, _) => outcome,
    }
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

fn result_event(call: &ToolCall, outcome: &ToolOutcome, kept: &Kept) -> Result<NewEvent> {
    let (call_id, name, content) = (&call.id, &call.name, &outcome.content);
    let said = Said { call_id, name, content, is_error: outcome.is_error, whole: kept.whole() };
    verbatim(EventType::TOOL_RESULT, &said)
}

/// What a `tool_result` event says.
#[derive(Serialize)]
struct Said<'a> {
    call_id: &'a str,
    name: &'a str,
    content: &'a Data,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<&'a Value>,
}
