//! The format of Claude Code: `projects/<folder>/<session>.jsonl`, a tree of records linked by
//! `parentUuid`.

mod export;
mod jobs;
mod paths;
mod record;
mod usage;
mod view;

use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, Covers, FileFacts, LineReader};
use forklore_core::export::Export;
use forklore_core::{CallUsage, Data, EventType, Message};

use crate::head::{LineOf, Probe, long_line_holds, recognise};
use crate::lenient::MessageContent;

/// The name of Claude Code's record format. This name is stored with each imported event.
pub const NAME: &str = "claude";

/// The format of Claude Code's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claude;

impl AgentFormat for Claude {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, _path: &Path, head: &[u8]) -> bool {
        let begun = long_line_holds(head, &["\"parentUuid\":", "\"sessionId\":"])
            && !long_line_holds(head, &["\"message\":{\"role\":", "\"parts\":["]);
        begun || recognise(head, line_of).is_own()
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

    /// Returns `AllBefore`, because Claude Code's summary replaces everything before the summary.
    fn compaction(&self, _data: &Data) -> Option<Covers> {
        Some(Covers::AllBefore)
    }

    fn base_folders(&self, path: &Path) -> Vec<PathBuf> {
        paths::project(path).into_iter().collect()
    }

    fn id_in_name<'p>(&self, path: &'p Path) -> Option<&'p str> {
        paths::session_id(path)
    }

    fn metadata_file(&self, path: &Path) -> Option<PathBuf> {
        jobs::state_file(path)
    }

    fn read_metadata(&self, path: &Path, document: &str) -> FileFacts {
        jobs::facts(path, document)
    }

    fn belongs_to(&self, path: &Path) -> Option<PathBuf> {
        paths::belongs_to(path)
    }

    fn belongings(&self, path: &Path) -> Option<PathBuf> {
        paths::without_ending(path)
    }

    fn export(&self) -> Option<&dyn Export> {
        Some(self)
    }
}

/// Types of records that describe a Claude Code session and have no id.
const SIDE_RECORDS: [&str; 16] = [
    "agent-name",
    "agent-setting",
    "ai-title",
    "bridge-session",
    "content-replacement",
    "continued-in",
    "cost-state",
    "custom-title",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "queue-operation",
    "relocated",
    "tag",
    "worktree-state",
];

fn line_of(line: &Probe<'_>) -> LineOf {
    let message = &line.message.0;
    let Some(kind) = line.kind.get() else { return LineOf::Other };
    if message.parts.0 || line.system_payload.0 {
        return LineOf::Unreadable;
    }
    let is_record = match kind {
        "user" | "assistant" => {
            let (has_role, has_id) = (message.role.get().is_some(), line.uuid.get().is_some());
            if has_role && has_id && matches!(message.content, MessageContent::Nothing) {
                return LineOf::Unreadable;
            }
            if has_role {
                return LineOf::Message;
            }
            has_id
        }
        "summary" => line.leaf_uuid.get().is_some(),
        "fork-context-ref" => line.parent_session_id.get().is_some(),
        "file-history-snapshot" => line.message_id.get().is_some(),
        kind => {
            let is_own = line.uuid.get().is_some() || SIDE_RECORDS.contains(&kind);
            is_own && line.session_id.get().is_some()
        }
    };
    if is_record { LineOf::Record } else { LineOf::Other }
}
