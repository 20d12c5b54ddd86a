//! Helpers that send requests to a model, and build the parts of a request.

use std::time::Duration;

use forklore_agent::media::Attached;
use forklore_agent::model::{
    End, Model, ModelErrorKind, ModelResult, Options, Request, StreamEvent, TokenUsage,
};
use forklore_agent::tool::{ToolCall, ToolSpec};
use forklore_core::{Data, Message, Part, Role};
use forklore_llm::{HttpModel, ModelConfig, Provider};
use futures_util::StreamExt as _;

/// Returns a model with the API of this provider at this base URL.
pub(crate) fn model(provider: Provider, base_url: &str) -> HttpModel {
    HttpModel::new(config(provider, base_url)).unwrap()
}

pub(crate) fn config(provider: Provider, base_url: &str) -> ModelConfig {
    ModelConfig {
        base_url: Some(base_url.to_owned()),
        ..ModelConfig::new(provider, forklore_smollm::MODEL)
    }
}

/// Sends a request. Returns all events of the response, or the first error.
pub(crate) async fn ask(model: &HttpModel, request: &Request) -> ModelResult<Vec<StreamEvent>> {
    let mut pieces = model.stream(request).await?;
    let mut all = Vec::new();
    while let Some(piece) = pieces.next().await {
        all.push(piece?);
    }
    Ok(all)
}

/// Sends a request that must fail. Returns the kind and the message of the error.
pub(crate) async fn failure(model: &HttpModel, request: &Request) -> (ModelErrorKind, String) {
    let error = ask(model, request).await.unwrap_err();
    (error.kind.clone(), error.to_string())
}

pub(crate) fn request(messages: Vec<Message>) -> Request {
    let options = Options {
        max_output_tokens: Some(8),
        patience: Some(Duration::from_secs(3_600)),
        ..Options::default()
    };
    Request {
        messages,
        attached: Attached::default(),
        shared: 0,
        forks: Vec::new(),
        tools: Vec::new(),
        cache_key: "family-1".into(),
        options,
    }
}

pub(crate) fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

pub(crate) fn assistant(text: &str) -> Message {
    Message::text(Role::Assistant, text)
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Message {
    let arguments = data(arguments);
    Message::parts(
        Role::Assistant,
        vec![Part::ToolCall { id: id.into(), name: name.into(), arguments }],
    )
}

pub(crate) fn result(call: &str, text: &str) -> Message {
    let content = Data::of(text).unwrap();
    let part = Part::ToolResult {
        call_id: call.into(),
        name: None,
        content,
        is_error: false,
        synthetic: false,
    };
    Message::parts(Role::Tool, vec![part])
}

pub(crate) fn weather() -> ToolSpec {
    ToolSpec {
        name: "weather".into(),
        description: "The weather of a city".into(),
        parameters: data(
            r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#,
        ),
    }
}

pub(crate) fn data(text: &str) -> Data {
    Data::parse(text).unwrap()
}

pub(crate) fn texts(pieces: &[StreamEvent]) -> Vec<&str> {
    let texts = pieces.iter().filter_map(|piece| match piece {
        StreamEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

pub(crate) fn calls(pieces: &[StreamEvent]) -> Vec<&ToolCall> {
    let calls = pieces.iter().filter_map(|piece| match piece {
        StreamEvent::Call(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

/// Returns the event `End`, which must be the last event of the response.
pub(crate) fn end(pieces: &[StreamEvent]) -> &End {
    match pieces.last() {
        Some(StreamEvent::End(end)) => end,
        _ => panic!("no end: {pieces:?}"),
    }
}

pub(crate) fn usage(pieces: &[StreamEvent]) -> TokenUsage {
    end(pieces).usage
}
