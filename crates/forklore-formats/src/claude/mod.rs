//! Claude Code: `projects/<folder>/<session>.jsonl`, a tree of records linked by `parentUuid`.

mod export;
mod place;
mod record;
mod spent;
mod view;

use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, Covers, LineReader};
use forklore_core::export::Export;
use forklore_core::{CallUsage, Data, EventType, Message};

use crate::head::{Probe, any_line, long_line_holds};

/// The name kept with each event.
pub const NAME: &str = "claude";

/// Claude Code's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claude;

impl AgentFormat for Claude {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, _path: &Path, head: &[u8]) -> bool {
        any_line(head, is_own) || long_line_holds(head, &["\"parentUuid\":", "\"sessionId\":"])
    }

    fn reader(&self, path: &Path, memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader::new(path, memory))
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    fn spent(&self, kind: &EventType, data: &Data) -> Option<CallUsage> {
        if *kind == EventType::ASSISTANT_MESSAGE { spent::spent(data) } else { None }
    }

    /// Claude Code's summary stands for everything before it.
    fn compaction(&self, _data: &Data) -> Option<Covers> {
        Some(Covers::AllBefore)
    }

    fn belongs_to(&self, path: &Path) -> Option<PathBuf> {
        place::belongs_to(path)
    }

    fn belongings(&self, path: &Path) -> Option<PathBuf> {
        place::without_ending(path)
    }

    fn export(&self) -> Option<&dyn Export> {
        Some(self)
    }
}

fn is_own(line: &Probe<'_>) -> bool {
    match line.kind.get() {
        Some("user" | "assistant") => {
            line.message.0.role.get().is_some() || line.uuid.get().is_some()
        }
        Some("summary") => line.leaf_uuid.get().is_some(),
        Some("file-history-snapshot") => line.message_id.get().is_some(),
        Some(_) => line.session_id.get().is_some(),
        None => false,
    }
}
