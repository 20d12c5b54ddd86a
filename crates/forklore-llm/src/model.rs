//! Implements [`Model`] over the HTTP APIs of providers.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use forklore_agent::media::Capabilities;
use forklore_agent::model::{
    AnswerStream, Model, ModelError, ModelErrorKind, ModelName, ModelResult, Request, StreamEvent,
};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response};
use serde::Deserialize;
use sse_stream::Sse;

use crate::config::{ModelConfig, Provider};
use crate::events::{self, Events};
use crate::failure::Report;
use crate::http::{self, Failed};
use crate::key::{KeyLookup, StreamRedactor};
use crate::request;
use crate::response::{Reader, ResponseError};

/// A client of a model over HTTP, in the API format of its provider.
#[derive(Clone)]
pub struct HttpModel {
    config: ModelConfig,
    name: ModelName,
    key: KeyLookup,
    client: Client,
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel").field("config", &self.config).finish_non_exhaustive()
    }
}

impl HttpModel {
    /// Creates a client from a configuration. Reads the API key from the environment. A missing key
    /// is no error here, so that the program can show a request without a key.
    /// [`ready`](Model::ready) and requests report a missing key.
    ///
    /// # Errors
    /// If the base URL is invalid, or the HTTP client cannot be created.
    pub fn new(config: ModelConfig) -> ModelResult<Self> {
        let name = ModelName {
            provider: config.provider.as_str().to_owned(),
            model: config.model.clone(),
        };
        let key = KeyLookup::of(&config.key_variables());
        let model = |client| Self { config, name, key, client };
        match http::client() {
            Ok(client) => {
                let model = model(client);
                model.url("").map_err(|failed| model.error(failed))?;
                Ok(model)
            }
            Err(failed) => Err(error(&unnamed(), &KeyLookup::None, failed)),
        }
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Lets the server count the tokens in a request. Returns `None` if the provider's API cannot
    /// count tokens. Sends the whole history to the server.
    ///
    /// # Errors
    /// The same errors as for a model request.
    pub async fn count(&self, request: &Request) -> ModelResult<Option<u64>> {
        self.counted(request).await.map_err(|failed| self.error(failed))
    }

    /// Lets the server count the tokens in a request, for callers without an async runtime. Returns
    /// `None` if the provider's API cannot count tokens.
    ///
    /// # Errors
    /// The same errors as for a model request, and an error if the runtime cannot start.
    pub fn count_blocking(&self, request: &Request) -> ModelResult<Option<u64>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| {
            self.error(Failed {
                source: Some(Box::new(source)),
                ..Failed::new(ModelErrorKind::Unreachable, "no runtime can be started")
            })
        })?;
        runtime.block_on(self.count(request))
    }

    fn url(&self, path: &str) -> Result<reqwest::Url, Failed> {
        http::url(&self.config, path)
    }

    fn error(&self, failed: Failed) -> ModelError {
        error(&self.name, &self.key, failed)
    }

    async fn counted(&self, request: &Request) -> Result<Option<u64>, Failed> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Counted {
            #[serde(rename = "input_tokens")]
            input: Option<u64>,
            total_tokens: Option<u64>,
        }
        let (path, body) = match self.config.provider {
            Provider::Anthropic => (
                "messages/count_tokens".to_owned(),
                request::anthropic::count_body(&self.config, &self.name, request),
            ),
            Provider::Gemini => (
                format!("models/{}:countTokens", self.config.model),
                request::gemini::count_body(&self.config, &self.name, request),
            ),
            Provider::OpenAi | Provider::Ollama => return Ok(None),
        };
        let body = body.map_err(not_written)?;
        let response = self.send(&path, body, self.config.patience()).await?;
        let body = http::in_time(self.config.patience(), http::text(response)).await?;
        let counted: Counted =
            serde_json::from_str(&body).map_err(ResponseError::from).map_err(response_error)?;
        Ok(counted.input.or(counted.total_tokens))
    }

    async fn send(
        &self,
        path: &str,
        body: Vec<u8>,
        patience: Duration,
    ) -> Result<Response, Failed> {
        let url = self.url(path)?;
        let headers = http::headers(self.config.provider, &self.key)?;
        let sent = http::post(&self.client, url, headers, body, patience).await;
        let status = match &sent {
            Ok(response) => Some(response.status().as_u16()),
            Err(failed) => failed.status,
        };
        let ModelName { provider, model } = &self.name;
        tracing::debug!(%provider, %model, status, "sent a request");
        sent
    }

    async fn ask(&self, request: &Request) -> Result<ResponseStream, Failed> {
        let body = request::body(&self.config, &self.name, request).map_err(not_written)?;
        let patience = request.options.patience.unwrap_or_else(|| self.config.patience());
        let path = match self.config.provider {
            Provider::OpenAi | Provider::Ollama => "chat/completions".to_owned(),
            Provider::Anthropic => "messages".to_owned(),
            Provider::Gemini => {
                format!("models/{}:streamGenerateContent?alt=sse", self.config.model)
            }
        };
        let response = self.send(&path, body, patience).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            let kind = crate::failure::one_line(kind.unwrap_or("no content type"));
            let message = Report::of(&http::in_time(patience, http::text(response)).await?).message;
            let message = format!("answers with {kind} instead of a stream of events: {message}");
            return Err(Failed::new(ModelErrorKind::Malformed, message));
        }
        Ok(ResponseStream {
            events: events::of(response),
            reader: Some(Reader::new(self.config.provider)),
            redactor: self.key.stream_redactor(),
            ready: VecDeque::new(),
            failed: None,
            patience,
        })
    }
}

impl Model for HttpModel {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn context_window(&self) -> Option<u64> {
        self.config.context_window
    }

    fn takes(&self) -> Capabilities {
        self.config.takes()
    }

    fn ready(&self) -> ModelResult<()> {
        let headers = http::headers(self.config.provider, &self.key);
        headers.map(drop).map_err(|failed| self.error(failed))
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        Box::pin(async move {
            let answer = self.ask(request).await.map_err(|failed| self.error(failed))?;
            let pieces = stream::unfold(answer, |mut answer| async move {
                let piece = answer.next().await?;
                Some((piece, answer))
            });
            let pieces: AnswerStream<'a> =
                pieces.map(|piece| piece.map_err(|failed| self.error(failed))).boxed();
            Ok(pieces)
        })
    }

    fn body(&self, request: &Request) -> ModelResult<Vec<u8>> {
        let body = request::body(&self.config, &self.name, request);
        body.map_err(|error| self.error(not_written(error)))
    }
}

/// The stream of events in one response. Parses the server's events and redacts the API key in
/// them.
struct ResponseStream {
    events: Events,
    /// The parser of the server's events. `None` after the end of the response or an error.
    reader: Option<Reader>,
    redactor: StreamRedactor,
    ready: VecDeque<StreamEvent>,
    /// The error to report after all events in `ready`, if there is one.
    failed: Option<Failed>,
    patience: Duration,
}

impl ResponseStream {
    /// Returns the next event of the response. Returns `None` after the last event and after an
    /// error.
    async fn next(&mut self) -> Option<Result<StreamEvent, Failed>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(Ok(piece));
            }
            if let Some(failed) = self.failed.take() {
                return Some(Err(failed));
            }
            let mut reader = self.reader.take()?;
            let mut pieces = Vec::new();
            let read = self.read(&mut reader, &mut pieces).await;
            for piece in pieces {
                self.redactor.pass(piece, &mut self.ready);
            }
            match read {
                Ok(true) => {}
                Ok(false) => self.reader = Some(reader),
                Err(failed) => {
                    self.redactor.end(&mut self.ready);
                    self.failed = Some(failed);
                }
            }
        }
    }

    /// Reads one event of the server, and pushes the stream events that this event completes to
    /// `pieces`. Returns whether the response is complete.
    async fn read(
        &mut self,
        reader: &mut Reader,
        pieces: &mut Vec<StreamEvent>,
    ) -> Result<bool, Failed> {
        let is_over = match http::in_time(self.patience, self.events.next()).await? {
            Some(Ok(Sse { data: Some(data), .. })) => {
                reader.read(&data, pieces).map_err(response_error)?
            }
            Some(Ok(_)) => false,
            Some(Err(error)) => return Err(events::failed(error)),
            None => true,
        };
        if is_over {
            let end = reader.end(pieces).map_err(response_error)?;
            pieces.push(StreamEvent::End(end));
        }
        Ok(is_over)
    }
}

fn response_error(broken: ResponseError) -> Failed {
    match broken {
        ResponseError::Reported(error) => {
            let report = Report::of(&error);
            let message = format!("the server ended the answer: {}", report.message);
            Failed::new(report.kind_in_stream(), message)
        }
        ResponseError::Off => Failed::new(ModelErrorKind::Unreachable, broken.to_string()),
        ResponseError::Event(_) | ResponseError::Arguments(_) | ResponseError::TooMuch(_) => {
            let message = broken.to_string();
            Failed {
                source: Some(Box::new(broken)),
                ..Failed::new(ModelErrorKind::Malformed, message)
            }
        }
    }
}

fn not_written(error: serde_json::Error) -> Failed {
    Failed {
        source: Some(Box::new(error)),
        ..Failed::new(ModelErrorKind::Invalid, "the request cannot be written")
    }
}

fn unnamed() -> ModelName {
    ModelName { provider: "models".into(), model: String::new() }
}

fn error(name: &ModelName, key: &KeyLookup, failed: Failed) -> ModelError {
    let provider = if name.model.is_empty() {
        name.provider.clone()
    } else {
        format!("{} {}", name.provider, name.model)
    };
    ModelError {
        provider,
        message: key.redact(&failed.message),
        kind: failed.kind,
        status: failed.status,
        source: failed.source.map(|source| key.redact_source(source)),
    }
}
