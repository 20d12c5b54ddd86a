//! A message of a session in an answer.

use forklore_api::Record;
use forklore_core::{Content, Part};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Quoted;
use crate::session::title;

/// A message, with its parts in order.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessageOut {
    /// The number of the message in the session, from 0.
    pub(super) index: u64,
    /// The position in the log. A fork can begin after it: pass at: seq:N.
    pub(super) seq: u64,
    /// system, user, assistant or tool: the role that the message had in its own session.
    pub(super) role: &'static str,
    /// When the message was written.
    pub(super) ts: String,
    /// The label of the session that wrote the message, if it still exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) branch: Option<String>,
    /// Whether the message was interrupted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) interrupted: bool,
    pub(super) parts: Vec<PartOut>,
    /// The number of characters that are not shown. Pass `more` to `messages` as cursor for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) omitted_chars: Option<usize>,
    /// The cursor with which `messages` shows the rest of this message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) more: Option<String>,
}

/// A part of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PartOut {
    /// text, reasoning, tool_call, tool_result, attachment or other.
    kind: &'static str,
    /// The tool of a call or a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    untrusted_tool: Option<Quoted>,
    /// Whether the tool failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
    /// The text, the arguments of the call as JSON, or the result.
    untrusted_text: Quoted,
}

/// What JSON needs for a part without its texts, at most.
const PART_CHARS: usize = 120;
/// What JSON needs for a message without its parts, at most.
pub(super) const MESSAGE_CHARS: usize = 420;

impl MessageOut {
    /// Describes a message from its character `from` on, in at most `most` characters of JSON.
    pub(super) fn of(record: Record, from: usize, most: usize) -> Self {
        let Record { index, seq, role, content, partial, branch, ts, .. } = record;
        let parts = match content {
            Content::Text(text) => vec![Part::Text { text }],
            Content::Parts(parts) => parts,
        };
        let (mut skip, mut left, mut shown, mut all) = (from, most, from, 0);
        let mut out = Vec::new();
        let mut full = false;
        for part in &parts {
            let (kind, tool, failed, text) = described(part);
            let length = text.chars().count();
            all += length;
            if length > 0 && skip >= length {
                skip -= length;
                continue;
            }
            if full || left <= PART_CHARS {
                full = true;
                continue;
            }
            let rest: String = text.chars().skip(skip).collect();
            let (quoted, quoted_chars) = Quoted::block(&rest, left - PART_CHARS);
            full = skip + quoted_chars < length;
            shown += quoted_chars;
            skip = 0;
            let untrusted_tool = tool.map(title);
            let part = PartOut { kind, untrusted_tool, failed, untrusted_text: quoted };
            left = left.saturating_sub(size(&part));
            out.push(part);
        }
        let omitted = all.saturating_sub(shown);
        Self {
            index,
            seq,
            role: role.as_str(),
            ts: ts.to_string(),
            branch: branch.map(|label| label.to_string()),
            interrupted: partial,
            parts: out,
            omitted_chars: (omitted > 0).then_some(omitted),
            more: (omitted > 0).then(|| format!("{index}+{shown}")),
        }
    }
}

fn size(part: &PartOut) -> usize {
    serde_json::to_string(part).map_or(usize::MAX, |text| text.chars().count() + 1)
}

/// Returns the kind, the tool, whether the tool failed, and the text of a part.
fn described(part: &Part) -> (&'static str, Option<&str>, bool, String) {
    match part {
        Part::Text { text } => ("text", None, false, text.clone()),
        Part::Reasoning { text, .. } => ("reasoning", None, false, text.clone()),
        Part::ToolCall { name, arguments, .. } => {
            ("tool_call", Some(name), false, arguments.readable().get().to_owned())
        }
        Part::ToolResult { name, content, is_error, .. } => {
            let content = content.readable();
            let text = content.read::<String>().unwrap_or_else(|_| content.get().to_owned());
            ("tool_result", name.as_deref(), *is_error, text)
        }
        Part::Attachment { r#ref: reference, media_type, name, .. } => {
            let name = name.as_deref().unwrap_or_default();
            ("attachment", None, false, format!("{media_type} {name} {reference}"))
        }
        Part::Other { value } => ("other", None, false, value.readable().get().to_owned()),
    }
}
