//! Formats one part of a message for users.

use forklore::core::Part;
use forklore::core::describe::{Describer, Outcome};

use super::Detail;
use crate::output::Tone;

/// Returns a part of a message as text. `describer` knows the tools of the calls before this part.
pub(super) fn text(part: &Part, detail: Detail, describer: &mut Describer) -> (Tone, String) {
    match part {
        Part::Text { text } => (Tone::Plain, text.clone()),
        Part::Reasoning { text, .. } if detail.thinking && !text.is_empty() => {
            (Tone::Dim, format!("(thinking) {text}"))
        }
        Part::ToolCall { id, name, arguments } if detail.tools => {
            describer.open(id, name);
            (Tone::Tool, format!("→ {name} {}", arguments.get()))
        }
        Part::ToolCall { .. } => (Tone::Tool, describer.part(part)),
        Part::ToolResult { call_id, .. } if detail.tools => {
            let tool = describer.tool_of(part).unwrap_or_else(|| call_id.clone());
            (Tone::Plain, result(&tool, part))
        }
        Part::ToolResult { .. } => (Tone::Plain, describer.part(part)),
        Part::Reasoning { .. } | Part::Attachment { .. } => (Tone::Dim, describer.part(part)),
        Part::Other { value } => {
            (Tone::Dim, forklore::core::describe::shortened(value.get()).into_owned())
        }
    }
}

fn result(tool: &str, part: &Part) -> String {
    let Some(Outcome { text, failed, synthetic }) = Outcome::of(part) else { return String::new() };
    let mark = match (synthetic, failed) {
        (true, _) => " (synthetic)",
        (false, true) => " (failed)",
        (false, false) => "",
    };
    format!("← {tool}{mark}: {text}")
}
