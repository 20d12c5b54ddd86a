//! Calls a model. After a failure, tries again as long as another attempt may succeed.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::trace_model_call;
use crate::Error;
use crate::config::Settings;
use crate::context::Context;
use crate::model::{Model, ModelError, ModelErrorKind, ModelResult, Request, TokenUsage};
use crate::notify::KernelEvent;
use crate::notify::event::{ProviderRequest, ProviderRetry};
use crate::panic::panic_text;

/// The result of all attempts of a model call.
pub(super) struct ModelCall {
    /// The complete answer. If there is none, the last incomplete answer that had text, or an empty
    /// answer.
    pub(super) answer: Answer,
    /// How long the last attempt took, from its request to its end.
    pub(super) took: Duration,
    /// The usage of attempts without a complete answer, if the provider reported it.
    pub(super) lost: Vec<Lost>,
    /// Why there is no complete answer. `None` if the answer is complete, or if the call was
    /// interrupted.
    pub(super) failed: Option<Failed>,
}

/// The usage of an attempt without a complete answer.
pub(super) struct Lost {
    pub(super) usage: TokenUsage,
    pub(super) request_id: Option<String>,
    pub(super) took: Duration,
}

/// The failure of the last attempt, and the number of attempts.
pub(super) struct Failed {
    pub(super) attempts: u32,
    pub(super) source: ModelError,
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        Self::Model { attempts: failed.attempts, source: failed.source }
    }
}

/// Calls the model until it answers, the turn is interrupted, another attempt cannot succeed, or
/// `settings` allows no further attempt.
pub(super) async fn call_model(
    context: &Context,
    model: &dyn Model,
    request: &Request,
    settings: &Settings,
    cancel: &CancellationToken,
) -> ModelCall {
    call_with_retries(context, model, request, settings, cancel, None).await
}

/// Calls the model for a purpose other than the turn's answer, such as a summary. Does not announce
/// the answer's pieces.
pub(super) async fn call_model_for(
    context: &Context,
    model: &dyn Model,
    request: &Request,
    settings: &Settings,
    cancel: &CancellationToken,
    purpose: &'static str,
) -> ModelCall {
    call_with_retries(context, model, request, settings, cancel, Some(purpose)).await
}

async fn call_with_retries(
    context: &Context,
    model: &dyn Model,
    request: &Request,
    settings: &Settings,
    cancel: &CancellationToken,
    purpose: Option<&'static str>,
) -> ModelCall {
    let mut pauses = ExponentialBuilder::default()
        .with_jitter()
        .with_min_delay(settings.backoff)
        .with_max_delay(settings.longest_backoff)
        .without_max_times()
        .build();
    let mut so_far = SoFar::default();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let name = model.name();
        context.announce(KernelEvent::ProviderRequest(ProviderRequest {
            provider: name.provider.clone(),
            model: name.model.clone(),
            attempt: attempts,
            messages: request.messages.len() as u64,
            shared: request.shared as u64,
            purpose: purpose.map(str::to_owned),
        }));
        let began = tokio::time::Instant::now();
        let mut answer = if purpose.is_some() { Answer::unannounced() } else { Answer::default() };
        let tried = try_once(context, model, request, cancel, &mut answer).await;
        let error = match tried {
            Ok(()) if answer.end.is_some() => {
                trace_model_call::answered(context, name, attempts, &answer);
                return so_far.whole(answer, began.elapsed());
            }
            Ok(()) => return so_far.with(answer, began.elapsed()).broken_off(None),
            Err(error) => error,
        };
        so_far = so_far.with(answer, began.elapsed());
        let too_late = matches!(error.kind,
            ModelErrorKind::Later(Some(wanted)) if wanted > settings.longest_backoff);
        if !error.kind.is_passing() || too_late || attempts >= settings.attempts {
            trace_model_call::failed(context, name, attempts, &error);
            return so_far.broken_off(Some(Failed { attempts, source: error }));
        }
        let pause = pauses.next().unwrap_or(settings.longest_backoff);
        let pause = match error.kind {
            ModelErrorKind::Later(Some(wanted)) => wanted.max(pause),
            _ => pause,
        };
        trace_model_call::retried(context, name, attempts, &error, pause);
        context.announce(KernelEvent::ProviderRetry(ProviderRetry {
            provider: name.provider.clone(),
            model: name.model.clone(),
            attempt: attempts,
            error: error.message,
            pause_ms: u64::try_from(pause.as_millis()).ok(),
        }));
        tokio::select! {
            () = cancel.cancelled() => return so_far.broken_off(None),
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Collects the results of attempts without a complete answer.
#[derive(Default)]
struct SoFar {
    /// The answer of the last attempt that had text. It replaces the answers of earlier attempts.
    answer: Answer,
    took: Duration,
    lost: Vec<Lost>,
}

impl SoFar {
    fn with(mut self, mut answer: Answer, took: Duration) -> Self {
        let usage = answer.so_far.take().filter(|(usage, _)| *usage != TokenUsage::default());
        if let Some((usage, request_id)) = usage {
            self.lost.push(Lost { usage, request_id, took });
        }
        if answer.has_text() {
            self.answer = answer;
        }
        Self { took, ..self }
    }

    fn whole(self, answer: Answer, took: Duration) -> ModelCall {
        ModelCall { answer, took, lost: self.lost, failed: None }
    }

    fn broken_off(self, failed: Option<Failed>) -> ModelCall {
        ModelCall { answer: self.answer, took: self.took, lost: self.lost, failed }
    }
}

async fn try_once(
    context: &Context,
    model: &dyn Model,
    request: &Request,
    cancel: &CancellationToken,
    answer: &mut Answer,
) -> ModelResult<()> {
    let provider = model.name().provider.clone();
    let patience = request.options.patience;
    let work = async {
        let begun = async {
            match patience {
                Some(patience) => tokio::time::timeout(patience, model.stream(request)).await,
                None => Ok(model.stream(request).await),
            }
        };
        let pieces = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(()),
            pieces = begun => pieces,
        };
        let Ok(pieces) = pieces else {
            return Err(ModelError {
                provider: provider.clone(),
                message: "no answer began in time".into(),
                kind: ModelErrorKind::TimedOut,
                status: None,
                source: None,
            });
        };
        answer.listen(context, pieces?, patience, cancel, &provider).await
    };
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| {
        Err(ModelError {
            provider: provider.clone(),
            message: format!("the model's adapter panicked: {}", panic_text(&*panic)),
            kind: ModelErrorKind::Malformed,
            status: None,
            source: None,
        })
    })
}
