//! The content that a model receives, divided into pieces that can be compared across formats.

use std::fmt;

use forklore::core::{Message, Part, Role, inline};
use serde_json::Value;

/// One piece of a conversation that an agent sends to a model. Pieces of the variant `Reasoning`
/// are not compared, because reasoning is only sent to the model that wrote it. But some agents
/// send reasoning to other models as plain text, which is compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Atom {
    User(String),
    Assistant(String),
    Call {
        id: Option<String>,
        name: String,
        arguments: Value,
    },
    Result {
        call: Option<String>,
        text: String,
    },
    /// An image of the user or of a tool result, as base64.
    Image(String),
    Reasoning(String),
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |text: &str| text.chars().take(160).collect::<String>();
        match self {
            Self::User(text) => write!(f, "user       {}", short(text)),
            Self::Assistant(text) => write!(f, "assistant  {}", short(text)),
            Self::Call { id, name, arguments } => {
                let id = id.as_deref().unwrap_or("-");
                write!(f, "call {id:>5} {name} {}", short(&arguments.to_string()))
            }
            Self::Result { call, text } => {
                write!(f, "result {:>3} {}", call.as_deref().unwrap_or("-"), short(text))
            }
            Self::Image(base64) => write!(f, "image      {}", short(base64)),
            Self::Reasoning(text) => write!(f, "reasoning  {}", short(text)),
        }
    }
}

/// Divides the messages that the model must receive according to forklore into comparable pieces.
/// System messages are left out, because each agent generates its own. Some agents store each result
/// behind its call; the results of calls that the model made together follow all of them.
pub(crate) fn of_messages(messages: &[Message]) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for message in messages.iter().filter(|message| message.role != Role::System) {
        let mut results = Vec::new();
        for part in message.to_parts() {
            match part {
                Part::ToolResult { .. } => results.extend(of_part(message.role, part)),
                // What the model says about a result belongs to its next response.
                Part::Text { .. } | Part::Reasoning { .. } => {
                    atoms.append(&mut results);
                    atoms.extend(of_part(message.role, part));
                }
                _ => atoms.extend(of_part(message.role, part)),
            }
        }
        atoms.append(&mut results);
    }
    atoms
}

fn of_part(role: Role, part: Part) -> Vec<Atom> {
    match part {
        Part::Text { text } => vec![of_text(role == Role::Assistant, text)],
        Part::ToolCall { id, name, arguments } => {
            let arguments = serde_json::from_str(arguments.get()).unwrap_or_default();
            vec![Atom::Call { id: Some(id), name, arguments }]
        }
        Part::ToolResult { call_id, content, .. } => {
            let content: Value = serde_json::from_str(content.get()).unwrap_or_default();
            of_result(Some(call_id), &content)
        }
        Part::Reasoning { text, .. } => vec![Atom::Reasoning(text)],
        Part::Other { value } => image(value.get()).into_iter().collect(),
        Part::Attachment { .. } => Vec::new(),
    }
}

/// Returns the pieces of a tool result: its text, and each image in it.
pub(crate) fn of_result(call: Option<String>, content: &Value) -> Vec<Atom> {
    let mut atoms = vec![Atom::Result { call, text: text_of(content) }];
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    atoms.extend(blocks.iter().filter_map(|block| image(&block.to_string())));
    atoms
}

/// Returns the image that a block of a message contains, in any provider's format.
pub(crate) fn image(block: &str) -> Option<Atom> {
    inline(block).map(|found| Atom::Image(found.base64.into_owned()))
}

pub(crate) fn of_text(by_model: bool, text: String) -> Atom {
    if by_model { Atom::Assistant(text) } else { Atom::User(text) }
}

/// Returns the text in `value`, the JSON content of a message in any provider's format.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let names = ["text", "output", "content", "error", "functionResponse", "response"];
            match names.iter().find_map(|name| fields.get(*name)) {
                Some(inside) => text_of(inside),
                None => String::new(),
            }
        }
        _ => String::new(),
    }
}

/// Normalises the pieces of a conversation, so that those of different agents can be compared.
/// Drops reasoning, and user texts for which `is_spoken` is false. White space becomes a single
/// blank, and empty texts are removed. Consecutive texts of one role are joined, because some
/// agents join them. Tool calls get numbers instead of their ids, which agents change. Consecutive
/// tool results are sorted by their calls, and their images follow the last of them, because some
/// agents send these in a message of their own.
pub(crate) fn settled(atoms: Vec<Atom>, is_spoken: impl Fn(&str) -> bool) -> Vec<Atom> {
    let mut settled: Vec<Atom> = Vec::new();
    for atom in atoms {
        let atom = match atom {
            Atom::Reasoning(_) => continue,
            Atom::User(text) | Atom::Assistant(text) if text.trim().is_empty() => continue,
            Atom::User(text) if !is_spoken(&text) => continue,
            Atom::User(text) => Atom::User(collapsed(&text)),
            Atom::Assistant(text) => Atom::Assistant(collapsed(&text)),
            Atom::Result { call, text } => Atom::Result { call, text: collapsed(&text) },
            other @ (Atom::Call { .. } | Atom::Image(_)) => other,
        };
        match (settled.last_mut(), atom) {
            (Some(Atom::User(before)), Atom::User(text))
            | (Some(Atom::Assistant(before)), Atom::Assistant(text)) => {
                before.push(' ');
                before.push_str(&text);
            }
            (_, atom) => settled.push(atom),
        }
    }
    numbered(&mut settled);
    for run in settled.chunk_by_mut(|a, b| is_of_result(a) && is_of_result(b)) {
        if run.iter().any(|atom| matches!(atom, Atom::Result { .. })) {
            run.sort_by_key(|atom| match atom {
                Atom::Result { call, .. } => call.as_ref().and_then(|call| call.parse().ok()),
                _ => Some(usize::MAX),
            });
        }
    }
    settled
}

fn is_of_result(atom: &Atom) -> bool {
    matches!(atom, Atom::Result { .. } | Atom::Image(_))
}

/// Replaces the ids of tool calls and of their results by numbers. A result without an id is
/// matched with the first call that has no result yet.
fn numbered(atoms: &mut [Atom]) {
    let mut open: Vec<(Option<String>, usize)> = Vec::new();
    let mut count = 0;
    for atom in atoms {
        match atom {
            Atom::Call { id, .. } => {
                count += 1;
                open.push((id.replace(count.to_string()), count));
            }
            Atom::Result { call, .. } => {
                let at = match call {
                    Some(call) => open.iter().position(|(id, _)| id.as_ref() == Some(call)),
                    None => (!open.is_empty()).then_some(0),
                };
                *call = at.map(|at| open.remove(at).1.to_string());
            }
            _ => {}
        }
    }
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
