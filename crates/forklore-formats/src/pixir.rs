//! The format of Pixir: `<workspace>/.pixir/sessions/<session>.ndjson`, with one event per line. A
//! fork is a separate log. It begins with a `session_fork` event that names the parent, followed by
//! copies of the parent's events under new ids.

mod export;
mod lineage;
mod paths;
mod record;
mod usage;
mod view;

use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, Covers, LineReader};
use forklore_core::export::Export;
use forklore_core::{CallUsage, Data, EventType, Message};

use crate::head::any_text;

/// The name of Pixir's record format. This name is stored with each imported event.
pub const NAME: &str = "pixir";

/// The format of Pixir's session logs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pixir;

impl AgentFormat for Pixir {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Checks whether a file is a session log of Pixir. Also checks the file's extension, because
    /// forklore's own files have lines of the same form.
    fn detect(&self, path: &Path, head: &[u8]) -> bool {
        self.may_own(path) && any_text(head, record::is_own)
    }

    fn may_own(&self, path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ndjson"))
    }

    fn reader(&self, path: &Path, _memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader::new(path))
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    fn call_usage(&self, kind: &EventType, data: &Data) -> Option<CallUsage> {
        (*kind == EventType::PROVIDER_USAGE).then(|| usage::call_usage(data)).flatten()
    }

    /// Returns the range that a compaction replaces: all events up to the last event that its
    /// record names. The events between that event and the compaction remain.
    fn compaction(&self, data: &Data) -> Option<Covers> {
        view::range_end(data).map(Covers::Through)
    }

    fn number(&self, data: &Data) -> Option<u64> {
        view::number(data)
    }

    fn are_numbered_together(&self, a: &Data, b: &Data) -> bool {
        view::session(a) == view::session(b)
    }

    fn belongs_to(&self, path: &Path) -> Option<PathBuf> {
        paths::belongs_to(path)
    }

    fn belongings(&self, path: &Path) -> Option<PathBuf> {
        paths::belongings(path)
    }

    fn renames_copies(&self) -> bool {
        true
    }

    fn says_the_same(&self, _kind: &EventType, a: &Data, b: &Data) -> bool {
        record::says_the_same(a, b)
    }

    fn export(&self) -> Option<&dyn Export> {
        Some(self)
    }
}
