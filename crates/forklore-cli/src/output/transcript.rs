//! Formats messages for users.

use forklore::core::{Content, Data, Label, Message, Part, Role};
use forklore::engine::Record;

use super::{Page, Tone, time};

const INDENT: usize = 5;

/// Prints the records of a conversation. A separator line names the branch, if a record was written
/// in another branch than the record before it.
#[derive(Default)]
pub(crate) struct Transcript {
    branch: Option<Label>,
    begun: bool,
}

impl Transcript {
    /// Creates a transcript without a separator line for `branch`, which a heading already names.
    pub(crate) fn in_branch(branch: Option<Label>) -> Self {
        Self { branch, begun: true }
    }

    /// Prints a record. Shows no more than `most` lines of each text in the record.
    pub(crate) fn record(&mut self, page: &mut Page, record: &Record, most: usize) {
        if !self.begun || self.branch != record.branch {
            let name = record.branch.as_ref().map_or("a deleted branch", Label::as_str);
            page.put(Tone::Dim, "── ").put(Tone::Label, name).put(Tone::Dim, " ──").end();
            self.branch.clone_from(&record.branch);
            self.begun = true;
        }
        page.put(Tone::Dim, format!("{:>3}  ", record.index))
            .put(tone(record.role), name(record.role));
        page.put(Tone::Dim, format!("  {}", time(record.ts)));
        if record.partial {
            page.put(Tone::Warn, "  interrupted");
        }
        page.end();
        content(page, &record.content, most);
    }
}

/// Prints a message in full, as the model receives it, with its number.
pub(crate) fn message(page: &mut Page, number: usize, message: &Message) {
    page.put(Tone::Dim, format!("{number:>3}  ")).put(tone(message.role), name(message.role)).end();
    content(page, &message.content, usize::MAX);
}

/// Returns the first 400 characters of `text`, for a table cell. A cell shows far less, so the rest
/// need not be processed.
pub(crate) fn start_of(text: &str) -> String {
    text.chars().take(400).collect()
}

fn content(page: &mut Page, content: &Content, most: usize) {
    match content {
        Content::Text(text) => page.block(Tone::Plain, text, INDENT, most),
        Content::Parts(parts) => {
            for (tone, text) in parts.iter().map(part_text) {
                page.block(tone, &text, INDENT, most);
            }
        }
    }
}

fn part_text(part: &Part) -> (Tone, String) {
    match part {
        Part::Text { text } => (Tone::Plain, text.clone()),
        Part::Reasoning { text, .. } if text.is_empty() => {
            (Tone::Dim, "(thinking, not readable)".into())
        }
        Part::Reasoning { text, .. } => (Tone::Dim, format!("(thinking) {text}")),
        Part::ToolCall { name, arguments, .. } => {
            (Tone::Tool, format!("→ {name} {}", arguments.get()))
        }
        Part::ToolResult { call_id, name, content, is_error, synthetic } => {
            let who = name.as_deref().unwrap_or(call_id);
            let mark = match (synthetic, is_error) {
                (true, _) => " (synthetic)",
                (false, true) => " (failed)",
                (false, false) => "",
            };
            (Tone::Plain, format!("← {who}{mark}: {}", readable(content)))
        }
        Part::Attachment { r#ref, media_type, name, missing } => {
            let name = name.as_deref().unwrap_or(r#ref);
            let mark = if *missing { ", missing" } else { "" };
            (Tone::Dim, format!("(attachment {name}, {media_type}{mark})"))
        }
        Part::Other { value } => (Tone::Dim, value.get().to_owned()),
    }
}

/// Returns a tool's result as text, if it is a JSON string or a list of text parts, or else as
/// JSON.
fn readable(content: &Data) -> String {
    if let Ok(text) = content.read::<String>() {
        return text;
    }
    #[derive(serde::Deserialize)]
    struct Text {
        text: String,
    }
    match content.read::<Vec<Text>>() {
        Ok(texts) => texts.into_iter().map(|part| part.text).collect::<Vec<_>>().join("\n"),
        Err(_) => content.get().to_owned(),
    }
}

fn name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

fn tone(role: Role) -> Tone {
    match role {
        Role::System => Tone::Dim,
        Role::User => Tone::User,
        Role::Assistant => Tone::Assistant,
        Role::Tool => Tone::Tool,
    }
}
