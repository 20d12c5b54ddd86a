//! Tests that an API key appears in its request header and nowhere else.
//!
//! Each test runs in a process of its own, because it needs its own environment.

use std::process::Command;

use forklore_agent::model::Model as _;
use forklore_llm::{HttpModel, ModelConfig, Provider};
use futures_util::StreamExt as _;

use crate::asking::{ask, calls, config, request, texts, user};
use crate::endpoint::{Endpoint, Then, refusal};

/// The API key in the environment of the process that sends requests.
const KEY: &str = "sk-forklore-0123456789";
const VARIABLE: &str = "FORKLORE_TEST_KEY";

/// Returns true in a process that has the key in its environment. In any other process, runs the
/// test with this name in such a process, and returns false.
fn has_key(test: &str) -> bool {
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    let again = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(VARIABLE, KEY)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&again.stdout) + String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success() && output.contains("1 passed"), "{output}");
    assert!(!output.contains(KEY), "the key was printed");
    false
}

fn keyed(provider: Provider, base_url: &str) -> HttpModel {
    let config =
        ModelConfig { key_env: Some(VARIABLE.parse().unwrap()), ..config(provider, base_url) };
    HttpModel::new(config).unwrap()
}

#[tokio::test]
async fn a_key_stands_in_its_header_and_nowhere_else() {
    if !has_key("keys::a_key_stands_in_its_header_and_nowhere_else") {
        return;
    }
    // Some servers repeat the header that they received.
    let echo = format!("{{\"error\":{{\"message\":\"no such key: {KEY}\"}}}}");
    let forms = [
        (Provider::OpenAi, "authorization", format!("Bearer {KEY}")),
        (Provider::Ollama, "authorization", format!("Bearer {KEY}")),
        (Provider::Anthropic, "x-api-key", KEY.to_owned()),
        (Provider::Gemini, "x-goog-api-key", KEY.to_owned()),
    ];
    for (provider, header, value) in forms {
        let endpoint = Endpoint::answering(refusal("401 Unauthorized", "", &echo), Then::Close);
        let model = keyed(provider, &endpoint.url());
        let error = ask(&model, &request(vec![user("Hello")])).await.unwrap_err();

        let requests = endpoint.received();
        assert_eq!(requests.header(header), Some(&*value));
        assert_eq!(requests.head.matches(KEY).count(), 1, "{}", requests.head);
        assert!(!String::from_utf8(requests.body).unwrap().contains(KEY));
        let body = model.body(&request(vec![user("Hello")])).unwrap();
        let shown = format!("{error} {error:?} {model:?} {:?} {body:?}", model.config());
        assert!(shown.contains("no such key: [key]"), "{shown}");
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[tokio::test]
async fn a_part_of_a_key_is_in_no_error() {
    if !has_key("keys::a_part_of_a_key_is_in_no_error") {
        return;
    }
    // Some providers mask a key in their errors, and some proxies escape it.
    let coded: String = KEY.chars().map(|char| format!("%{:02X}", u32::from(char))).collect();
    let escaped: String = KEY.chars().map(|char| format!("\\u{:04x}", u32::from(char))).collect();
    let masked = "no such key: sk-forkl***********6789";
    for (kind, body, expected) in [
        (
            "application/json",
            format!("{{\"error\":{{\"message\":\"{masked}\"}}}}"),
            "no such key: [key]",
        ),
        (
            "application/json",
            format!("{{\"error\":\"no such key: {escaped}\"}}"),
            "no such key: [key]",
        ),
        ("application/json", format!("{{\"error: {escaped}"), "{\"error: [key]"),
        ("text/plain", format!("/v1?key={coded}&x"), "/v1?key=[key]&x"),
        (
            "text/html",
            "<title>sk-forklore-0... &#115;</title>".into(),
            "an HTML page: [key]... &#115;",
        ),
    ] {
        let head = format!("content-type: {kind}\r\n");
        let refused = refusal("401 Unauthorized", &head, &body);
        let endpoint = Endpoint::answering(refused, Then::Close);
        let model = keyed(Provider::OpenAi, &endpoint.url());
        let error = ask(&model, &request(vec![user("Hello")])).await.unwrap_err();
        assert_eq!(error.message, format!("401 Unauthorized: {expected}"));
    }
    // The source of a parse error repeats values of the response too.
    let event = format!("data: {{\"choices\":\"{KEY}\"}}");
    let endpoint = Endpoint::streaming(&[&event], Then::Close);
    let model = keyed(Provider::OpenAi, &endpoint.url());
    let error = ask(&model, &request(vec![user("Hello")])).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.to_string().contains("[key]"), "{source}");
    assert!(!format!("{error} {error:?} {source}").contains("0123456"), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_repeats_the_key_is_given_without_it() {
    if !has_key("keys::an_answer_that_repeats_the_key_is_given_without_it") {
        return;
    }
    let (a, b) = KEY.split_at(7);
    let text = |text: &str| format!(r#"data: {{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
    let called = format!(
        r#"data: {{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"c","function":{{"name":"echo","arguments":"{{\"a\":\"{KEY}\"}}"}}}}]}},"finish_reason":"tool_calls"}}]}}"#
    );
    let text = [text("it is "), text(a), text(b), text("!"), called];
    let text: Vec<&str> = text.iter().map(String::as_str).collect();
    let endpoint = Endpoint::streaming(&text, Then::Close);
    let model = keyed(Provider::OpenAi, &endpoint.url());
    let pieces = ask(&model, &request(vec![user("Hello")])).await.unwrap();
    assert_eq!(texts(&pieces).concat(), "it is [key]!");
    assert_eq!(calls(&pieces)[0].arguments.get(), r#"{"a":"[key]"}"#);
    assert!(!format!("{pieces:?}").contains(KEY), "{pieces:?}");
    // If the response ends in the middle of the key, the part of the key is passed on as text.
    let endpoint = Endpoint::streaming(&text[..2], Then::Close);
    let model = keyed(Provider::OpenAi, &endpoint.url());
    let request = request(vec![user("Hello")]);
    let pieces: Vec<_> = model.stream(&request).await.unwrap().collect().await;
    let received: Vec<_> = pieces.iter().flatten().cloned().collect();
    assert_eq!(texts(&received).concat(), format!("it is {a}"));
    assert!(pieces.last().unwrap().is_err());
}

#[tokio::test]
async fn a_key_is_in_no_error_of_the_connection() {
    if !has_key("keys::a_key_is_in_no_error_of_the_connection") {
        return;
    }
    for address in ["http://127.0.0.1:1/v1", "https://127.0.0.1:1/v1"] {
        for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
            let model = keyed(provider, address);
            let error = ask(&model, &request(vec![user("Hello")])).await.unwrap_err();
            assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
        }
    }
}

#[tokio::test]
async fn no_key_goes_where_none_was_named() {
    let endpoint = Endpoint::answering(refusal("401 Unauthorized", "", ""), Then::Close);
    let model = HttpModel::new(config(Provider::OpenAi, &endpoint.url())).unwrap();
    assert!(ask(&model, &request(vec![user("Hello")])).await.is_err());
    let requests = endpoint.received();
    assert_eq!(requests.header("authorization"), None);
}
