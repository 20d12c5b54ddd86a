//! The parts of a message, as a page shows them: texts, thinking, tool calls with their results,
//! files. They contain the text of the session as it is; [`Blocks`](crate::Blocks) makes it safe.

use forklore_core::describe::{Describer, FileEdit, Outcome, file_edits};
use forklore_core::{Data, Part, inline};
use serde_json::Value;

/// The maximum length, in bytes, of the text of a result or of arguments on a page. A longer text
/// is truncated.
const LONGEST: usize = 64 * 1024;

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// The text of a message.
    Text(String),
    /// The model's thinking: a description in one line, and the text. The text is empty if the
    /// thinking is not readable.
    Thinking(String, String),
    /// A tool call.
    Call(Call),
    /// The result of a tool call that is not among the items of the page.
    Result(ToolOutput),
    /// An image or another file: a description in one line, and where its bytes are.
    File(String, Source),
    /// A part of another kind, as JSON.
    Other(String),
}

/// A tool call, with its result if it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// A description of the call in one line.
    pub line: String,
    /// The changes that the call makes to files.
    pub edits: Vec<FileEdit>,
    /// The arguments as JSON. Empty if the call has none, or if `edits` shows them.
    pub arguments: String,
    /// The result of the call.
    pub output: Option<ToolOutput>,
}

/// The output of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// A description of the result in one line.
    pub line: String,
    /// The text of the result.
    pub text: String,
    /// Whether the tool failed.
    pub failed: bool,
    /// Where the images of the result are.
    pub images: Vec<Source>,
}

/// Where the bytes of an image or another file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The bytes are in the message, as base64.
    Inline {
        /// The media type that the message states.
        media_type: String,
        /// The text in base64, not checked.
        base64: String,
    },
    /// The bytes are in the attachment with the name `reference`.
    Attachment {
        /// The media type that the message states.
        media_type: String,
        /// The name of the attachment, not checked.
        reference: String,
    },
    /// The bytes are at this address, from which the page may load them.
    Link(String),
    /// The store does not have the bytes, or they are damaged.
    None,
}

impl Block {
    /// Converts a part of a message. `describer` describes the messages of one session in their
    /// order.
    #[must_use]
    pub fn of(part: &Part, describer: &mut Describer) -> Self {
        match part {
            Part::Text { text } => Self::Text(text.clone()),
            Part::Reasoning { text, .. } => Self::Thinking(describer.part(part), text.clone()),
            Part::ToolCall { arguments, .. } => Self::Call(call(part, arguments, describer)),
            Part::ToolResult { .. } => match ToolOutput::of(part, describer) {
                Some(output) => Self::Result(output),
                None => Self::Other(String::new()),
            },
            Part::Attachment { r#ref, media_type, missing, .. } => {
                let (media_type, reference) = (media_type.clone(), r#ref.clone());
                let source = match missing {
                    true => Source::None,
                    false => Source::Attachment { media_type, reference },
                };
                Self::File(describer.part(part), source)
            }
            Part::Other { value } => match source(value.get()) {
                Some(source) => Self::File(describer.part(part), source),
                None => Self::Other(limited(value.get())),
            },
        }
    }

    /// Returns where the files of the part are, in their order.
    pub fn sources_mut(&mut self) -> Vec<&mut Source> {
        match self {
            Self::File(_, source) => vec![source],
            Self::Result(output) | Self::Call(Call { output: Some(output), .. }) => {
                output.images.iter_mut().collect()
            }
            _ => Vec::new(),
        }
    }
}

impl ToolOutput {
    /// Converts the result of a tool call; `None` if the part is no result.
    #[must_use]
    pub fn of(part: &Part, describer: &mut Describer) -> Option<Self> {
        let Part::ToolResult { content, .. } = part else { return None };
        let Outcome { text, failed, .. } = Outcome::of(part)?;
        let list: Vec<Value> = content.read().unwrap_or_default();
        let images = list.iter().filter_map(|part| source(&part.to_string())).collect();
        Some(Self { line: describer.part(part), text: limited(&text), failed, images })
    }
}

fn source(part: &str) -> Option<Source> {
    let found = inline(part)?;
    let (media_type, base64) = (found.media_type.into_owned(), found.base64.into_owned());
    Some(Source::Inline { media_type, base64 })
}

fn call(part: &Part, arguments: &Data, describer: &mut Describer) -> Call {
    let line = describer.part(part);
    let value: Value = arguments.readable().read().unwrap_or(Value::Null);
    let mut edits = file_edits(&value);
    for edit in &mut edits {
        edit.path = describer.relative(&edit.path).to_owned();
    }
    let arguments = match &value {
        _ if !edits.is_empty() => String::new(),
        Value::Null => arguments.get().to_owned(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        value => format!("{value:#}"),
    };
    Call { line, edits, arguments: limited(&arguments), output: None }
}

/// Truncates a long text, and adds the number of bytes that were left out.
fn limited(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let begin = forklore_core::summary::beginning(text, LONGEST);
    let rest = forklore_core::units::bytes((text.len() - begin.len()) as u64);
    format!("{begin}\n... {rest} more")
}
