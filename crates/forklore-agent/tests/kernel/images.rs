//! Tests of images that the person attaches and of images that tools return.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use forklore_agent::media::{Capabilities, Media, NotSent};
use forklore_agent::model::{AnswerStream, Model, ModelName, ModelResult, Request};
use forklore_agent::tool::{CallContext, ToolCall, ToolOutcome, ToolSpec, Tools};
use forklore_agent::{Prompt, SessionConfig};
use forklore_core::{Data, Part};
use forklore_engine::{Attach, Engine};
use forklore_store::memory::MemoryStore;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::scripted::{Scripted, calls, says};
use crate::world::{World, equipment, new_session};

/// The scripted model, with the capability to receive images.
struct Seeing(Arc<Scripted>);

impl Model for Seeing {
    fn name(&self) -> &ModelName {
        self.0.name()
    }

    fn context_window(&self) -> Option<u64> {
        None
    }

    fn takes(&self) -> Capabilities {
        Capabilities {
            images: &["image/png"],
            most: 1 << 20,
            most_together: 2 << 20,
            most_images: 10,
            text: 1_000,
            ..Capabilities::default()
        }
    }

    fn stream<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, ModelResult<AnswerStream<'a>>> {
        self.0.stream(request)
    }

    fn body(&self, request: &Request) -> ModelResult<Vec<u8>> {
        self.0.body(request)
    }
}

/// A tool that returns its arguments as its result.
struct Gives;

impl Tools for Gives {
    fn specs(&self) -> Vec<ToolSpec> {
        let parameters = Data::parse(r#"{"type":"object"}"#).unwrap();
        vec![ToolSpec { name: "look".into(), description: "look".into(), parameters }]
    }

    fn call<'a>(&'a self, call: &'a ToolCall, _: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
        let content = call.arguments.clone();
        async move { ToolOutcome { content, is_error: false } }.boxed()
    }
}

fn png(width: u32, more: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(b"\0\0\0\x01\x08\x06\0\0\0");
    bytes.resize(bytes.len() + more, b'x');
    bytes
}

fn seeing(model: &Arc<Scripted>) -> SessionConfig {
    let model_with_eyes = Arc::new(Seeing(model.clone()));
    SessionConfig { model: model_with_eyes, tools: Arc::new(Gives), ..equipment(model) }
}

/// Returns the bytes that the request sends for an attachment, which is an image or a text.
fn sent(request: &Request, reference: &str) -> Result<Vec<u8>, NotSent> {
    request.attached.get(reference).map(|media| match media {
        Media::Shown { base64, .. } => BASE64_STANDARD.decode(base64).unwrap(),
        Media::Text(text) => text.clone().into_bytes(),
    })
}

#[tokio::test]
async fn a_prompt_has_files_with_it() {
    let world = World::new();
    let model = Scripted::new(vec![says("a cat"), says("a dog")]);
    let session = world.kernel.create(new_session(), seeing(&model));
    let engine = world.kernel.engine();
    let pin = Arc::new(engine.put_attachment(&mut png(2, 0).as_slice(), 1_000).unwrap());
    let reference = pin.id.to_string();
    let prompt = Prompt::from("What is this?")
        .attach(pin, "image/png", Some("cat.png"))
        .with(Part::Other { value: Data::parse(r#"{"type":"x"}"#).unwrap() });
    session.execute(prompt).await.unwrap();
    let part = json!({"type": "attachment", "ref": reference, "media_type": "image/png",
        "name": "cat.png"});
    let content = json!([{"type": "text", "text": "What is this?"}, part, {"type": "x"}]);
    assert_eq!(world.events(&session.id())[0].1, json!({ "content": content }));
    // Between turns, another writer attaches two texts. One of them is too long to be sent.
    let attach = |text: &str| {
        let request = Attach { media_type: "text/plain".into(), ..Attach::default() };
        engine.attach(&session.id(), &mut text.as_bytes(), &request).unwrap().id.to_string()
    };
    let (short, long) = (attach("a note"), attach(&"x".repeat(1_001)));
    session.execute("And now?").await.unwrap();
    let requests = model.requests();
    assert_eq!(sent(&requests[0], &reference), Ok(png(2, 0)));
    assert_eq!(sent(&requests[1], &reference), Ok(png(2, 0)));
    assert_eq!(sent(&requests[1], &short), Ok(b"a note".to_vec()));
    assert_eq!(sent(&requests[1], &long), Err(NotSent::TooLarge));
    // The image is sent in a fork too, but not to a model that accepts no images.
    let child = session.fork(forklore_engine::Fork::of(session.id())).await.unwrap().child;
    child.execute("again").await.unwrap();
    assert_eq!(sent(&model.requests()[2], &reference), Ok(png(2, 0)));
    child.equip(|it| it.model = model.clone());
    child.execute("and again").await.unwrap();
    assert_eq!(sent(&model.requests()[3], &reference), Err(NotSent::NotAccepted));
}

#[tokio::test]
async fn an_image_from_a_tool_is_stored_as_an_attachment_and_sent() {
    let world = World::new();
    let image = png(3, 300_000);
    let inline = |media_type: &str, data: &str| json!({"type": "image", "media_type": media_type, "data": data});
    let text = json!({"type": "text", "text": "Here:"});
    let given = json!([
        text,
        inline("image/jpeg", &BASE64_STANDARD.encode(&image)),
        {"type": "resource", "media_type": "a b\u{7}", "data": "AAAA", "uri": "file:///x.bin"},
        inline("image/png", "no base64"),
    ]);
    let model = Scripted::new(vec![calls(&[("c", "look", &given.to_string())]), says("a cat")]);
    let session = world.kernel.create(new_session(), seeing(&model));
    session.execute("Look.").await.unwrap();
    let events = world.events(&session.id());
    let (_, result) = events.iter().find(|(kind, _)| kind == "tool_result").unwrap();
    let parts = result["content"].as_array().unwrap();
    let reference = |part: &Value| part["ref"].as_str().unwrap().to_owned();
    let (shown, blob) = (reference(&parts[1]), reference(&parts[2]));
    let expected = json!([
        text,
        {"type": "attachment", "ref": shown, "media_type": "image/png"},
        {"type": "attachment", "ref": blob, "media_type": "application/octet-stream",
            "uri": "file:///x.bin"},
        {"type": "text",
            "text": "[image/png, 9 bytes of base64, left out: it is damaged]"},
    ]);
    assert_eq!((&result["content"], result.get("whole")), (&expected, None));
    let mut stored = Vec::new();
    world.kernel.engine().read_attachment(&blob.parse().unwrap(), &mut stored).unwrap();
    assert_eq!(stored, [0, 0, 0]);
    assert_eq!(sent(&model.requests()[1], &shown), Ok(image));
    // The attachments survive a `gc`, although only the tool result names them.
    let swept = world.kernel.engine().gc().unwrap();
    assert_eq!(swept.attachments, 0);
}

#[tokio::test]
async fn a_store_without_attachments_keeps_small_images_in_the_log() {
    let world = World::over(Engine::new(Arc::new(MemoryStore::without_attachments())));
    let inline = |bytes: usize| {
        json!({"type": "image", "media_type": "image/png",
            "data": BASE64_STANDARD.encode(png(3, bytes))})
    };
    let (small, large) = (inline(10), inline(100_000));
    let given = json!([small, large]).to_string();
    let model = Scripted::new(vec![calls(&[("c", "look", &given)]), says("a cat")]);
    let session = world.kernel.create(new_session(), seeing(&model));
    session.execute("Look.").await.unwrap();
    let events = world.events(&session.id());
    let (_, result) = events.iter().find(|(kind, _)| kind == "tool_result").unwrap();
    let note = "[image/png, 133372 bytes of base64, left out]";
    assert_eq!(result["content"], json!([small, {"type": "text", "text": note}]));
}
