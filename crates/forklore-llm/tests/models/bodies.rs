//! Snapshots of complete request bodies in the format of each provider.

use forklore_agent::model::{Model as _, Options, Request};
use forklore_core::{Message, Part, Role};
use forklore_llm::{HttpModel, ModelConfig, Provider};
use serde_json::Value;

use crate::asking::{assistant, call, data, request, result, user, weather};

/// Returns a history with every kind of content.
fn everything() -> Vec<Message> {
    let reasoning = |provider: &str, model: &str, opaque: &str| Part::Reasoning {
        text: "The user wants the weather.".into(),
        provider: Some(provider.into()),
        model: Some(model.into()),
        opaque: Some(data(opaque)),
    };
    let signed = r#"{"type":"reasoning","opaque":{"type":"thinking","thinking":"The user wants the weather.","signature":"c2ln"}}"#;
    let google = r#"{"type":"reasoning","opaque":{"thoughtSignature":"Z29v"}}"#;
    let field = r#"{"type":"reasoning","opaque":{"field":"reasoning_content"}}"#;
    let failed = Part::ToolResult {
        call_id: "call_2".into(),
        name: Some("weather".into()),
        content: data(r#""No such city""#),
        is_error: true,
        synthetic: false,
    };
    vec![
        Message::text(Role::System, "Be brief."),
        user("Paris or Rom\u{e9}?"),
        Message::parts(
            Role::Assistant,
            vec![
                reasoning("openai", "m", field),
                reasoning("anthropic", "m", signed),
                reasoning("gemini", "m", google),
                reasoning("anthropic", "other", signed),
            ],
        ),
        assistant("Let me look."),
        call("call_1", "weather", r#"{"city": "Paris", "days": 1.0}"#),
        call("call_2", "weather", r#""Rome""#),
        result("call_1", "Sunny"),
        Message::parts(Role::Tool, vec![failed]),
        Message::text(Role::System, "It is late."),
        assistant("Paris."),
        user("Thanks."),
    ]
}

fn sent(provider: Provider, base_url: Option<&str>) -> String {
    let base_url = base_url.map(str::to_owned);
    let config = ModelConfig { base_url, ..ModelConfig::new(provider, "m") };
    let options = Options {
        max_output_tokens: Some(500),
        temperature: Some(0.5),
        must_call: true,
        patience: None,
    };
    let tools = vec![weather()];
    let request = Request { tools, shared: 4, forks: vec![2, 4], options, ..request(everything()) };
    let body = HttpModel::new(config).unwrap().body(&request).unwrap();
    let _: Value = serde_json::from_slice(&body).unwrap();
    // Put each message on its own line, and change nothing else.
    String::from_utf8(body).unwrap().replace("{\"role\"", "\n{\"role\"")
}

#[test]
fn to_openai() {
    insta::assert_snapshot!(sent(Provider::OpenAi, None));
}

#[test]
fn to_a_server_that_speaks_the_form_of_openai() {
    insta::assert_snapshot!(sent(Provider::OpenAi, Some("http://localhost:8080/v1")));
}

#[test]
fn to_ollama() {
    insta::assert_snapshot!(sent(Provider::Ollama, None));
}

#[test]
fn to_anthropic() {
    insta::assert_snapshot!(sent(Provider::Anthropic, None));
}

#[test]
fn to_gemini() {
    insta::assert_snapshot!(sent(Provider::Gemini, None));
}

#[test]
fn text_after_a_call_follows_its_result() {
    let history = vec![
        user("Look."),
        call("call_1", "weather", "{}"),
        assistant("I am looking."),
        result("call_1", "Sunny"),
        user("And?"),
    ];
    let model = HttpModel::new(ModelConfig::new(Provider::OpenAi, "m")).unwrap();
    let body: Value = serde_json::from_slice(&model.body(&request(history)).unwrap()).unwrap();
    let text = body["messages"].as_array().unwrap().iter();
    let texts: Vec<_> = text.map(|it| (it["role"].as_str().unwrap(), &it["content"])).collect();
    let text = |text: &str| Value::from(text);
    assert_eq!(
        texts,
        [
            ("user", &text("Look.")),
            ("assistant", &Value::Null),
            ("tool", &text("Sunny")),
            ("assistant", &text("I am looking.")),
            ("user", &text("And?")),
        ]
    );
}

#[test]
fn a_key_for_the_cache_can_be_left_out() {
    let config = ModelConfig { cache_key: false, ..ModelConfig::new(Provider::OpenAi, "m") };
    let body = HttpModel::new(config).unwrap().body(&request(vec![user("Hello")])).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body.get("prompt_cache_key"), None);
}

#[test]
fn anthropic_hears_the_person_first_and_no_blank_text() {
    let history = vec![assistant("Welcome."), user("  \n"), user("Hello")];
    let model = HttpModel::new(ModelConfig::new(Provider::Anthropic, "m")).unwrap();
    let body: Value = serde_json::from_slice(&model.body(&request(history)).unwrap()).unwrap();
    let text = body["messages"].as_array().unwrap().iter();
    let output: Vec<_> = text.map(|it| (it["role"].clone(), it["content"].to_string())).collect();
    let block = |text: &str| format!("[{{\"text\":\"{text}\",\"type\":\"text\"}}]");
    assert_eq!(
        output,
        [
            ("user".into(), block("(The conversation begins with the assistant.)")),
            ("assistant".into(), block("Welcome.")),
            ("user".into(), block("Hello")),
        ]
    );
}
