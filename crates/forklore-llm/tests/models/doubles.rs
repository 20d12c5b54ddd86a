//! Tests with doubles of APIs that cannot run here. The doubles send what the providers'
//! documentation shows: Anthropic's messages with thinking and cached tokens, Gemini's stream, and
//! OpenAI's newer fields.

use forklore_agent::model::{End, EndReason, Model as _, Request, StreamEvent, TokenUsage};
use forklore_agent::tool::ToolCall;
use forklore_llm::Provider;

use crate::asking::{ask, call, data, model, request, user, weather};
use crate::endpoint::{Endpoint, Then, ok};

/// Lets the double answer with `events` and returns everything that the model yields.
async fn all(provider: Provider, events: &[&str]) -> Vec<StreamEvent> {
    let endpoint = Endpoint::streaming(events, Then::Close);
    let model = model(provider, &endpoint.url());
    ask(&model, &request(vec![user("Hello")])).await.unwrap()
}

/// Lets the double answer with `events` and returns what the model yields, except the reports of
/// intermediate usage (see [`so_far`]).
async fn pieces(provider: Provider, events: &[&str]) -> Vec<StreamEvent> {
    let mut text = all(provider, events).await;
    text.retain(|piece| !matches!(piece, StreamEvent::Usage { .. }));
    text
}

/// Returns each intermediate usage of a response: input tokens, output tokens and request id.
async fn so_far(provider: Provider, events: &[&str]) -> Vec<(Option<u64>, Option<u64>, String)> {
    let usages = all(provider, events).await.into_iter().filter_map(|piece| match piece {
        StreamEvent::Usage { usage, request_id } => Some((usage.input, usage.output, request_id?)),
        _ => None,
    });
    usages.collect()
}

#[tokio::test]
async fn the_usage_of_an_answer_is_reported_at_once() {
    let anthropic = [
        r#"data: {"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":25,"cache_read_input_tokens":75,"output_tokens":1}}}"#,
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#,
        r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}"#,
        r#"data: {"type":"message_stop"}"#,
    ];
    let output = |input, output, id: &str| (Some(input), output, id.to_owned());
    let expected = [output(100, Some(1), "msg_1"), output(100, Some(9), "msg_1")];
    assert_eq!(so_far(Provider::Anthropic, &anthropic).await, expected);
    let gemini = [
        r#"data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]}}],"usageMetadata":{"promptTokenCount":50},"responseId":"r1"}"#,
        r#"data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":2},"responseId":"r1"}"#,
    ];
    let expected = [output(50, None, "r1"), output(50, Some(2), "r1")];
    assert_eq!(so_far(Provider::Gemini, &gemini).await, expected);
    let openai = [
        r#"data: {"id":"c1","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#,
        r#"data: {"id":"c1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":1}}"#,
        "data: [DONE]",
    ];
    assert_eq!(so_far(Provider::OpenAi, &openai).await, [output(7, Some(1), "c1")]);
}

fn text(text: &str) -> StreamEvent {
    StreamEvent::Text(text.into())
}

fn thinking(text: &str) -> StreamEvent {
    StreamEvent::Thinking(text.into())
}

fn called(id: &str, name: &str, arguments: &str) -> StreamEvent {
    let arguments = data(arguments);
    StreamEvent::Call(ToolCall { id: id.into(), name: name.into(), arguments })
}

fn thought(text: &str, opaque: Option<&str>) -> StreamEvent {
    StreamEvent::Thought { text: text.into(), opaque: opaque.map(data) }
}

fn end(reason: EndReason, usage: [Option<u64>; 4], id: &str) -> StreamEvent {
    let [input, output, cached, cache_written] = usage;
    let usage = TokenUsage { input, output, cached, cache_written };
    StreamEvent::End(End { reason, usage, request_id: Some(id.into()) })
}

#[tokio::test]
async fn anthropic_thinks_speaks_and_calls() {
    let events = [
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"claude\",\"stop_reason\":null,\"usage\":{\"input_tokens\":25,\"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":2000,\"output_tokens\":1}}}",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}",
        "event: ping\ndata: {\"type\": \"ping\"}",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Let me \"}}",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"see.\"}}",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"EqQB\"}}",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"Emwx\"}}",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":\"Okay\"}}",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"weather\",\"input\":{}}}",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"city\\\": \\\"San\"}}",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\" Francisco\\\"}\"}}",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":3}",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":89}}",
        "event: some_new_event\ndata: {\"type\":\"some_new_event\",\"delta\":7}",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}",
    ];
    let signed = r#"{"type":"thinking","thinking":"Let me see.","signature":"EqQB"}"#;
    let redacted = r#"{"type":"redacted_thinking","data":"Emwx"}"#;
    let usage = [Some(2125), Some(89), Some(2000), Some(100)];
    assert_eq!(
        pieces(Provider::Anthropic, &events).await,
        [
            thinking("Let me "),
            thinking("see."),
            thought("Let me see.", Some(signed)),
            thought("", Some(redacted)),
            text("Okay"),
            called("toolu_1", "weather", r#"{"city": "San Francisco"}"#),
            end(EndReason::Calls, usage, "msg_1"),
        ]
    );
}

#[tokio::test]
async fn gemini_thinks_speaks_and_calls() {
    let events = [
        r#"data: {"candidates":[{"content":{"parts":[{"text":"Looking","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":50},"modelVersion":"gemini","responseId":"r1"}"#,
        r#"data: {"candidates":[{"content":{"parts":[{"text":"I will "}],"role":"model"}}],"responseId":"r1"}"#,
        r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"weather","args":{"city":"Paris"}},"thoughtSignature":"CtQ="}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":50,"cachedContentTokenCount":40,"candidatesTokenCount":12,"thoughtsTokenCount":5,"totalTokenCount":67},"responseId":"r1"}"#,
    ];
    assert_eq!(
        pieces(Provider::Gemini, &events).await,
        [
            thinking("Looking"),
            thought("Looking", None),
            text("I will "),
            thought("", Some(r#"{"thoughtSignature":"CtQ="}"#)),
            called("", "weather", r#"{"city":"Paris"}"#),
            end(EndReason::Calls, [Some(50), Some(17), Some(40), None], "r1"),
        ]
    );
}

#[tokio::test]
async fn gemini_holds_a_prompt_back() {
    let event = r#"data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":8},"responseId":"r2"}"#;
    let expected = [end(EndReason::Refused, [Some(8), None, None, None], "r2")];
    assert_eq!(pieces(Provider::Gemini, &[event]).await, expected);
}

#[tokio::test]
async fn openai_calls_twice_at_a_time() {
    let events = [
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":null},"finish_reason":null}],"usage":null}"#,
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"reasoning_content":"Both."}}]}"#,
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":""}}]}}]}"#,
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}}]}"#,
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"time","arguments":""}},{"index":0,"function":{"arguments":"\"Rome\"}"}}]}}]}"#,
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":90,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":64}}}"#,
        "data: [DONE]",
    ];
    assert_eq!(
        pieces(Provider::OpenAi, &events).await,
        [
            thinking("Both."),
            thought("Both.", Some(r#"{"field":"reasoning_content"}"#)),
            called("call_a", "weather", r#"{"city":"Rome"}"#),
            called("call_b", "time", "{}"),
            end(EndReason::Calls, [Some(90), Some(20), Some(64), None], "chatcmpl-1"),
        ]
    );
}

#[tokio::test]
async fn arguments_that_are_no_json_stay_text_unless_they_were_cut_off() {
    let message = |finish: &str| {
        [
            r#"data: {"id":"c","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"weather","arguments":"{\"city\": Pa"}}]}}]}"#.to_owned(),
            format!(r#"data: {{"id":"c","choices":[{{"delta":{{}},"finish_reason":"{finish}"}}]}}"#),
        ]
    };
    let none = [None; 4];
    let [first, last] = message("tool_calls");
    assert_eq!(
        pieces(Provider::OpenAi, &[&first, &last]).await,
        [called("a", "weather", r#""{\"city\": Pa""#), end(EndReason::Calls, none, "c")]
    );
    let [first, last] = message("length");
    let cut_off = [end(EndReason::Length, none, "c")];
    assert_eq!(pieces(Provider::OpenAi, &[&first, &last]).await, cut_off);
}

#[tokio::test]
async fn what_a_model_answered_goes_back_to_it_as_it_came() {
    // The next request has the signature in the part with Gemini's call.
    let endpoint = Endpoint::answering(ok("text/event-stream", ""), Then::Close);
    let model = model(Provider::Gemini, &endpoint.url());
    let name = model.name().clone();
    let thought = forklore_core::Part::Reasoning {
        text: String::new(),
        provider: Some(name.provider),
        model: Some(name.model),
        opaque: Some(data(r#"{"content":"","opaque":{"thoughtSignature":"CtQ="}}"#)),
    };
    let thought = forklore_core::Message::parts(forklore_core::Role::Assistant, vec![thought]);
    let history = vec![user("Hello"), thought, call("a", "weather", r#"{"city":"Paris"}"#)];
    let request = Request { tools: vec![weather()], ..request(history) };
    let _ = ask(&model, &request).await;
    let sent = endpoint.received();
    let line = sent.head.lines().next().unwrap();
    assert_eq!(line, "POST /v1/models/smollm2:streamGenerateContent?alt=sse HTTP/1.1");
    assert_eq!(sent.body, model.body(&request).unwrap(), "what is shown is what is sent");
    let body = String::from_utf8(sent.body).unwrap();
    let part =
        r#"{"functionCall":{"name":"weather","args":{"city":"Paris"}},"thoughtSignature":"CtQ="}"#;
    assert!(body.contains(part), "{body}");
}

#[tokio::test]
async fn what_is_shown_is_what_is_sent() {
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Ollama] {
        let endpoint = Endpoint::answering(ok("text/event-stream", ""), Then::Close);
        let model = model(provider, &endpoint.url());
        let request = Request { tools: vec![weather()], shared: 1, ..request(vec![user("Hello")]) };
        assert!(ask(&model, &request).await.is_err());
        assert_eq!(endpoint.received().body, model.body(&request).unwrap());
    }
}
