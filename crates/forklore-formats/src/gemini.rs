//! The format of Gemini CLI: `tmp/<project>/chats/session-*.jsonl`, whose lines change a list of
//! messages. Older versions wrote the whole list as one document, `session-*.json`. The command
//! `/chat save` writes `checkpoint-<tag>.json`.

mod export;
pub(crate) mod message;
mod record;
mod usage;
mod view;

use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, FileFacts, LineReader};
use forklore_core::export::Export;
use forklore_core::{CallUsage, Data, EventType, Message};

use crate::document::{Document, elements};
use crate::head::{Probe, any_line, first_byte};

/// The name of the file in a project's directory that contains the project's working directory.
/// Gemini CLI writes this file.
const OWNER: &str = ".project_root";

/// The name of Gemini CLI's record format. This name is stored with each imported event.
pub const NAME: &str = "gemini";

/// The format of Gemini CLI's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gemini;

impl AgentFormat for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, path: &Path, head: &[u8]) -> bool {
        any_line(head, is_own) || is_session(head) || is_checkpoint(path, head)
    }

    fn may_own(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let json = name.ends_with(".json");
        let named = name.starts_with("session-") || name.starts_with("checkpoint");
        name.ends_with(".jsonl") || (json && named)
    }

    fn is_document(&self, path: &Path, head: &[u8]) -> bool {
        let lines = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("jsonl"));
        !lines && (is_session(head) || first_byte(head) == Some(b'[') || is_checkpoint(path, head))
    }

    fn reader(&self, path: &Path, memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader::new(path, memory))
    }

    fn export(&self) -> Option<&dyn Export> {
        Some(self)
    }

    /// Returns the file in which Gemini CLI stores a project's working directory. Returns `None` if
    /// the session file at `path` is not in a directory `chats`.
    fn metadata_file(&self, path: &Path) -> Option<PathBuf> {
        let chats = path.parent().filter(|folder| folder.ends_with("chats"))?;
        Some(chats.with_file_name(OWNER))
    }

    fn read_metadata(&self, _: &Path, document: &str) -> FileFacts {
        let cwd = document.lines().next().map(str::trim).filter(|line| line.starts_with('/'));
        FileFacts { cwd: cwd.map(str::to_owned), ..FileFacts::default() }
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    fn call_usage(&self, kind: &EventType, data: &Data) -> Option<CallUsage> {
        if *kind == EventType::ASSISTANT_MESSAGE { usage::call_usage(data) } else { None }
    }
}

fn is_own(line: &Probe<'_>) -> bool {
    let header = line.session_id.get().is_some() && line.project_hash.get().is_some();
    let kind = line.kind.get();
    header || kind == Some("gemini") && line.id.get().is_some() && line.timestamp.get().is_some()
}

/// Checks whether a file is one JSON document with the fields of a Gemini CLI session. `head` are
/// its first bytes.
fn is_session(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let found = Document::read(text.trim_start_matches(['\u{feff}', '\0']), "messages");
    let of_session = found.field("sessionId").is_some() && found.field("projectHash").is_some();
    let spoken = found.items.first().is_some_and(|item| {
        let probe = serde_json::from_str::<Probe<'_>>(item.get());
        probe.is_ok_and(|probe| matches!(probe.kind.get(), Some("user" | "gemini" | "info")))
    });
    found.has_list && (of_session || spoken && found.field("lastUpdated").is_some())
}

/// Checks whether a file is a conversation saved by Gemini CLI. It contains a list of messages in
/// the form of Google's API, or an object with such a list in `history`. `head` are its first
/// bytes.
fn is_checkpoint(path: &Path, head: &[u8]) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let text = String::from_utf8_lossy(head);
    let found = Document::read(text.trim_start_matches(['\u{feff}', '\0']), "history");
    let mut items = found.items.iter();
    found.has_list
        && items.next().map_or(stem.starts_with("checkpoint"), |item| {
            let content: Result<message::Message<'_>, _> = serde_json::from_str(item.get());
            content.is_ok_and(|content| {
                let parts = content.parts.map(elements).unwrap_or_default();
                matches!(content.role.get(), Some("user" | "model")) && !parts.is_empty()
            })
        })
}
