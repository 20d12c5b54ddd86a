//! The format of Factory Droid: `sessions/<folder>/<session>.jsonl`, with a header line and the
//! messages of one conversation in their order.

mod paths;
mod record;
mod view;

use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, Covers, LineReader};
use forklore_core::{Data, EventType, Message};
use serde::Deserialize;

use crate::head::{LineOf, Probe, long_line_holds, recognise};

/// The name of Factory Droid's record format. This name is stored with each imported event.
pub const NAME: &str = "droid";

/// The format of Factory Droid's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Droid;

impl AgentFormat for Droid {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, _path: &Path, head: &[u8]) -> bool {
        recognise(head, line_of).is_own()
            || long_line_holds(head, &["\"type\":\"session_start\"", "\"owner\":"])
    }

    fn reader(&self, _path: &Path, memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader::new(memory))
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    /// Returns the range that a compaction replaces: all messages up to the message that the
    /// compaction names. If it names no message, it replaces all messages before the compaction.
    fn compaction(&self, data: &Data) -> Option<Covers> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Compaction {
            anchor_message: Option<Anchor>,
        }
        #[derive(Deserialize)]
        struct Anchor {
            id: Option<String>,
        }
        let compaction: Compaction = data.read().ok()?;
        let last = compaction.anchor_message.and_then(|anchor| anchor.id);
        Some(last.map_or(Covers::AllBefore, Covers::After))
    }

    fn belongs_to(&self, path: &Path) -> Option<PathBuf> {
        paths::belongs_to(path)
    }
}

/// Returns what a line is: the header, a message, or a message that Pi wrote. The messages of the
/// two agents differ in a time that Pi writes inside the message.
fn line_of(line: &Probe<'_>) -> LineOf {
    let message = &line.message.0;
    if line.kind.is("session_start") && line.id.get().is_some() {
        return LineOf::Record;
    }
    let is_message = line.kind.is("message")
        && line.id.get().is_some()
        && line.timestamp.get().is_some()
        && matches!(message.role.get(), Some("user" | "assistant"));
    match is_message {
        true if message.timestamp.0 => LineOf::Unreadable,
        true if !message.content.blocks().is_empty() => LineOf::Message,
        _ => LineOf::Other,
    }
}
