//! The format of Qwen Code: `projects/<folder>/chats/<session>.jsonl`, a tree of records linked by
//! `parentUuid`. The messages in the records have the form of Google's API.

mod paths;
mod record;
mod usage;
mod view;

use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, Covers, LineReader};
use forklore_core::{CallUsage, Data, EventType, Message};

use crate::head::{LineOf, Probe, long_line_holds, recognise};
use crate::lenient::MessageContent;

/// The name of Qwen Code's record format. This name is stored with each imported event.
pub const NAME: &str = "qwen";

/// The format of Qwen Code's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Qwen;

impl AgentFormat for Qwen {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, _path: &Path, head: &[u8]) -> bool {
        let marks = ["\"parentUuid\":", "\"sessionId\":", "\"message\":{\"role\":", "\"parts\":["];
        recognise(head, line_of).is_own() || long_line_holds(head, &marks)
    }

    fn reader(&self, path: &Path, memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader::new(path, memory))
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    fn call_usage(&self, kind: &EventType, data: &Data) -> Option<CallUsage> {
        if *kind == EventType::ASSISTANT_MESSAGE { usage::call_usage(data) } else { None }
    }

    /// Returns `AllBefore`, because the record of a compression contains the whole history that the
    /// model sees instead.
    fn compaction(&self, _data: &Data) -> Option<Covers> {
        Some(Covers::AllBefore)
    }

    fn instead(&self, data: &Data) -> Vec<Message> {
        view::instead(data)
    }

    fn belongs_to(&self, path: &Path) -> Option<PathBuf> {
        paths::belongs_to(path)
    }
}

/// Returns what a line is: a message with parts, another record of Qwen Code, or a message in
/// Claude Code's form, which has the same fields around it.
fn line_of(line: &Probe<'_>) -> LineOf {
    let message = &line.message.0;
    let has_ids = line.uuid.get().is_some() && line.session_id.get().is_some();
    let has_content = !matches!(message.content, MessageContent::Nothing);
    match has_ids {
        true if message.parts.0 => LineOf::Message,
        true if line.system_payload.0 => LineOf::Record,
        true if message.role.get().is_some() && has_content => LineOf::Unreadable,
        _ => LineOf::Other,
    }
}
