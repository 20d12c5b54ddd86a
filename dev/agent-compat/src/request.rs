//! Extracts the pieces of a conversation from a request, in the formats of four providers' APIs.

use serde_json::Value;

use crate::atoms::{Atom, of_text, text_of};

/// Extracts the pieces of the conversation from an agent's request to a model. `path` is the path
/// of the request and determines the format of `body`. Returns `None` if the request contains no
/// conversation.
pub(crate) fn atoms(path: &str, body: &Value) -> Option<Vec<Atom>> {
    if path.ends_with("/responses") {
        return Some(list(body.get("input")?).iter().filter_map(item).collect());
    }
    if path.ends_with("/chat/completions") {
        return Some(list(body.get("messages")?).iter().flat_map(message).collect());
    }
    if path.contains("streamGenerateContent") {
        return Some(list(body.get("contents")?).iter().flat_map(content).collect());
    }
    if path == "/sdk" {
        return Some(list(body.get("messages")?).iter().flat_map(blocks).collect());
    }
    None
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn id(value: &Value, field: &str) -> Option<String> {
    value.get(field).and_then(Value::as_str).map(str::to_owned)
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Converts one item of OpenAI's Responses API into a piece of the conversation. Returns `None` for
/// items that are not compared.
fn item(item: &Value) -> Option<Atom> {
    match text(item, "type").as_str() {
        "message" => {
            let role = text(item, "role");
            let message_text = text_of(item.get("content")?);
            matches!(role.as_str(), "user" | "assistant")
                .then(|| of_text(role == "assistant", message_text))
        }
        "function_call" => {
            let arguments = serde_json::from_str(&text(item, "arguments")).unwrap_or_default();
            Some(Atom::Call { id: id(item, "call_id"), name: text(item, "name"), arguments })
        }
        "function_call_output" => {
            Some(Atom::Result { call: id(item, "call_id"), text: text_of(item.get("output")?) })
        }
        _ => None,
    }
}

/// Converts one message of OpenAI's Chat Completions API into pieces of the conversation.
fn message(message: &Value) -> Vec<Atom> {
    let message_text = message.get("content").map(text_of).unwrap_or_default();
    match text(message, "role").as_str() {
        "user" => vec![Atom::User(message_text)],
        "tool" => vec![Atom::Result { call: id(message, "tool_call_id"), text: message_text }],
        "assistant" => {
            let calls = message.get("tool_calls").map(list).unwrap_or_default();
            let calls = calls.iter().filter_map(|call| {
                let function = call.get("function")?;
                let arguments =
                    serde_json::from_str(&text(function, "arguments")).unwrap_or_default();
                Some(Atom::Call { id: id(call, "id"), name: text(function, "name"), arguments })
            });
            std::iter::once(Atom::Assistant(message_text)).chain(calls).collect()
        }
        _ => Vec::new(),
    }
}

/// Converts one message of Anthropic's API into pieces of the conversation.
fn blocks(message: &Value) -> Vec<Atom> {
    let by_model = text(message, "role") == "assistant";
    let Some(content) = message.get("content") else { return Vec::new() };
    if content.is_string() {
        return vec![of_text(by_model, text_of(content))];
    }
    let atoms = list(content).iter().filter_map(|block| match text(block, "type").as_str() {
        "text" => Some(of_text(by_model, text(block, "text"))),
        "tool_use" => {
            let arguments = block.get("input").cloned().unwrap_or_default();
            Some(Atom::Call { id: id(block, "id"), name: text(block, "name"), arguments })
        }
        "tool_result" => Some(Atom::Result {
            call: id(block, "tool_use_id"),
            text: block.get("content").map(text_of).unwrap_or_default(),
        }),
        _ => None,
    });
    atoms.collect()
}

/// Converts one element of `contents` in a request of Google's API into pieces of the conversation.
fn content(content: &Value) -> Vec<Atom> {
    let by_model = text(content, "role") == "model";
    let parts = content.get("parts").map(list).unwrap_or_default();
    let atoms = parts.iter().filter_map(|part| {
        if let Some(call) = part.get("functionCall") {
            let arguments = call.get("args").cloned().unwrap_or_default();
            return Some(Atom::Call { id: id(call, "id"), name: text(call, "name"), arguments });
        }
        if let Some(answer) = part.get("functionResponse") {
            let text = text_of(answer.get("response")?);
            return Some(Atom::Result { call: id(answer, "id"), text });
        }
        let thought = part.get("thought") == Some(&Value::Bool(true));
        (!thought).then(|| of_text(by_model, text(part, "text")))
    });
    atoms.collect()
}
