//! Tests of endless responses: the client ends each one early, whichever part of the response is
//! endless.

use forklore_agent::model::{Model as _, ModelErrorKind, StreamEvent};
use forklore_llm::Provider;
use futures_util::StreamExt as _;

use crate::asking::{model, request, user};
use crate::endpoint::Endpoint;

/// The maximum number of bytes that the server may have sent and the client has not read: the size
/// of the socket buffers.
const BETWEEN: usize = 16 << 20;

/// Sends a request to a server that sends `beginning` and then repeats `more` endlessly. Returns
/// the error message, and the number of bytes that the server sent.
async fn cut(provider: Provider, beginning: &str, more: &str) -> (String, usize) {
    let (url, accepted) = Endpoint::endless(beginning, more);
    let model = model(provider, &url);
    let request = request(vec![user("Hello")]);
    let mut pieces = model.stream(&request).await.unwrap();
    let error = loop {
        match pieces.next().await.unwrap() {
            Ok(StreamEvent::Call(call)) => panic!("{call:?}"),
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind, ModelErrorKind::Malformed, "{error}");
    assert!(pieces.next().await.is_none());
    drop(pieces);
    let received = tokio::task::spawn_blocking(move || accepted.recv().unwrap()).await.unwrap();
    (error.message, received)
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

#[tokio::test]
async fn a_line_and_an_event_without_end() {
    for (beginning, more) in [("data: ", "x"), ("", "data: x\n"), ("", "data: x\r\n")] {
        let (why, accepted) = cut(Provider::OpenAi, beginning, more).await;
        assert_eq!(why, "an event of the answer is longer than 8 MiB");
        assert!(accepted < (8 << 20) + BETWEEN, "{accepted}");
    }
}

#[tokio::test]
async fn arguments_without_end() {
    let piece = "x".repeat(8_000);
    let why = "the answer is longer than any should be: it has more than 2 MiB of arguments";
    let openai = |index: &str| {
        event(&format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":{index},"function":{{"name":"","arguments":"{piece}"}}}}]}}}}]}}"#
        ))
    };
    let input = event(&format!(
        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{piece}"}}}}"#
    ));
    let tool = event(
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}"#,
    );
    let two = openai("0") + &openai("1");
    for (provider, beginning, more) in
        [(Provider::OpenAi, "", &two), (Provider::Anthropic, &*tool, &input)]
    {
        let (text, accepted) = cut(provider, beginning, more).await;
        assert_eq!(text, why);
        assert!(accepted < (3 << 20) + BETWEEN, "{accepted}");
    }
}

#[tokio::test]
async fn calls_names_and_thinking_without_end() {
    let called =
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"n"}}]}}]}"#;
    let (why, _) = cut(Provider::OpenAi, "", &event(called)).await;
    assert_eq!(
        why,
        "the answer is longer than any should be: it has more than 1024 bytes in a call's name"
    );
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n"}}"#;
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    let (why, _) = cut(Provider::Anthropic, "", &(event(block) + &event(stop))).await;
    assert_eq!(why, "the answer is longer than any should be: it has more than 128 calls");

    let thought = "x".repeat(4_000);
    let many = "the answer is longer than any should be: it has more than 1 MiB of thinking";
    let openai = format!(r#"{{"choices":[{{"delta":{{"reasoning_content":"{thought}"}}}}]}}"#);
    let begins = event(
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
    );
    let delta = |kind: &str, field: &str| {
        let data = format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"{kind}","{field}":"{thought}"}}}}"#
        );
        event(&data)
    };
    let gemini = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{thought}","thought":true}}]}}}}]}}"#
    );
    for (provider, beginning, more) in [
        (Provider::OpenAi, "", event(&openai)),
        (Provider::Anthropic, &*begins, delta("thinking_delta", "thinking")),
        (Provider::Anthropic, &*begins, delta("signature_delta", "signature")),
        (Provider::Gemini, "", event(&gemini)),
    ] {
        let (why, accepted) = cut(provider, beginning, &more).await;
        assert_eq!(why, many);
        assert!(accepted < (2 << 20) + BETWEEN, "{accepted}");
    }
}
