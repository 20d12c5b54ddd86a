//! Tests of images, documents and texts in requests: their form for each provider, and the notes
//! that replace media that are not sent. They use test doubles, because the real small model reads
//! only text.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use forklore_agent::media::Attached;
use forklore_agent::model::{Model as _, Request};
use forklore_core::attachment::mentions;
use forklore_core::{EventType, Message, Part, Role, payload};
use forklore_engine::Engine;
use forklore_llm::{HttpModel, ModelConfig, Provider};
use forklore_store::memory::MemoryStore;
use serde_json::{Value, json};

use crate::asking::{ask, assistant, call, data, request, result, user};
use crate::endpoint::{Endpoint, Then};

/// Returns the start of a PNG of this width in pixels, followed by `more` bytes.
pub(crate) fn png(width: u32, more: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(b"\0\0\0\x01\x08\x06\0\0\0");
    bytes.resize(bytes.len() + more, b'x');
    bytes
}

/// Stores an attachment. Returns the message part that refers to the attachment.
pub(crate) fn attach(engine: &Engine, mut bytes: &[u8], media_type: &str) -> Value {
    let pin = engine.put_attachment(&mut bytes, 1 << 30).unwrap();
    let name = media_type.replace('/', ".");
    json!({"type": "attachment", "ref": pin.id, "media_type": media_type, "name": name})
}

fn engine() -> Engine {
    let store = Arc::new(MemoryStore::default());
    Engine::new(store.clone())
}

fn message(kind: &EventType, value: &Value) -> Message {
    payload::message(kind, &data(&value.to_string())).unwrap().unwrap()
}

fn shown(parts: &Value) -> Message {
    message(&EventType::USER_MESSAGE, &json!({"content": parts}))
}

fn given(id: &str, parts: &Value, is_error: bool) -> Message {
    let value = json!({"call_id": id, "name": "look", "content": parts, "is_error": is_error});
    message(&EventType::TOOL_RESULT, &value)
}

/// Returns a history with media from every role.
fn everything(engine: &Engine) -> Vec<Message> {
    let shot = attach(engine, &png(7, 0), "image/png");
    let inline = BASE64_STANDARD.encode(png(8, 0));
    let claude = json!({"type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": inline}});
    let gif = BASE64_STANDARD.encode(b"GIF89a\x03\0\x02\0\x80\0\0");
    vec![
        shown(&json!([{"type": "text", "text": "What is this?"}, shot,
            attach(engine, b"%PDF-1.7", "application/pdf"),
            attach(engine, "caf\u{e9}\n".as_bytes(), "text/plain")])),
        Message::parts(
            Role::Assistant,
            vec![
                Part::Text { text: "Let me look.".into() },
                Part::Other { value: data(&claude.to_string()) },
            ],
        ),
        call("call_1", "look", "{}"),
        call("call_2", "look", "{}"),
        call("call_3", "look", "{}"),
        assistant("I am looking."),
        given(
            "call_1",
            &json!([{"type": "text", "text": "Here:"}, shot, {"type": "text", "text": ""}]),
            false,
        ),
        given("call_2", &json!([{"inlineData": {"mimeType": "image/gif", "data": gif}}]), false),
        given("call_3", &json!([{"type": "text", "text": "Failed"}, claude]), true),
        assistant("A cat."),
        shown(&json!([claude])),
    ]
}

fn model(config: ModelConfig) -> HttpModel {
    HttpModel::new(config).unwrap()
}

fn request_with_files(engine: &Engine, messages: Vec<Message>, model: &HttpModel) -> Request {
    let attached = Attached::read(engine, &messages, &model.takes());
    Request { attached, ..request(messages) }
}

fn sent(config: ModelConfig) -> String {
    let (engine, model) = (engine(), model(config));
    let request = request_with_files(&engine, everything(&engine), &model);
    let body = model.body(&request).unwrap();
    let _: Value = serde_json::from_slice(&body).unwrap();
    String::from_utf8(body).unwrap().replace("{\"role\"", "\n{\"role\"")
}

#[test]
fn to_openai() {
    insta::assert_snapshot!(sent(ModelConfig::new(Provider::OpenAi, "m")));
}

#[test]
fn to_anthropic() {
    insta::assert_snapshot!(sent(ModelConfig::new(Provider::Anthropic, "m")));
}

#[test]
fn to_gemini() {
    insta::assert_snapshot!(sent(ModelConfig::new(Provider::Gemini, "m")));
}

#[test]
fn another_server_gets_words_unless_configured_for_images() {
    let elsewhere = ModelConfig {
        base_url: Some("http://localhost:8080/v1".into()),
        ..ModelConfig::new(Provider::OpenAi, "m")
    };
    insta::assert_snapshot!(sent(elsewhere.clone()));
    for config in [
        ModelConfig {
            base_url: elsewhere.base_url.clone(),
            ..ModelConfig::new(Provider::Anthropic, "m")
        },
        ModelConfig::new(Provider::Ollama, "m"),
        ModelConfig { images: Some(false), ..ModelConfig::new(Provider::Gemini, "m") },
    ] {
        assert!(!sent(config.clone()).contains("iVBOR"), "{config:?}");
    }
    let takes = |config: ModelConfig| model(config).takes();
    let reported = takes(ModelConfig { images: Some(true), ..elsewhere });
    let own = takes(ModelConfig::new(Provider::OpenAi, "m"));
    assert_eq!((reported.images, reported.documents), (own.images, false));
    let own = takes(ModelConfig::new(Provider::OpenAi, "m"));
    assert!(own.documents && own.images.contains(&"image/gif"));
}

#[test]
fn what_cannot_be_sent_is_reported_with_the_reason() {
    let engine = engine();
    let wide = BASE64_STANDARD.encode(png(9000, 0));
    let inline = |data: &str| json!({"type": "image", "mimeType": "image/png", "data": data});
    let unknown = json!({"type": "attachment", "media_type": "image/png",
        "ref": format!("sha256:{}", "0".repeat(64)), "name": "gone.png"});
    let parts = json!([
        attach(&engine, &png(1, 4 << 20), "image/png"),
        attach(&engine, b"<html>", "image/png"),
        attach(&engine, b"BM", "image/bmp"),
        attach(&engine, b"\xff\xfe", "text/plain"),
        attach(&engine, "x".repeat(200 << 10).as_bytes(), "text/plain"),
        attach(&engine, b"RIFF", "audio/wav"),
        unknown,
        inline(&wide),
        inline("iVBOR"),
        inline(&"A".repeat(6 << 20)),
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
    ]);
    let model = model(ModelConfig::new(Provider::Anthropic, "m"));
    let body = model.body(&request_with_files(&engine, vec![shown(&parts)], &model)).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let blocks = body["messages"][0]["content"].as_array().unwrap().iter();
    let texts: Vec<_> = blocks.map(|block| block["text"].as_str().unwrap()).collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn a_small_model_is_sent_short_texts() {
    let engine = engine();
    let text = attach(&engine, "x".repeat(5_000).as_bytes(), "text/markdown");
    let sent = |context_window| {
        let config = ModelConfig { context_window, ..ModelConfig::new(Provider::Ollama, "m") };
        let model = model(config);
        let request = request_with_files(&engine, vec![shown(&json!([text]))], &model);
        String::from_utf8(model.body(&request).unwrap()).unwrap().contains("xxxx")
    };
    assert_eq!([sent(Some(4_096)), sent(Some(5_000)), sent(None)], [false, true, true]);
}

/// Returns the shortest complete response in the format of a provider.
fn answer(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "data: {\"type\":\"message_stop\"}",
        Provider::Gemini => {
            r#"data: {"candidates":[{"content":{"parts":[{"text":"A."}]},"finishReason":"STOP"}]}"#
        }
        _ => r#"data: {"choices":[{"delta":{"content":"A."},"finish_reason":"stop"}]}"#,
    }
}

/// A test server receives the same bytes that `body` returns.
#[tokio::test]
async fn the_bytes_of_an_image_arrive() {
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
        let endpoint = Endpoint::streaming(&[answer(provider)], Then::Close);
        let (engine, model) = (
            engine(),
            model(ModelConfig {
                base_url: Some(endpoint.url()),
                images: Some(true),
                ..ModelConfig::new(provider, "m")
            }),
        );
        let image = png(5, 3 << 20);
        let part = attach(&engine, &image, "image/png");
        let id = mentions(&data(&part.to_string())).remove(0).id;
        let history = vec![
            user("Look."),
            shown(&json!([part])),
            assistant("I see."),
            call("c", "look", "{}"),
            result("c", "done"),
            user("What is it?"),
        ];
        let request = request_with_files(&engine, history, &model);
        assert!(request.attached.get(&id.to_string()).is_ok());
        ask(&model, &request).await.unwrap();
        let body = endpoint.received().body;
        assert_eq!(body, model.body(&request).unwrap());
        let body = String::from_utf8(body).unwrap();
        assert_eq!(body.matches(&BASE64_STANDARD.encode(&image)).count(), 1, "{provider:?}");
    }
}
