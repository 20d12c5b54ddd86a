//! The format of plain messages, `{role, content}`, as in the APIs of OpenAI and Anthropic. A file
//! contains one message per line, a JSON list of messages, or an object with a list `messages`.
//! Calls and results may have the form of either API or of forklore's own parts.

mod record;
mod view;

use std::path::Path;

use forklore_core::agent_format::{AgentFormat, Covers, LineReader};
use forklore_core::{Data, EventType, Message};

use crate::document::Document;
use crate::head::{Probe, any_line};
use crate::lenient::MessageContent;
use crate::roles::kind_of;

/// The name of the record format of plain message files. This name is stored with each imported
/// event.
pub const NAME: &str = "plain";

/// The format of files that contain plain messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl AgentFormat for Plain {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, path: &Path, head: &[u8]) -> bool {
        self.is_document(path, head) || any_line(head, is_own)
    }

    fn may_own(&self, path: &Path) -> bool {
        let end = path.extension().unwrap_or_default().to_ascii_lowercase();
        end == "jsonl" || end == "json"
    }

    fn is_document(&self, path: &Path, head: &[u8]) -> bool {
        if is_lines(path) {
            return false;
        }
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches(['\u{feff}', '\0']);
        let found = Document::read(text, record::MESSAGES);
        let first = found.items.first().map(|raw| serde_json::from_str::<Probe<'_>>(raw.get()));
        found.has_list && first.is_some_and(|probe| probe.is_ok_and(|probe| is_own(&probe)))
    }

    fn reader(&self, path: &Path, _memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader { lines: is_lines(path) })
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    fn compaction(&self, _data: &Data) -> Option<Covers> {
        None
    }
}

/// Checks by its extension whether the file contains one message per line, and is not one JSON
/// document.
fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("jsonl"))
}

fn is_own(line: &Probe<'_>) -> bool {
    let says =
        !matches!(line.content, MessageContent::Nothing) || !line.tool_calls.blocks().is_empty();
    says && line.role.get().and_then(kind_of).is_some()
}
