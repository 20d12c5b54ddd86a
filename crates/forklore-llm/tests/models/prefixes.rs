//! Tests that the request of a child begins with the same bytes as the request of its parent, in
//! the format of every provider (docs/acceptance.md, rules 58, 59 and 68).

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use forklore_agent::cache_key;
use forklore_agent::media::Attached;
use forklore_agent::model::{Model as _, Request};
use forklore_core::workspace::Workspace;
use forklore_core::{EventType, SessionId};
use forklore_engine::{Batch, Create, Engine, Fork, ModelView, NewEvent};
use forklore_llm::{HttpModel, ModelConfig, Provider, SharedBytes};
use forklore_store::memory::MemoryStore;
use serde_json::{Value, json};

use crate::asking::{data, weather};
use crate::images::{attach, png};

const FORMS: [Provider; 4] =
    [Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Ollama];

fn engine() -> Engine {
    let store = Arc::new(MemoryStore::default());
    Engine::new(store.clone())
}

fn append(engine: &Engine, session: &SessionId, events: &[(EventType, Value)]) {
    let events =
        events.iter().map(|(kind, value)| NewEvent::new(kind.clone(), data(&value.to_string())));
    engine.append(session, &Batch::from(events.collect::<Vec<_>>())).unwrap();
}

fn assistant_event(text: &str) -> (EventType, Value) {
    (EventType::ASSISTANT_MESSAGE, json!({"content": text}))
}

fn user_event(text: &str) -> (EventType, Value) {
    (EventType::USER_MESSAGE, json!({"content": text}))
}

/// Returns the types and payloads of the events of a turn. The turn has reasoning, parallel calls,
/// a response, and images from every role.
fn turn(engine: &Engine, number: u32, model: &HttpModel) -> Vec<(EventType, Value)> {
    let name = model.name();
    let (a, b) = (format!("call_{number}a"), format!("call_{number}b"));
    let thought = json!({
        "content": "hm", "provider": name.provider, "model": name.model,
        "opaque": {"type": "thinking", "thinking": "hm", "signature": "s",
            "thoughtSignature": "s", "field": "reasoning"},
    });
    let shown = png(number, 100);
    let inline = BASE64_STANDARD.encode(&shown);
    let question = json!([
        {"type": "text", "text": format!("Question {number}?")},
        {"type": "input_image", "image_url": format!("data:image/png;base64,{inline}")},
        attach(engine, &png(number + 1000, 100), "image/png"),
        attach(engine, format!("Note {number}").as_bytes(), "text/plain"),
        attach(engine, &png(9000, 0), "image/png"),
    ]);
    let rain = json!([
        {"type": "text", "text": "Rain"},
        attach(engine, &shown, "image/png"),
        {"type": "image", "media_type": "image/png", "data": inline},
    ]);
    vec![
        (EventType::USER_MESSAGE, json!({"content": question})),
        (EventType::REASONING, thought),
        assistant_event("Let me look."),
        (EventType::TOOL_CALL, json!({"id": a, "name": "weather", "arguments": {"city": "Ä"}})),
        (
            EventType::TOOL_CALL,
            json!({"id": b, "name": "weather", "arguments": {"b": 1.0, "a": 2}}),
        ),
        (EventType::TOOL_RESULT, json!({"call_id": a, "content": "Sunny."})),
        (EventType::PROVIDER_USAGE, json!({"input": 1})),
        (EventType::TOOL_RESULT, json!({"call_id": b, "content": rain})),
        assistant_event(&format!("Answer {number}.")),
    ]
}

fn root(engine: &Engine, model: &HttpModel) -> SessionId {
    let root =
        engine.create(&Create::in_workspace(Workspace::new("/home/me/secret-plan"))).unwrap().id;
    append(engine, &root, &[(EventType::SYSTEM_MESSAGE, json!({"content": "Be brief."}))]);
    for number in 1..4 {
        append(engine, &root, &turn(engine, number, model));
    }
    root
}

fn fork(engine: &Engine, parent: &SessionId, cut: &str) -> SessionId {
    let request = Fork { at: Some(cut.parse().unwrap()), ..Fork::of(parent.clone()) };
    engine.fork(&request).unwrap().child_session_id
}

fn request(engine: &Engine, session: &SessionId, model: &HttpModel) -> Request {
    let view = engine.model_view(session, Some(&model.name().model)).unwrap();
    let attached = Attached::read(engine, &view.messages, &model.takes());
    Request {
        messages: view.messages,
        attached,
        shared: view.shared,
        forks: view.forks,
        tools: vec![weather()],
        cache_key: cache_key(&view.header.root_id),
        options: forklore_agent::model::Options::default(),
    }
}

fn model(provider: Provider) -> HttpModel {
    HttpModel::new(ModelConfig { images: Some(true), ..ModelConfig::new(provider, "m") }).unwrap()
}

/// Returns the byte offset in `body` at which the first `count` messages of the request end.
fn end_of(body: &[u8], model: &HttpModel, request: &Request, count: usize) -> usize {
    let alone = Request { messages: request.messages[..count].to_vec(), ..request.clone() };
    SharedBytes::between(&model.body(&alone).unwrap(), body).shared
}

/// The cache breakpoint in Anthropic's format.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
const REST: &str = r#""messages":["#;

/// Checks that the request body of the child begins with the same bytes as that of the parent, up
/// to the end of the last shared message. Closing brackets after that message and cache breakpoints
/// may differ.
fn begins_alike(engine: &Engine, parent: &SessionId, child: &SessionId, model: &HttpModel) {
    let (mother, daughter) = (request(engine, parent, model), request(engine, child, model));
    assert!(daughter.shared > 0);
    assert_eq!(mother.messages[..daughter.shared], daughter.messages[..daughter.shared]);
    let (mother, body) = (model.body(&mother).unwrap(), model.body(&daughter).unwrap());
    let same = SharedBytes::between(&mother, &body).shared;
    let end = end_of(&body, model, &daughter, daughter.shared).max(same);
    let differs = std::str::from_utf8(&body[same..end]).unwrap();
    assert!(
        differs
            .replacen(MARK, "", 1)
            .replacen(REST, "", 1)
            .chars()
            .all(|byte| ",\"}]".contains(byte)),
        "{:?}: {differs}\n{}\n{}",
        model.name(),
        String::from_utf8_lossy(&mother),
        String::from_utf8_lossy(&body),
    );
}

#[test]
fn a_fork_begins_as_its_parent_wherever_it_is_cut() {
    for provider in FORMS {
        let (engine, model) = (engine(), model(provider));
        let root = root(&engine, &model);
        for index in 1..=22 {
            let child = fork(&engine, &root, &format!("index:{index}"));
            append(&engine, &child, &[user_event("What now?")]);
            begins_alike(&engine, &root, &child, &model);
        }
    }
}

#[test]
fn a_fork_that_is_only_thought_of_is_as_one_that_is_made() {
    let (engine, model) = (engine(), model(Provider::Anthropic));
    let root = root(&engine, &model);
    let parent = fork(&engine, &root, "turn:1");
    append(&engine, &parent, &turn(&engine, 9, &model));
    let header = engine.show(&parent).unwrap();
    for index in 0..=17 {
        let selector = format!("index:{index}").parse().unwrap();
        let cut = engine.cut(&header, &selector).unwrap();
        let thought_of = engine.fork_view(&header, &cut, Some("m")).unwrap();
        let made = fork(&engine, &parent, &format!("index:{index}"));
        let made = engine.model_view(&made, Some("m")).unwrap();
        let locations = |view: &ModelView| (view.shared, view.forks.clone());
        assert_eq!(locations(&thought_of), locations(&made), "index:{index}");
        assert_eq!(thought_of.messages, made.messages, "index:{index}");
    }
}

#[test]
fn so_does_a_fork_of_a_fork_of_a_fork() {
    for provider in FORMS {
        let (engine, model) = (engine(), model(provider));
        let mut parent = root(&engine, &model);
        // There are more forks than breakpoints, and a later fork has an earlier cut.
        for (number, cut) in
            (10..).zip(["turn:1", "turn:2", "turn:3", "turn:4", "turn:2", "turn:3"])
        {
            let child = fork(&engine, &parent, cut);
            append(&engine, &child, &turn(&engine, number, &model));
            begins_alike(&engine, &parent, &child, &model);
            append(&engine, &child, &turn(&engine, number + 100, &model));
            begins_alike(&engine, &parent, &child, &model);
            parent = child;
        }
    }
}

#[test]
fn so_does_a_fork_of_a_compacted_fork() {
    for provider in FORMS {
        let (engine, model) = (engine(), model(provider));
        let root = root(&engine, &model);
        let compaction = json!({"from_index": 1, "to_index": 9, "content": "They spoke of rain."});
        append(&engine, &root, &[(EventType::HISTORY_COMPACTION, compaction)]);
        append(&engine, &root, &turn(&engine, 4, &model));
        let child = fork(&engine, &root, "end");
        append(&engine, &child, &[user_event("What now?")]);
        begins_alike(&engine, &root, &child, &model);
        let grandchild = fork(&engine, &child, "turn:4");
        append(&engine, &grandchild, &[user_event("And then?")]);
        begins_alike(&engine, &child, &grandchild, &model);
    }
}

#[test]
fn each_request_begins_as_the_one_before() {
    for provider in FORMS {
        let (engine, model) = (engine(), model(provider));
        let root = root(&engine, &model);
        let mut session = fork(&engine, &root, "turn:2");
        session = fork(&engine, &session, "turn:1");
        let mut before = request(&engine, &session, &model);
        for (kind, value) in turn(&engine, 7, &model) {
            append(&engine, &session, &[(kind, value)]);
            let now = request(&engine, &session, &model);
            let body = model.body(&now).unwrap();
            let same = SharedBytes::between(&model.body(&before).unwrap(), &body).shared;
            // The result of a call replaces the synthetic result of the open call, so count only
            // the messages before it.
            let answered = |request: &Request| {
                let last = request
                    .messages
                    .iter()
                    .position(|it| format!("{it:?}").contains("synthetic: true"));
                last.unwrap_or(request.messages.len())
            };
            let count = answered(&before).min(now.messages.len());
            let end = end_of(&body, &model, &now, count).max(same);
            let closing = std::str::from_utf8(&body[same..end]).unwrap();
            assert!(closing.chars().all(|byte| ",\"}]".contains(byte)), "{closing}");
            before = now;
        }
    }
}

#[test]
fn what_was_sent_is_sent_again_when_a_request_is_full() {
    for provider in FORMS {
        let (engine, model) = (engine(), model(provider));
        let root = engine.create(&Create::in_workspace(Workspace::new("/demo"))).unwrap().id;
        let mut before = model.body(&request(&engine, &root, &model)).unwrap();
        let (mut sent, mut session) = (Vec::new(), root.clone());
        for number in 1..8 {
            let size = if number == 6 { 10 } else { 7 << 19 };
            let shown = attach(&engine, &png(number, size), "image/png");
            let message = json!({"content": [{"type": "text", "text": "Look."}, shown]});
            append(
                &engine,
                &session,
                &[(EventType::USER_MESSAGE, message), assistant_event("I see.")],
            );
            let now = request(&engine, &session, &model);
            let body = model.body(&now).unwrap();
            // The new body differs from the old body only in the closing brackets after the old
            // messages.
            let same = SharedBytes::between(&before, &body).shared;
            assert!(before.len() - same < 200, "{provider:?} {number}");
            sent.push(body.len() - before.len() > size);
            before = body;
            if number % 2 == 0 {
                session = fork(&engine, &session, "end");
            }
        }
        let (yes, no) = (true, false);
        assert_eq!(sent, [yes, yes, yes, no, no, yes, no], "{provider:?}");
    }
}

#[test]
fn a_family_has_one_cache_key_and_no_private_text_in_it() {
    let (engine, model) = (engine(), model(Provider::OpenAi));
    let root_id = root(&engine, &model);
    let child = fork(&engine, &root_id, "turn:1");
    let grandchild = fork(&engine, &child, "end");
    let other = root(&engine, &model);
    let key = |session: &SessionId| {
        let body = model.body(&request(&engine, session, &model)).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        body["prompt_cache_key"].as_str().unwrap().to_owned()
    };
    let family: BTreeSet<_> = [&root_id, &child, &grandchild].map(key).into();
    let [family] = &family.into_iter().collect::<Vec<_>>()[..] else { panic!("several keys") };
    assert_ne!(*family, key(&other));
    assert!(family.len() <= 96 && !family.contains(root_id.as_str()), "{family}");
}

#[test]
fn nothing_of_a_session_itself_is_sent() {
    for provider in FORMS {
        let (engine, model) = (engine(), model(provider));
        let root = root(&engine, &model);
        let child = fork(&engine, &root, "turn:1");
        for session in [&root, &child] {
            let body = String::from_utf8(model.body(&request(&engine, session, &model)).unwrap());
            let body = body.unwrap();
            let header = engine.show(session).unwrap();
            let year = header.created.to_string()[..5].to_owned();
            for private in [root.as_str(), child.as_str(), header.workspace.as_str(), &year] {
                assert!(!body.contains(private), "{private} in {body}");
            }
        }
    }
}
