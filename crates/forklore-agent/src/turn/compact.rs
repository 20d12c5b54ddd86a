//! Compaction: a summary replaces the beginning of the history in what the model receives. Nothing
//! is removed from the log, and a fork before the compaction inherits the complete history.

use forklore_core::{Data, EventType};
use forklore_engine::{NewEvent, Summarize};
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::log::Log;
use super::new_event::event;
use super::summarize::summarize;
use crate::Result;
use crate::config::SessionConfig;
use crate::notify::KernelEvent;
use crate::notify::event::{CompactionReason, HistoryCompacted, HistoryCompaction};

/// The result of a compaction: which messages the summary replaces, and how many tokens this saves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compacted {
    /// The conversation index of the first message that the summary replaces.
    pub from_index: u64,
    /// The conversation index after the last message that the summary replaces.
    pub to_index: u64,
    /// Names who wrote the summary: `model_summary_v1` is the model,
    /// `deterministic_operational_summary_v2` is the engine without a model.
    pub strategy: &'static str,
    /// The number of tokens that the next request would have without the compaction, partly
    /// estimated.
    pub tokens_before: u64,
    /// Estimated number of tokens of the next request after the compaction.
    pub tokens_after: u64,
    /// Whether the compaction made the messages shorter.
    #[serde(rename = "made_room")]
    pub has_shrunk: bool,
}

/// Compacts the history. Returns `None` if there is nothing to compact, a hook denies the
/// compaction, or the work is interrupted.
pub(crate) async fn compact(
    log: &mut Log<'_>,
    config: &SessionConfig,
    root_key: String,
    reason: CompactionReason,
    cancel: &CancellationToken,
) -> Result<Option<Compacted>> {
    let context = log.context.clone();
    let identity = context.identity();
    let session = log.session().clone();
    let plan = context.kernel.run(move |engine| engine.plan_compaction(&session)).await?;
    let Some(plan) = plan else { return Ok(None) };
    let judged = context.ask_hooks(&identity, plan).await;
    if judged.denied.is_some() {
        return Ok(None);
    }
    let plan = judged.input;
    let model = &*config.model;
    log.look(model).await?;
    let tokens_before = log.pressure().await?.tokens;
    let bytes_before = log.view.bytes();
    let (from_index, to_index) = (plan.from_index, plan.to_index);
    let compaction = HistoryCompaction { reason, from_index, to_index, tokens: tokens_before };
    context.announce(KernelEvent::ContextPreCompact(compaction));
    let summary = summarize(&context, config, &plan.messages, root_key, cancel).await?;
    if cancel.is_cancelled() {
        log.append(usage_events(summary.usage())).await?;
        return Ok(None);
    }
    let (text, by, why) = match &summary {
        Summarize::ByModel { text, model, .. } => (text.clone(), Some(model.clone()), None),
        Summarize::Deterministic => (summary_text(&plan.summary), None, None),
        Summarize::Fallback { why, .. } => (summary_text(&plan.summary), None, Some(why.clone())),
    };
    let strategy = summary.strategy();
    let content = format!("[Summary of the conversation so far]\n{text}");
    let data = json!({"from_index": from_index, "to_index": to_index, "content": content,
        "strategy": strategy, "model": by, "reason": reason.as_str(), "limitations": why});
    let mut events = vec![event(EventType::HISTORY_COMPACTION, data)?];
    events.extend(usage_events(summary.usage()));
    log.append(events).await?;
    log.look(model).await?;
    let freed_tokens = log.view.bytes() < bytes_before;
    let tokens_after = log.pressure().await?.tokens;
    tracing::info!(
        session = %log.session(),
        reason = reason.as_str(),
        strategy,
        from_index,
        to_index,
        tokens_before,
        tokens_after,
        "compacted a context",
    );
    context.announce(KernelEvent::ContextPostCompact(HistoryCompacted {
        reason,
        from_index,
        to_index,
        strategy: strategy.to_owned(),
        tokens_before,
        tokens_after,
    }));
    Ok(Some(Compacted {
        from_index,
        to_index,
        strategy,
        tokens_before,
        tokens_after,
        has_shrunk: freed_tokens,
    }))
}

fn usage_events(usage: &[Data]) -> Vec<NewEvent> {
    let event = |data: &Data| NewEvent::new(EventType::PROVIDER_USAGE, data.clone());
    usage.iter().map(event).collect()
}

fn summary_text(summary: &impl Serialize) -> String {
    serde_json::to_string(summary).unwrap_or_default()
}
