//! Extracts the pieces of a conversation from a request, in the formats of four providers' APIs.

use serde_json::Value;

use crate::atoms::{Atom, image, of_result, of_text, text_of};

/// Extracts the pieces of the conversation from an agent's request to a model. `path` is the path
/// of the request and determines the format of `body`. Returns `None` if the request contains no
/// conversation.
pub(crate) fn atoms(path: &str, body: &Value) -> Option<Vec<Atom>> {
    if path.ends_with("/responses") {
        return Some(list(body.get("input")?).iter().flat_map(item).collect());
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

/// Returns the pieces of a message's content, which is a text or a list of blocks.
fn spoken(by_model: bool, content: &Value) -> Vec<Atom> {
    let Some(blocks) = content.as_array() else { return vec![of_text(by_model, text_of(content))] };
    let atoms = blocks.iter().map(|block| {
        image(&block.to_string()).unwrap_or_else(|| of_text(by_model, text_of(block)))
    });
    atoms.collect()
}

/// Converts one item of OpenAI's Responses API into pieces of the conversation. Returns none for
/// items that are not compared.
fn item(item: &Value) -> Vec<Atom> {
    let field = |name: &str| item.get(name).cloned().unwrap_or_default();
    match (text(item, "type").as_str(), text(item, "role").as_str()) {
        ("message", role @ ("user" | "assistant")) => {
            spoken(role == "assistant", &field("content"))
        }
        ("function_call", _) => {
            let arguments = serde_json::from_str(&text(item, "arguments")).unwrap_or_default();
            vec![Atom::Call { id: id(item, "call_id"), name: text(item, "name"), arguments }]
        }
        ("function_call_output", _) => of_result(id(item, "call_id"), &field("output")),
        _ => Vec::new(),
    }
}

/// Converts one message of OpenAI's Chat Completions API into pieces of the conversation.
fn message(message: &Value) -> Vec<Atom> {
    let content = message.get("content").cloned().unwrap_or_default();
    match text(message, "role").as_str() {
        "user" => spoken(false, &content),
        "tool" => of_result(id(message, "tool_call_id"), &content),
        "assistant" => {
            let calls = message.get("tool_calls").map(list).unwrap_or_default();
            let calls = calls.iter().filter_map(|call| {
                let function = call.get("function")?;
                let arguments =
                    serde_json::from_str(&text(function, "arguments")).unwrap_or_default();
                Some(Atom::Call { id: id(call, "id"), name: text(function, "name"), arguments })
            });
            std::iter::once(Atom::Assistant(text_of(&content))).chain(calls).collect()
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
    let atoms = list(content).iter().flat_map(|block| match text(block, "type").as_str() {
        "text" => vec![of_text(by_model, text(block, "text"))],
        "tool_use" => {
            let arguments = block.get("input").cloned().unwrap_or_default();
            vec![Atom::Call { id: id(block, "id"), name: text(block, "name"), arguments }]
        }
        "tool_result" => {
            let content = block.get("content").cloned().unwrap_or_default();
            of_result(id(block, "tool_use_id"), &content)
        }
        "image" | "document" => image(&block.to_string()).into_iter().collect(),
        _ => Vec::new(),
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
        if part.get("inlineData").is_some() {
            return image(&part.to_string());
        }
        let thought = part.get("thought") == Some(&Value::Bool(true));
        (!thought).then(|| of_text(by_model, text(part, "text")))
    });
    atoms.collect()
}
