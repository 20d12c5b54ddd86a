//! The form in which the index stores a message: its texts by kind, and the tools that it names.

use std::borrow::Cow;

use forklore_api::HitKind;
use forklore_core::{Content, Data, Event, Message, Part, Role};
use forklore_engine::Engine;
use serde_json::Value;

use crate::fold::words;
use crate::paths;

/// The maximum length, in bytes, of a run of characters without white space that is indexed. A
/// longer run is usually data, such as an encoded image.
const LONGEST_RUN: usize = 1_024;
/// The maximum nesting depth of JSON values that are indexed.
const DEEPEST: usize = 64;

/// The texts of one message, one for each kind of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) role: Option<Role>,
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) call: String,
    pub(crate) result: String,
    /// The text of a summary.
    pub(crate) summary: String,
    /// The names of the tools of the message's calls and results.
    pub(crate) tools: Vec<String>,
    /// The ids of the calls whose results do not name their tools.
    pub(crate) unnamed: Vec<String>,
    /// The paths that the message's calls name, each with the tool's name.
    pub(crate) paths: Vec<(String, String)>,
}

impl Document {
    /// Returns the texts of a conversation event or of a summary.
    pub(crate) fn of(engine: &Engine, event: &Event) -> Self {
        match engine.summary_messages(event) {
            Some(messages) => Self::of_summary(&messages),
            None => Self::of_message(engine.message(event)),
        }
    }

    /// Returns the document with its texts in the form that SQLite indexes (see [`indexed`]).
    pub(crate) fn indexed(mut self) -> Self {
        let Self { text, reasoning, call, result, summary, .. } = &mut self;
        for text in [text, reasoning, call, result, summary] {
            if let Cow::Owned(plain) = indexed(text) {
                *text = plain;
            }
        }
        self
    }

    fn of_summary(messages: &[Message]) -> Self {
        let mut document = Self::default();
        messages.iter().for_each(|message| put(&mut document.summary, &message.plain_text()));
        document
    }

    fn of_message(message: Message) -> Self {
        let mut document = Self { role: Some(message.role), ..Self::default() };
        match message.content {
            Content::Text(text) => document.text = text,
            Content::Parts(parts) => {
                parts.into_iter().for_each(|part| document.add(part));
            }
        }
        document
    }

    fn add(&mut self, part: Part) {
        match part {
            Part::Text { text } => put(&mut self.text, &text),
            Part::Reasoning { text, .. } => put(&mut self.reasoning, &text),
            Part::ToolCall { name, arguments, .. } => {
                put(&mut self.call, &name);
                strings(&arguments, &mut self.call);
                let paths = paths::named(&arguments).into_iter();
                self.paths.extend(paths.map(|path| (name.clone(), path)));
                self.tools.push(name);
            }
            Part::ToolResult { call_id, name, content, .. } => {
                strings(&content, &mut self.result);
                match name {
                    Some(name) => self.tools.push(name),
                    None => self.unnamed.push(call_id),
                }
            }
            Part::Attachment { name, .. } => {
                name.iter().for_each(|name| put(&mut self.text, name));
            }
            Part::Other { value } => strings(&value, &mut self.text),
        }
    }

    /// Returns the message's text of this kind. Empty for a title and a label, because these are
    /// not texts of a message.
    pub(crate) fn text_of(&self, kind: HitKind) -> &str {
        match kind {
            HitKind::Text => &self.text,
            HitKind::Reasoning => &self.reasoning,
            HitKind::Call => &self.call,
            HitKind::Result => &self.result,
            HitKind::Summary => &self.summary,
            HitKind::Title | HitKind::Label => "",
        }
    }

    /// Checks whether the document has no text at all.
    pub(crate) fn is_empty(&self) -> bool {
        HitKind::ALL.into_iter().all(|kind| self.text_of(kind).is_empty())
    }
}

fn put(out: &mut String, text: &str) {
    if !out.is_empty() && !text.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
}

/// Adds the strings and numbers in a JSON value to `out`, in the order of their keys. Leaves out
/// the keys themselves, because all calls of a tool have the same keys.
fn strings(data: &Data, out: &mut String) {
    // A string that contains JSON, as some agents write arguments, is looked into once.
    let data = data.readable();
    match data.read::<Value>() {
        Ok(Value::String(text)) if text.starts_with(['{', '[']) => {
            match serde_json::from_str::<Value>(&text) {
                Ok(value) => in_value(&value, 0, out),
                Err(_) => put(out, &text),
            }
        }
        Ok(value) => in_value(&value, 0, out),
        // The JSON is nested too deeply for the parser.
        Err(_) => put(out, data.get()),
    }
}

fn in_value(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::String(text) => put(out, text),
        Value::Number(number) => put(out, &number.to_string()),
        Value::Array(values) if depth < DEEPEST => {
            values.iter().for_each(|value| in_value(value, depth + 1, out));
        }
        Value::Object(fields) if depth < DEEPEST => {
            fields.values().for_each(|value| in_value(value, depth + 1, out));
        }
        _ => {}
    }
}

/// Returns `text` in a form in which SQLite finds the same words as this crate does. ASCII text
/// stays as it is, and any other text is replaced by its folded words. Very long runs of characters
/// are truncated.
pub(crate) fn indexed(text: &str) -> Cow<'_, str> {
    let is_short = text.len() <= LONGEST_RUN
        || !text.split(|c: char| c.is_ascii_whitespace()).any(|run| run.len() > LONGEST_RUN);
    if is_short && text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut short = String::with_capacity(text.len());
    for run in text.split_ascii_whitespace() {
        let end = (0..=run.len().min(LONGEST_RUN)).rev().find(|end| run.is_char_boundary(*end));
        let run = run.get(..end.unwrap_or(0)).unwrap_or_default();
        if run.is_ascii() {
            short.push_str(run);
        } else {
            words(run).for_each(|word| {
                short.push_str(&word.folded);
                short.push(' ');
            });
        }
        short.push(' ');
    }
    Cow::Owned(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_a_message_are_those_that_people_read() {
        let call = r#"{"path":"src/a.rs","edits":[{"new":"x \"y\"","at":7}],"all":true}"#;
        let part = |json: &str| serde_json::from_str::<Part>(json).unwrap();
        let message = Message::parts(
            Role::Assistant,
            vec![
                part(r#"{"type":"text","text":"one"}"#),
                part(r#"{"type":"reasoning","text":"why"}"#),
                part(&format!(
                    r#"{{"type":"tool_call","id":"c","name":"edit","arguments":{call}}}"#
                )),
                part(r#"{"type":"tool_result","call_id":"b","content":"{\"out\":\"done\"}"}"#),
                part(r#"{"type":"text","text":"two"}"#),
            ],
        );
        let document = Document::of_message(message);
        assert_eq!(
            document,
            Document {
                role: Some(Role::Assistant),
                text: "one\ntwo".into(),
                reasoning: "why".into(),
                call: "edit\n7\nx \"y\"\nsrc/a.rs".into(),
                result: "done".into(),
                summary: String::new(),
                tools: vec!["edit".into()],
                unnamed: vec!["b".into()],
                paths: vec![("edit".into(), "src/a.rs".into())],
            }
        );
    }

    #[test]
    fn of_data_only_the_beginning_is_indexed() {
        let long = "ab".repeat(10_000);
        assert_eq!(indexed(&format!("x {long} y")).len(), LONGEST_RUN + 5);
        assert!(matches!(indexed("x-y"), Cow::Borrowed("x-y")));
        assert_eq!(indexed("\u{1f9ff}Café\u{2066} B"), "cafe  B ");
    }
}
