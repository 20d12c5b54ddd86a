//! A call of the model: asked again while that may help.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use futures_util::FutureExt;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::panic_text;
use crate::model::{Model, ModelError, ModelErrorKind, ModelResult, Request};
use crate::notify::Name;
use crate::session::{Inner, Settings};
use crate::{Error, Result};

/// An answer, whole or interrupted, and how often the model was asked for it.
pub(super) struct Asked {
    pub(super) answer: Answer,
    pub(super) took: Duration,
}

/// Asks until there is an answer, the turn is interrupted, or asking again makes no sense.
pub(super) async fn ask(
    inner: &Inner,
    model: &dyn Model,
    request: &Request,
    settings: &Settings,
    cancel: &CancellationToken,
) -> Result<Asked> {
    ask_for(inner, model, request, settings, cancel, None).await
}

/// The same for something else than the turn's answer: its pieces are not announced.
pub(super) async fn ask_aside(
    inner: &Inner,
    model: &dyn Model,
    request: &Request,
    settings: &Settings,
    cancel: &CancellationToken,
    purpose: &'static str,
) -> Result<Asked> {
    ask_for(inner, model, request, settings, cancel, Some(purpose)).await
}

async fn ask_for(
    inner: &Inner,
    model: &dyn Model,
    request: &Request,
    settings: &Settings,
    cancel: &CancellationToken,
    purpose: Option<&'static str>,
) -> Result<Asked> {
    let mut pauses = ExponentialBuilder::default()
        .with_jitter()
        .with_min_delay(settings.backoff)
        .with_max_delay(settings.longest_backoff)
        .without_max_times()
        .build();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let name = model.name();
        let data = json!({"provider": name.provider, "model": name.model, "attempt": attempts,
            "messages": request.messages.len(), "shared": request.shared, "purpose": purpose});
        inner.announce(Name::ProviderRequest, data);
        let began = tokio::time::Instant::now();
        let mut answer = if purpose.is_some() { Answer::quiet() } else { Answer::default() };
        let error = match try_once(inner, model, request, cancel, &mut answer).await {
            Ok(()) => return Ok(Asked { answer, took: began.elapsed() }),
            Err(error) => error,
        };
        let too_late = matches!(error.kind,
            ModelErrorKind::Later(Some(asked)) if asked > settings.longest_backoff);
        if !error.kind.is_passing() || too_late || attempts >= settings.attempts {
            return Err(Error::Model { attempts, source: error });
        }
        let pause = pauses.next().unwrap_or(settings.longest_backoff);
        let pause = match error.kind {
            ModelErrorKind::Later(Some(asked)) => asked.max(pause),
            _ => pause,
        };
        let data = json!({"provider": name.provider, "model": name.model, "attempt": attempts,
            "error": error.message, "pause_ms": u64::try_from(pause.as_millis()).ok()});
        inner.announce(Name::ProviderRetry, data);
        tokio::select! {
            () = cancel.cancelled() => {
                return Ok(Asked { answer: Answer::default(), took: began.elapsed() });
            }
            () = tokio::time::sleep(pause) => {}
        }
    }
}

async fn try_once(
    inner: &Inner,
    model: &dyn Model,
    request: &Request,
    cancel: &CancellationToken,
    answer: &mut Answer,
) -> ModelResult<()> {
    let provider = model.name().provider.clone();
    let patience = request.options.patience;
    let work = async {
        let asked = async {
            match patience {
                Some(patience) => tokio::time::timeout(patience, model.stream(request)).await,
                None => Ok(model.stream(request).await),
            }
        };
        let pieces = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(()),
            pieces = asked => pieces,
        };
        let Ok(pieces) = pieces else {
            return Err(ModelError {
                provider: provider.clone(),
                message: "no answer began in time".into(),
                kind: ModelErrorKind::TimedOut,
                source: None,
            });
        };
        answer.listen(inner, pieces?, patience, cancel, &provider).await
    };
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| {
        Err(ModelError {
            provider: provider.clone(),
            message: format!("the model's adapter panicked: {}", panic_text(&*panic)),
            kind: ModelErrorKind::Malformed,
            source: None,
        })
    })
}
