//! Tests that the model's server supports both APIs, calls tools when required, counts cached
//! tokens, and ends with its owner.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use forklore_smollm::{MODEL, Server};
use serde_json::{Value, json};

/// Sends a JSON body with a POST request, and returns the body of the answer.
fn post(base_url: &str, path: &str, body: &Value) -> String {
    let address = base_url.trim_start_matches("http://").trim_end_matches("/v1");
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let length = body.len();
    write!(
        stream,
        "POST /v1/{path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.0 200 "), "{answer}");
    body.to_owned()
}

fn ask(server: &Server, path: &str, body: &Value) -> Value {
    serde_json::from_str(&post(&server.openai(), path, body)).unwrap()
}

#[test]
fn it_answers_in_both_forms_and_says_what_it_had_cached() {
    let server = Server::start().unwrap();
    let question = json!([{"role": "user", "content": "Name a colour."}]);
    let request = json!({"model": MODEL, "messages": question, "max_tokens": 4});

    let first = ask(&server, "chat/completions", &request);
    let again = ask(&server, "messages", &request);

    assert_eq!(first["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
    assert_eq!(first["usage"]["completion_tokens"], 4);
    let prompt = first["usage"]["prompt_tokens"].as_u64().unwrap();
    // All tokens are cached except the last, from which the generation continues.
    assert_eq!(again["usage"]["cache_read_input_tokens"], prompt - 1);
    assert_eq!(again["usage"]["input_tokens"], 1);
    let counted = ask(&server, "messages/count_tokens", &request);
    assert_eq!(counted["input_tokens"], prompt);
}

#[test]
fn it_streams() {
    let server = Server::start().unwrap();
    let question = json!([{"role": "user", "content": "Name a colour."}]);
    let request = json!({"model": MODEL, "messages": question, "max_tokens": 4, "stream": true});

    let streamed = post(&server.openai(), "chat/completions", &request);

    assert_eq!(streamed.matches("\"delta\":{\"content\":").count(), 4, "{streamed}");
    assert!(streamed.trim_end().ends_with("data: [DONE]"), "{streamed}");
}

#[test]
fn it_calls_once_when_it_must() {
    let server = Server::start().unwrap();
    let schema = json!({
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
    });
    let question = json!([{"role": "user", "content": "What is the weather in Paris?"}]);
    let text = "The weather of a city";
    let openai = ask(
        &server,
        "chat/completions",
        &json!({
            "model": MODEL, "messages": question, "max_tokens": 100, "tool_choice": "required",
            "tools": [{"type": "function", "function":
                {"name": "weather", "description": text, "parameters": schema}}],
        }),
    );
    let anthropic = ask(
        &server,
        "messages",
        &json!({
            "model": MODEL, "messages": question, "max_tokens": 100, "tool_choice": {"type": "any"},
            "tools": [{"name": "weather", "description": text, "input_schema": schema}],
        }),
    );

    let [choice] = openai["choices"].as_array().unwrap().as_slice() else { panic!("{openai}") };
    assert_eq!(choice["finish_reason"], "tool_calls");
    let [call] = choice["message"]["tool_calls"].as_array().unwrap().as_slice() else {
        panic!("{openai}")
    };
    assert_eq!(call["function"]["name"], "weather");
    let arguments = call["function"]["arguments"].as_str().unwrap();
    assert!(serde_json::from_str::<Value>(arguments).unwrap()["city"].is_string());
    assert_eq!(anthropic["stop_reason"], "tool_use");
    let used = anthropic["content"].as_array().unwrap().iter();
    let [used] = used.filter(|part| part["type"] == "tool_use").collect::<Vec<_>>()[..] else {
        panic!("{anthropic}")
    };
    assert!(used["input"]["city"].is_string(), "{anthropic}");
}

#[test]
fn it_ends_with_its_owner() {
    let server = Server::start().unwrap();
    let address = server.openai();
    let address = address.trim_start_matches("http://").trim_end_matches("/v1");
    assert!(TcpStream::connect(address).is_ok());
    drop(server);
    assert!(TcpStream::connect(address).is_err());
}
