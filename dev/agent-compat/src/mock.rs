//! A fake model on the loopback interface that speaks the protocols of the providers. It always
//! gives the same answer, unless it is offered [forklore's tools](crate::tools), and records the
//! requests.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::error::{Error, Result};
use crate::tools::{self, Call};

/// The text of every answer that the fake model gives.
const ANSWER: &str = "understood";

/// A running fake model: a server that records the agents' requests and always gives the same
/// answer.
pub(crate) struct Mock {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

/// A request that an agent sent to the fake model.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    pub(crate) body: Value,
}

impl Mock {
    /// Starts the fake model on a free port. It runs until the program ends.
    pub(crate) fn start() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .map_err(Error::Mock)?;
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = runtime.block_on(TcpListener::bind(any)).map_err(Error::Mock)?;
        let port = listener.local_addr().map_err(Error::Mock)?.port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&requests);
        thread::spawn(move || runtime.block_on(serve(&listener, &shared)));
        Ok(Self { port, requests })
    }

    /// Returns the requests that the fake model received since the last call of this method.
    pub(crate) fn take(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn serve(listener: &TcpListener, requests: &Arc<Mutex<Vec<ReceivedRequest>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let requests = Arc::clone(requests);
        let service = service_fn(move |request| answer(request, Arc::clone(&requests)));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        // An error only means that the client disconnected, which is not a failure.
        tokio::spawn(async move { drop(connection.await) });
    }
}

async fn answer(
    request: Request<Incoming>,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let bytes = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    let body = serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or(Value::Null);
    let (kind, text) = response(&path, &body);
    requests.lock().unwrap_or_else(PoisonError::into_inner).push(ReceivedRequest { path, body });
    let mut response = Response::new(Full::from(text));
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    Ok(response)
}

/// Returns the content type and the body of the fake model's answer to a request. The request's
/// `path` determines the provider's format.
fn response(path: &str, body: &Value) -> (&'static str, String) {
    if path.ends_with("/responses") {
        return events(&responses(tools::next(body).as_ref()));
    }
    if path.ends_with("/chat/completions") {
        let stream = body.get("stream") == Some(&Value::Bool(true));
        let call = tools::next(body);
        return if stream { events(&chunks(call.as_ref())) } else { document(&completion()) };
    }
    if path.ends_with("/messages") {
        return events(&messages(tools::next(body).as_ref()));
    }
    if path.contains("streamGenerateContent") {
        return events(&[(None, generated(tools::next(body).as_ref()).to_string())]);
    }
    if path.contains("generateContent") {
        return document(&generated(None));
    }
    if path.contains("countTokens") {
        return document(&json!({"totalTokens": 10}));
    }
    document(
        &json!({"object": "list", "data": [{"id": "mock-model", "object": "model"}], "models": []}),
    )
}

fn document(value: &Value) -> (&'static str, String) {
    ("application/json", value.to_string())
}

type Event = (Option<&'static str>, String);

fn events(events: &[Event]) -> (&'static str, String) {
    let text = events.iter().map(|(name, data)| match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    });
    ("text/event-stream", text.collect())
}

fn responses(call: Option<&Call>) -> Vec<Event> {
    let mut item = match call {
        None => json!({"type": "message", "id": "msg_1", "role": "assistant",
            "content": [{"type": "output_text", "text": ANSWER}]}),
        Some(Call { id, name, arguments, .. }) => json!({"type": "function_call", "id": id,
            "call_id": id, "name": name, "arguments": arguments.to_string()}),
    };
    if let (Some(Call { namespace: Some(group), .. }), Some(item)) = (call, item.as_object_mut()) {
        item.insert("namespace".to_owned(), json!(group));
    }
    let usage = json!({"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2});
    let event = |name: &'static str, data: Value| (Some(name), data.to_string());
    let (created, added) = ("response.created", "response.output_item.added");
    let (done, completed) = ("response.output_item.done", "response.completed");
    vec![
        event(created, json!({"type": created, "response": {"id": "resp_1"}})),
        event(added, json!({"type": added, "output_index": 0, "item": item})),
        event(done, json!({"type": done, "output_index": 0, "item": item})),
        event(completed, json!({"type": completed, "response": {"id": "resp_1", "usage": usage}})),
    ]
}

/// Returns the answer of Anthropic's protocol.
fn messages(call: Option<&Call>) -> Vec<Event> {
    let event = |name: &'static str, mut data: Value| {
        if let Some(data) = data.as_object_mut() {
            data.insert("type".to_owned(), json!(name));
        }
        (Some(name), data.to_string())
    };
    let (block, delta, stop) = match call {
        None => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": ANSWER}),
            "end_turn",
        ),
        Some(Call { id, name, arguments, .. }) => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
            "tool_use",
        ),
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant",
        "model": "mock-model", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": usage});
    let end = json!({"stop_reason": stop, "stop_sequence": null});
    vec![
        event("message_start", json!({"message": message})),
        event("content_block_start", json!({"index": 0, "content_block": block})),
        event("content_block_delta", json!({"index": 0, "delta": delta})),
        event("content_block_stop", json!({"index": 0})),
        event("message_delta", json!({"delta": end, "usage": {"output_tokens": 1}})),
        event("message_stop", json!({})),
    ]
}

fn chunks(call: Option<&Call>) -> Vec<Event> {
    let chunk = |choices: Value| {
        let data = json!({"id": "cmpl-1", "object": "chat.completion.chunk", "created": 1,
            "model": "mock-model", "choices": choices,
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}});
        (None, data.to_string())
    };
    let (delta, reason) = match call {
        None => (json!({"role": "assistant", "content": ANSWER}), "stop"),
        Some(Call { id, name, arguments, .. }) => {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call = json!({"index": 0, "id": id, "type": "function", "function": function});
            (json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
        }
    };
    vec![
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}])),
        (None, "[DONE]".to_owned()),
    ]
}

fn completion() -> Value {
    let message = json!({"role": "assistant", "content": ANSWER});
    json!({"id": "cmpl-1", "object": "chat.completion", "created": 1, "model": "mock-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
}

fn generated(call: Option<&Call>) -> Value {
    let part = match call {
        None => json!({"text": ANSWER}),
        Some(Call { name, arguments, .. }) => {
            json!({"functionCall": {"name": name, "args": arguments}})
        }
    };
    let content = json!({"role": "model", "parts": [part]});
    json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "modelVersion": "mock-model", "responseId": "r1"})
}
