//! The format of OpenAI Codex: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, with one envelope
//! per line. The records of a file form no tree. The file of a fork names another file, and the
//! position in that file at which the fork begins. A rollback abandons turns.

mod export;
mod fields;
mod name;
mod record;
mod renewed;
mod sort;
mod usage;
mod view;

use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, Covers, LineReader};
use forklore_core::export::Export;
use forklore_core::{Data, EventType, Message};

use crate::document::Document;
use crate::head::{Probe, any_line, long_line_holds};

/// The name of Codex's record format. This name is stored with each imported event.
pub const NAME: &str = "codex";

/// The format of Codex's session files, in all versions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Codex;

impl AgentFormat for Codex {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, path: &Path, head: &[u8]) -> bool {
        let named = name::rollout(path).is_some();
        if name::is_document(path) {
            return is_document(head);
        }
        any_line(head, |line| is_own(line, named))
            || long_line_holds(head, &["\"type\":\"session_meta\"", "\"payload\":"])
    }

    /// Checks by its path whether a file may be a session file: a JSONL file, possibly compressed
    /// with zstd, or a JSON document, as the first versions of Codex wrote. Codex compresses
    /// sessions that nobody has used for a long time.
    fn may_own(&self, path: &Path) -> bool {
        let is = |path: &Path, ending| {
            path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
        };
        name::is_document(path)
            || is(path, "jsonl")
            || (is(path, "zst") && is(&path.with_extension(""), "jsonl"))
    }

    fn is_document(&self, path: &Path, head: &[u8]) -> bool {
        name::is_document(path) && is_document(head)
    }

    fn reader(&self, path: &Path, memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader::new(path, memory))
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    fn model_of_turn(&self, kind: &EventType, data: &Data) -> Option<String> {
        view::model(kind, data)
    }

    /// Returns `AllBefore`, because a compaction replaces the whole earlier history. Its record
    /// contains the part of that history that Codex retains.
    fn compaction(&self, _data: &Data) -> Option<Covers> {
        Some(Covers::AllBefore)
    }

    fn instead(&self, data: &Data) -> Vec<Message> {
        view::instead(data)
    }

    /// Returns `true`: `codex migrate-rollouts` rewrites files in place, with a number in each
    /// record.
    fn renews_files(&self) -> bool {
        true
    }

    fn is_renewed(&self, kind: &EventType, earlier: &Data, later: &Data) -> bool {
        renewed::is_same(kind, earlier, later)
    }

    fn export(&self) -> Option<&dyn Export> {
        Some(self)
    }

    fn names(&self, path: &Path) -> Option<(PathBuf, String)> {
        let home = name::home(path)?;
        Some((home.join("session_index.jsonl"), name::rollout(path)?.thread.to_owned()))
    }

    fn base_folders(&self, path: &Path) -> Vec<PathBuf> {
        let home = name::home(path);
        home.iter().flat_map(|home| name::FOLDERS.map(|name| home.join(name))).collect()
    }

    fn id_in_name<'p>(&self, path: &'p Path) -> Option<&'p str> {
        Some(name::rollout(path)?.file)
    }

    fn named(&self, line: &str) -> Option<(String, String)> {
        name::given(line)
    }
}

/// Checks whether a file is a session of the first versions of Codex: one JSON object with the
/// session's header and its items. `head` are its first bytes.
fn is_document(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let found = Document::read(text.trim_start_matches('\u{feff}'), "items");
    found.has_list && found.field("session").is_some()
}

/// Checks whether Codex wrote the line. `named` means that the file's name has Codex's form. In
/// early 2025, Codex wrote messages and calls without an envelope (time and type around a payload).
/// Such lines are accepted only in a file with such a name.
fn is_own(line: &Probe<'_>, named: bool) -> bool {
    match line.kind.get() {
        Some(
            "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted"
            | "world_state",
        ) => true,
        Some(kind) => named && sort::is_item(kind),
        None => line.record_type.is("state"),
    }
}
