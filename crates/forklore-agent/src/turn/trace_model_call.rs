//! Writes diagnostic log messages about model calls. They contain no text of the conversation, and
//! no text of a provider's error, because the error may quote the conversation.

use std::time::Duration;

use super::answer::Answer;
use crate::context::Context;
use crate::model::{EndReason, ModelError, ModelName};

/// Writes a diagnostic log message about a complete answer of a model.
pub(super) fn answered(context: &Context, name: &ModelName, attempt: u32, answer: &Answer) {
    let Some(end) = &answer.end else { return };
    tracing::debug!(
        session = %context.identity().session_id,
        provider = %name.provider,
        model = %name.model,
        attempt,
        input_tokens = end.usage.input,
        output_tokens = end.usage.output,
        cached_tokens = end.usage.cached,
        tool_calls = answer.calls().count(),
        finish_reason = finish_reason(&end.reason),
        "the model answered",
    );
}

/// Writes a diagnostic log message about a failed attempt of a model call. Another attempt follows
/// after `wait`.
pub(super) fn retried(
    context: &Context,
    name: &ModelName,
    attempt: u32,
    error: &ModelError,
    wait: Duration,
) {
    tracing::warn!(
        session = %context.identity().session_id,
        provider = %name.provider,
        model = %name.model,
        attempt,
        status = error.status,
        cause = error.kind.name(),
        wait_ms = u64::try_from(wait.as_millis()).ok(),
        "a model call failed and is repeated",
    );
}

/// Writes a diagnostic log message about a failed attempt of a model call after which no attempt
/// follows.
pub(super) fn failed(context: &Context, name: &ModelName, attempt: u32, error: &ModelError) {
    tracing::warn!(
        session = %context.identity().session_id,
        provider = %name.provider,
        model = %name.model,
        attempt,
        status = error.status,
        cause = error.kind.name(),
        "a model call failed",
    );
}

/// Returns the finish reason for a diagnostic log message. Hides a provider-specific reason, whose
/// text is unknown.
fn finish_reason(reason: &EndReason) -> &'static str {
    match reason {
        EndReason::Done => "done",
        EndReason::Calls => "calls",
        EndReason::Length => "length",
        EndReason::Refused => "refused",
        EndReason::Other(_) => "other",
    }
}
