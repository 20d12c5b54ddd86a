//! Tests of errors: the kind of an error shows what the caller can do, its message is one sentence,
//! and no event before the error is lost.

use std::time::{Duration, Instant};

use forklore_agent::model::{Model as _, ModelErrorKind, Options, Request, StreamEvent};
use forklore_llm::{HttpModel, ModelConfig, Provider};
use futures_util::StreamExt as _;

use crate::asking::{config, failure, model, request, user};
use crate::endpoint::{Endpoint, Then, ok, refusal};

fn hello() -> Request {
    request(vec![user("Hello")])
}

/// Sends a request to a server with this response in the OpenAI format. Returns the kind and the
/// message of the error.
async fn fails(answer: impl Into<Vec<u8>>, then: Then) -> (ModelErrorKind, String) {
    let endpoint = Endpoint::answering(answer, then);
    failure(&model(Provider::OpenAi, &endpoint.url()), &hello()).await
}

async fn breaks(events: &[&str]) -> (ModelErrorKind, String) {
    let events: String = events.iter().map(|event| format!("{event}\n\n")).collect();
    fails(ok("text/event-stream", &events), Then::Close).await
}

const TEXT: &str = r#"data: {"choices":[{"delta":{"content":"Hi"}}]}"#;

#[tokio::test]
async fn a_wrong_key() {
    let body = r#"{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}"#;
    let (kind, text) = fails(refusal("401 Unauthorized", "", body), Then::Close).await;
    assert_eq!(kind, ModelErrorKind::Key);
    assert_eq!(text, "openai smollm2: 401 Unauthorized: Incorrect API key provided");
}

#[tokio::test]
async fn a_key_that_is_not_set() {
    let named = ModelConfig {
        key_env: Some("FORKLORE_NO_SUCH_KEY".parse().unwrap()),
        ..config(Provider::Anthropic, "http://127.0.0.1:9/v1")
    };
    let model = HttpModel::new(named).unwrap();
    let (kind, message) = failure(&model, &hello()).await;
    assert_eq!(kind, ModelErrorKind::Key);
    let expected =
        "anthropic smollm2: no key: the environment variable FORKLORE_NO_SUCH_KEY is not set";
    assert_eq!(message, expected);
    assert_eq!(model.ready().unwrap_err().to_string(), expected);
    assert!(model.body(&hello()).is_ok(), "what would be sent needs no key");
}

#[tokio::test]
async fn nobody_there() {
    // A port on which no server listens, because it was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let model = model(Provider::OpenAi, &format!("http://127.0.0.1:{port}/v1"));
    let (kind, text) = failure(&model, &hello()).await;
    assert_eq!(kind, ModelErrorKind::Unreachable);
    assert!(text.starts_with("openai smollm2: cannot be reached: Connection refused"), "{text}");
}

#[tokio::test]
async fn an_address_that_is_none() {
    for (address, why) in [
        ("api.example.com/v1", "is no address"),
        ("ftp://api.example.com", "begins with neither http:// nor https://"),
        ("https://me:secret@api.example.com", "holds a user name or a password"),
    ] {
        let error = HttpModel::new(config(Provider::OpenAi, address)).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Invalid);
        let output = error.to_string();
        assert!(output.contains(why) && !output.contains("secret"), "{output}");
    }
}

#[tokio::test]
async fn an_endpoint_that_hangs() {
    let beginning = ok("text/event-stream", &format!("{TEXT}\n\n"));
    let options = Options { patience: Some(Duration::from_millis(300)), ..Options::default() };
    let impatient = Request { options, ..hello() };
    for answer in [Vec::new(), beginning.into_bytes()] {
        let endpoint = Endpoint::answering(answer, Then::Hang);
        let began = Instant::now();
        let (kind, text) = failure(&model(Provider::OpenAi, &endpoint.url()), &impatient).await;
        assert_eq!(kind, ModelErrorKind::TimedOut);
        assert_eq!(text, "openai smollm2: nothing came for 0.3 s");
        assert!(began.elapsed() >= Duration::from_millis(300));
    }
}

#[tokio::test]
async fn too_many_requests() {
    let body = r#"{"error":{"message":"Slow down","type":"rate_limit_error"}}"#;
    let limited = refusal("429 Too Many Requests", "retry-after: 7\r\n", body);
    let (kind, text) = fails(limited, Then::Close).await;
    assert_eq!(kind, ModelErrorKind::Later(Some(Duration::from_secs(7))));
    assert_eq!(text, "openai smollm2: 429 Too Many Requests: Slow down");
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let (kind, _) = fails(refusal("529 ", "", overloaded), Then::Close).await;
    assert_eq!(kind, ModelErrorKind::Later(None));
}

#[tokio::test]
async fn a_history_that_is_too_long() {
    let body = r#"{"error":{"message":"This model's maximum context length is 8 tokens.","code":"context_length_exceeded"}}"#;
    let (kind, _) = fails(refusal("400 Bad Request", "", body), Then::Close).await;
    assert_eq!(kind, ModelErrorKind::TooLong);
}

#[tokio::test]
async fn a_page_instead_of_an_answer() {
    let page = "<html><head><title>Sign in to the network</title></head></html>";
    let (kind, message) = fails(ok("text/html", page), Then::Close).await;
    assert_eq!(kind, ModelErrorKind::Malformed);
    let expected = "openai smollm2: answers with text/html instead of a stream of events: \
                    an HTML page: Sign in to the network";
    assert_eq!(message, expected);
    let (kind, message) = fails(refusal("502 Bad Gateway", "", page), Then::Close).await;
    assert_eq!(kind, ModelErrorKind::Later(None));
    assert_eq!(message, "openai smollm2: 502 Bad Gateway: an HTML page: Sign in to the network");
}

#[tokio::test]
async fn a_redirection_is_not_followed() {
    let moved = refusal("308 Permanent Redirect", "location: http://elsewhere.test/\r\n", "");
    let (kind, message) = fails(moved, Then::Close).await;
    assert_eq!(kind, ModelErrorKind::Malformed);
    assert_eq!(message, "openai smollm2: 308 Permanent Redirect: moved to http://elsewhere.test/");
}

#[tokio::test]
async fn a_malformed_stream() {
    let (kind, text) = breaks(&[TEXT, "data: {\"choices\":"]).await;
    assert_eq!(kind, ModelErrorKind::Malformed);
    assert!(text.contains("an event of the answer is not as expected: EOF"), "{text}");
    let (kind, text) = breaks(&[TEXT, "what is this?"]).await;
    assert_eq!(kind, ModelErrorKind::Malformed);
    assert!(text.contains("the answer is no stream of events"), "{text}");
    let (kind, _) = breaks(&["data: [1]"]).await;
    assert_eq!(kind, ModelErrorKind::Malformed);
    let (kind, _) = fails(ok("text/event-stream", "data: \u{0}\n\n"), Then::Close).await;
    assert_eq!(kind, ModelErrorKind::Malformed);
    let mut bytes = ok("text/event-stream", "data: ").into_bytes();
    bytes.extend_from_slice(b"\xff\xfe\n\n");
    assert_eq!(fails(bytes, Then::Close).await.0, ModelErrorKind::Malformed);
}

#[tokio::test]
async fn an_answer_that_breaks_off() {
    let expected = (ModelErrorKind::Unreachable, "openai smollm2: the answer broke off".to_owned());
    assert_eq!(breaks(&[TEXT]).await, expected);
    assert_eq!(breaks(&[]).await, expected);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 999\r\n\r\n";
    let (kind, text) = fails(format!("{head}{TEXT}\n\n"), Then::Close).await;
    assert_eq!(kind, ModelErrorKind::Unreachable);
    assert!(text.contains("the connection was lost in the middle of the answer"), "{text}");
}

#[tokio::test]
async fn an_error_in_the_middle_of_an_answer() {
    let full = r#"data: {"error":{"message":"the request exceeds the available context size","code":400}}"#;
    let (kind, text) = breaks(&[TEXT, full]).await;
    assert_eq!(kind, ModelErrorKind::TooLong);
    let expected = "openai smollm2: the server ended the answer: \
                    the request exceeds the available context size";
    assert_eq!(text, expected);
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":\
                      {\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}";
    let endpoint = Endpoint::streaming(&[overloaded], Then::Close);
    let (kind, _) = failure(&model(Provider::Anthropic, &endpoint.url()), &hello()).await;
    assert_eq!(kind, ModelErrorKind::Later(None));
}

#[tokio::test]
async fn the_pieces_before_a_failure_are_given() {
    let endpoint = Endpoint::streaming(&[TEXT, TEXT, "data: nonsense"], Then::Close);
    let model = model(Provider::OpenAi, &endpoint.url());
    let request = hello();
    let mut pieces = model.stream(&request).await.unwrap();
    for _ in 0..2 {
        assert_eq!(pieces.next().await.unwrap().unwrap(), StreamEvent::Text("Hi".into()));
    }
    assert!(pieces.next().await.unwrap().is_err());
    assert!(pieces.next().await.is_none(), "nothing follows a failure");
}

#[tokio::test]
async fn a_server_that_writes_without_end() {
    let endless = "x".repeat(200 << 10);
    let (kind, text) = fails(refusal("400 Bad Request", "", &endless), Then::Hang).await;
    assert_eq!(kind, ModelErrorKind::Malformed);
    assert_eq!(text.len(), "openai smollm2: 400 Bad Request: ...".len() + 400);
}
