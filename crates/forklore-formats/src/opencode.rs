//! The format of opencode: one document per session, as `opencode export` writes it.
//! `forklore-opencode` generates lines of the same form from opencode's database and its older
//! directories.

mod export;
mod journal;
mod message;
mod message_ids;
mod record;
mod usage;
mod view;

use std::path::Path;

use forklore_core::agent_format::{AgentFormat, Covers, LineReader};
use forklore_core::export::Export;
use forklore_core::{CallUsage, Data, EventType, Message};

use self::message::OwnMessage;
use crate::document::Document;

/// The name of opencode's record format, which is stored with each imported event.
pub const NAME: &str = message::NAME;

/// The format of opencode's sessions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opencode;

impl AgentFormat for Opencode {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, path: &Path, head: &[u8]) -> bool {
        self.is_document(path, head)
    }

    fn may_own(&self, path: &Path) -> bool {
        // The files in opencode's own `storage` directory have another form.
        let internal = path.components().any(|part| part.as_os_str() == "storage");
        !internal && path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"))
    }

    fn is_document(&self, _path: &Path, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches(['\u{feff}', '\0']);
        let found = Document::read(text, "messages");
        match found.field("info") {
            Some(info) => found.has_list && OwnMessage::of_info(info).is_session(),
            // The session's `info` contains the file changes, so it may be longer than the head.
            None => is_begun(text),
        }
    }

    fn reader(&self, _path: &Path, memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader::new(memory))
    }

    fn export(&self) -> Option<&dyn Export> {
        Some(self)
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    fn call_usage(&self, kind: &EventType, data: &Data) -> Option<CallUsage> {
        if *kind == EventType::ASSISTANT_MESSAGE { usage::call_usage(data) } else { None }
    }

    /// Returns `AllBefore`, because opencode's summary replaces all messages before the summary.
    fn compaction(&self, _data: &Data) -> Option<Covers> {
        Some(Covers::AllBefore)
    }
}

fn is_begun(text: &str) -> bool {
    const BEGINNING: &str = "{\"info\":{\"id\":\"ses";
    let mut solid = text.chars().filter(|char| !char.is_ascii_whitespace());
    BEGINNING.chars().all(|char| solid.next() == Some(char))
}
