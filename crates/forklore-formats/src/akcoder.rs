//! The format of ak-coder: `~/.ak-coder/history/workspaces/<folder>-<hash>/<session>.jsonl`, with
//! one message per line, in the form of OpenAI's API. Only the path of a file shows that ak-coder
//! wrote the file.

mod export;
mod name;

use std::path::Path;

use forklore_core::agent_format::{AgentFormat, FileFacts, Line, LineReader};
use forklore_core::export::Export;
use forklore_core::message::Content;
use forklore_core::{Data, EventType, Message, Part};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::plain::Plain;

/// The name of ak-coder's record format. This name is stored with each imported event.
pub const NAME: &str = "ak-coder";

/// The format of ak-coder's session files.
#[derive(Clone, Copy, Debug, Default)]
pub struct AkCoder;

impl AgentFormat for AkCoder {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, path: &Path, head: &[u8]) -> bool {
        name::is_history(path) && Plain.detect(path, head)
    }

    fn reader(&self, path: &Path, memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(Reader { messages: Plain.reader(path, memory), facts: name::facts(path) })
    }

    fn renames_copies(&self) -> bool {
        true
    }

    fn workspace_key<'p>(&self, path: &'p Path) -> Option<&'p str> {
        name::workspace_key(path)
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        let message = Plain.view(kind, data)?;
        let images = images(data);
        if images.is_empty() {
            return Some(message);
        }
        let mut parts = message.to_parts();
        parts.extend(images);
        Some(Message { content: Content::Parts(parts), ..message })
    }

    fn export(&self) -> Option<&dyn Export> {
        Some(self)
    }
}

/// Reads the lines of one ak-coder session file.
struct Reader {
    messages: Box<dyn LineReader>,
    /// Facts about the session from the file's name. The reader returns them once, with the first
    /// line that it can read.
    facts: FileFacts,
}

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        let mut read = self.messages.read(line);
        match &mut read {
            Line::Record(record) => record.facts = std::mem::take(&mut self.facts),
            Line::Side(facts) => *facts = std::mem::take(&mut self.facts),
            Line::Several(_) | Line::Damage(_) => {}
        }
        read
    }
}

/// Returns the images in the field `images` of a message. An image may be given as bytes or as a
/// path.
fn images(data: &Data) -> Vec<Part> {
    #[derive(Deserialize)]
    struct RecordFields<'a> {
        #[serde(borrow, default)]
        images: Vec<&'a RawValue>,
    }
    let shown: Option<RecordFields<'_>> = data.read().ok();
    let images = shown.map(|shown| shown.images).unwrap_or_default().into_iter();
    images.map(|image| Part::Other { value: Data::from_checked(image.get()) }).collect()
}
