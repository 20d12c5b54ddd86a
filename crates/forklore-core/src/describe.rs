//! Describes messages in one line each, for lists and transcripts: what the user wrote, which tool
//! was called and with what, and how large its result is.

mod call;
mod edit;
mod result;

use std::collections::HashMap;

use crate::message::{Content, Message, Part};
use crate::summary::beginning;
use crate::units::{bytes, count};

pub use edit::{Change, FileEdit, file_edits};
pub use result::{Outcome, shortened};

/// The maximum length in bytes of the description of a whole message, and of each text that the
/// description of a part quotes.
const LONGEST: usize = 400;

/// The maximum length in bytes of a result that is described by its text. The result must also be a
/// single line. The description of any other result gives its size, and the beginning of its text
/// only if the tool failed.
const SHORT_RESULT: usize = 80;

/// Describes the messages of one session, in their order.
///
/// A result may name only the id of its call, so the describer remembers the tools of the calls
/// that have no result yet.
#[derive(Clone, Debug, Default)]
pub struct Describer {
    folder: Option<String>,
    tools: HashMap<String, String>,
}

impl Describer {
    /// Creates a describer for a session that works in `folder`. Descriptions name files in that
    /// folder by their path relative to it.
    #[must_use]
    pub fn in_folder(folder: &str) -> Self {
        Self { folder: Some(folder.to_owned()), tools: HashMap::new() }
    }

    /// Adds a call that was made before the first described message, so that the description of its
    /// result can name the tool.
    pub fn open(&mut self, id: &str, tool: &str) {
        self.tools.insert(id.to_owned(), tool.to_owned());
    }

    /// Returns `path` relative to the session's folder. Returns a path outside that folder
    /// unchanged.
    #[must_use]
    pub fn relative<'a>(&self, path: &'a str) -> &'a str {
        call::within(path, self.folder.as_deref())
    }

    /// Describes a whole message in one line.
    pub fn message(&mut self, message: &Message) -> String {
        match &message.content {
            Content::Text(text) => one_line(text),
            Content::Parts(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.part(part)).collect();
                let parts = parts.iter().map(String::as_str).filter(|part| !part.is_empty());
                beginning(&parts.collect::<Vec<_>>().join(" "), LONGEST).to_owned()
            }
        }
    }

    /// Describes a part of a message in one line. A call begins with `→`, and a result with `←`.
    pub fn part(&mut self, part: &Part) -> String {
        match part {
            Part::Text { text } => one_line(text),
            Part::Reasoning { text, .. } if text.is_empty() => "(thinking, not readable)".into(),
            Part::Reasoning { text, .. } => format!("(thinking, {})", bytes(text.len() as u64)),
            Part::ToolCall { id, name, arguments } => {
                self.open(id, name);
                format!("→ {}", self.call(name, arguments))
            }
            Part::ToolResult { .. } => self.result(part),
            Part::Attachment { r#ref, media_type, name, missing } => {
                let name = name.as_deref().unwrap_or(r#ref);
                let mark = if *missing { ", missing" } else { "" };
                format!("(attachment {name}, {media_type}{mark})")
            }
            Part::Other { value } => one_line(&shortened(value.get())),
        }
    }

    /// Describes a call in one line: the tool, and what the call is about.
    fn call(&self, tool: &str, arguments: &crate::Data) -> String {
        let essence = call::essence(arguments, self.folder.as_deref());
        format!("{tool} {essence}").trim_end().to_owned()
    }

    /// Returns the name of the tool that gave the result in `part`, and forgets the call, because
    /// the call now has a result. `None` if the part is no result, or if neither the part nor an
    /// earlier call names the tool.
    pub fn tool_of(&mut self, part: &Part) -> Option<String> {
        let Part::ToolResult { call_id, name, .. } = part else { return None };
        let of_call = self.tools.remove(call_id);
        name.clone().or(of_call).filter(|name| !name.is_empty())
    }

    fn result(&mut self, part: &Part) -> String {
        let tool = self.tool_of(part).unwrap_or_else(|| "result".to_owned());
        let Some(Outcome { text, failed, synthetic }) = Outcome::of(part) else {
            return String::new();
        };
        let mark = match (synthetic, failed) {
            (true, _) => " (synthetic)",
            (false, true) => " failed",
            (false, false) => "",
        };
        let text = text.trim();
        let lines = text.lines().count() as u64;
        if text.is_empty() {
            return format!("← {tool}{mark}: no output");
        }
        if lines == 1 && text.len() <= SHORT_RESULT {
            return format!("← {tool}{mark}: {}", one_line(text));
        }
        let size = format!("{}, {}", count(lines, "line"), bytes(text.len() as u64));
        if failed {
            return format!("← {tool}{mark}, {size}: {}", one_line(text));
        }
        format!("← {tool}{mark} {size}")
    }
}

/// Returns the beginning of `text` in one line: runs of white space become one space.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() >= LONGEST {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    beginning(&line, LONGEST).to_owned()
}

#[cfg(test)]
mod tests;
