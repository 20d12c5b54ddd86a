//! Logs model calls for operators. A line has no text of a message, of the answer, or of the
//! provider's error, which may quote them.

use std::time::Duration;

use super::answer::Answer;
use crate::context::Context;
use crate::model::{EndReason, ModelError, ModelName};

/// Logs a complete answer.
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

/// Logs a failed attempt that is followed by another one after `wait`.
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

/// Logs a failed attempt that is the last one.
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

/// Returns the reason for logs. A reason of the provider's own is text of unknown content.
fn finish_reason(reason: &EndReason) -> &'static str {
    match reason {
        EndReason::Done => "done",
        EndReason::Calls => "calls",
        EndReason::Length => "length",
        EndReason::Refused => "refused",
        EndReason::Other(_) => "other",
    }
}
