//! The format of Amplifier: `projects/<folder>/sessions/<session>/transcript.jsonl`, with one
//! message per line. `metadata.json` in the same directory describes the session and its parent.

mod export;
mod paths;
mod record;
mod view;

use std::path::{Path, PathBuf};

use forklore_core::agent_format::{AgentFormat, FileFacts, LineReader};
use forklore_core::export::Export;
use forklore_core::{Data, EventType, Message};

use crate::head::{Probe, any_line};
use crate::roles::kind_of;

/// The name of Amplifier's record format. This name is stored with each imported event.
pub const NAME: &str = "amplifier";

/// The format of Amplifier's session directories.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amplifier;

impl AgentFormat for Amplifier {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, path: &Path, head: &[u8]) -> bool {
        let of_session = paths::is_in_sessions(path);
        paths::is_transcript(path) && any_line(head, |line| is_own(line, of_session))
    }

    /// Checks by its path whether a file may be a session file. Only a transcript is a session
    /// file. The other JSON lines files in a session's directory are logs of the program's actions.
    fn may_own(&self, path: &Path) -> bool {
        paths::is_transcript(path)
    }

    fn reader(&self, path: &Path, _memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader::new(path))
    }

    fn renames_copies(&self) -> bool {
        true
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    fn metadata_file(&self, path: &Path) -> Option<PathBuf> {
        paths::is_transcript(path).then(|| path.with_file_name("metadata.json"))
    }

    fn belongs_to(&self, path: &Path) -> Option<PathBuf> {
        paths::belongs_to(path)
    }

    fn belongings(&self, path: &Path) -> Option<PathBuf> {
        paths::is_transcript(path).then(|| path.parent().map(Path::to_owned)).flatten()
    }

    fn read_metadata(&self, _path: &Path, document: &str) -> FileFacts {
        paths::metadata_facts(document)
    }

    fn export(&self) -> Option<&dyn Export> {
        Some(self)
    }
}

/// Checks whether a line is a message with the field `timestamp`, which Amplifier adds.
/// `of_session` means that the file is in a `sessions` directory; the timestamp may then be
/// missing.
fn is_own(line: &Probe<'_>, of_session: bool) -> bool {
    let timed = of_session || line.timestamp.get().is_some();
    timed && line.kind.get().is_none() && line.role.get().and_then(kind_of).is_some()
}
