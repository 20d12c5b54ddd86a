//! The content of a request, in a form in which the requests of different agents can be compared.
//! It does not depend on how an agent divides the content into messages.

use std::collections::BTreeMap;

use forklore_core::{Data, Message, Part, Role, inline};
use serde::Deserialize;
use serde_json::Value;

/// A piece of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Exchanged {
    System(String),
    /// A message of the user: its texts, joined by line breaks, and its images as base64.
    User {
        text: String,
        images: Vec<String>,
    },
    /// Adjacent texts of the model, joined by line breaks.
    Model(String),
    Reasoning(String),
    /// A tool call with its result, wherever the result is in the request.
    Call {
        name: String,
        arguments: Value,
        result: Option<Answer>,
    },
    /// A part that only its agent can read, or an image of the model.
    Other(String),
}

/// The result of a tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    /// The name of the tool, if the result has it.
    pub(crate) name: Option<String>,
    pub(crate) text: String,
    pub(crate) images: Vec<String>,
    pub(crate) is_error: bool,
}

/// The number of parts that an export leaves out, by kind.
pub(crate) type Losses = BTreeMap<String, u64>;

/// Returns the content of the messages of a request. Leaves out empty messages.
pub(crate) fn exchanged(messages: &[Message]) -> Vec<Exchanged> {
    let mut exchanged = Vec::new();
    // The calls without a result: their ids and their positions.
    let mut open: Vec<(String, usize)> = Vec::new();
    for message in messages {
        let (mut texts, mut images) = (Vec::new(), Vec::new());
        for part in message.to_parts() {
            match (part, message.role) {
                (Part::Text { text }, _) if text.is_empty() => {}
                (Part::Text { text }, Role::User | Role::System) => texts.push(text),
                (Part::Text { text }, _) => say(&mut exchanged, text),
                (Part::Reasoning { text, .. }, _) => exchanged.push(Exchanged::Reasoning(text)),
                (Part::ToolCall { id, name, arguments }, _) => {
                    open.push((id, exchanged.len()));
                    let arguments = object(&arguments);
                    exchanged.push(Exchanged::Call { name, arguments, result: None });
                }
                (Part::ToolResult { call_id, name, content, is_error, .. }, _) => {
                    let at = open.iter().rposition(|(id, _)| *id == call_id).unwrap();
                    let Returned { texts, images, others } = Returned::of(&content);
                    let answer = Answer { name, text: texts.join("\n"), images, is_error };
                    match &mut exchanged[open.remove(at).1] {
                        Exchanged::Call { result, .. } => *result = Some(answer),
                        other => panic!("{other:?} is no call"),
                    }
                    exchanged.extend(others.into_iter().map(Exchanged::Other));
                }
                (Part::Other { value }, role) => match image(&value) {
                    Some(image) if role == Role::User => images.push(image),
                    _ => exchanged.push(Exchanged::Other(value.get().to_owned())),
                },
                (Part::Attachment { r#ref, .. }, _) => exchanged.push(Exchanged::Other(r#ref)),
            }
        }
        let text = texts.join("\n");
        if message.role == Role::System {
            exchanged.push(Exchanged::System(text));
        } else if !text.is_empty() || !images.is_empty() {
            exchanged.push(Exchanged::User { text, images });
        }
    }
    exchanged
}

fn say(exchanged: &mut Vec<Exchanged>, text: String) {
    match exchanged.last_mut() {
        Some(Exchanged::Model(before)) => *before = format!("{before}\n{text}"),
        _ => exchanged.push(Exchanged::Model(text)),
    }
}

/// Returns arguments as an object, which every agent can store.
fn object(arguments: &Data) -> Value {
    match serde_json::from_str(arguments.get()).unwrap() {
        Value::Null => serde_json::json!({}),
        object @ Value::Object(_) => object,
        other => serde_json::json!({ "input": other }),
    }
}

/// Returns the base64 of an image in any agent's form.
fn image(part: &Data) -> Option<String> {
    let url = part.read::<String>().ok().map(|url| serde_json::json!({ "url": url }).to_string());
    let found = inline(url.as_deref().unwrap_or(part.get()))?;
    found.media_type.starts_with("image/").then(|| found.base64.into_owned())
}

/// The content of a tool result: its texts, its images, and the blocks of other kinds.
#[derive(Default)]
struct Returned {
    texts: Vec<String>,
    images: Vec<String>,
    others: Vec<String>,
}

impl Returned {
    fn of(content: &Data) -> Self {
        let mut returned = Self::default();
        let Ok(blocks) = content.read::<Vec<Data>>() else {
            returned.texts.push(text_of(content));
            return returned;
        };
        for block in blocks {
            let value: Value = serde_json::from_str(block.get()).unwrap();
            if let Some(image) = image(&block) {
                returned.images.push(image);
            } else if let Ok(FunctionResponse { function }) = block.read() {
                returned.texts.push(text_of(&function.response));
            } else if let Some(text) = value["text"].as_str() {
                returned.texts.push(text.to_owned());
            } else if value["type"].is_string() {
                returned.others.push(block.get().to_owned());
            } else {
                returned.texts.push(block.get().to_owned());
            }
        }
        returned
    }
}

/// A tool result in the form of Google's API.
#[derive(Deserialize)]
struct FunctionResponse {
    #[serde(rename = "functionResponse")]
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    response: Data,
}

/// Returns the text of a result that is no list. A string is its own text. The text of an object
/// whose only field is `output` or `error` is the string in this field. Any other result is
/// returned as JSON.
fn text_of(content: &Data) -> String {
    let value: Value = serde_json::from_str(content.get()).unwrap();
    let only = value.as_object().filter(|fields| fields.len() == 1);
    let only = only.and_then(|fields| fields.get("output").or_else(|| fields.get("error")));
    only.unwrap_or(&value).as_str().unwrap_or(content.get()).to_owned()
}
