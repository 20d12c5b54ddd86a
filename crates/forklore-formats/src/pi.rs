//! The format of Pi: one file per session, with a header line and a tree of records linked by
//! `parentId`.

mod export;
mod record;
mod usage;
mod view;

use std::path::Path;

use forklore_core::agent_format::{AgentFormat, Covers, Edit, LineReader};
use forklore_core::export::Export;
use forklore_core::{CallUsage, Data, EventType, Message};
use serde::Deserialize;

use crate::head::{LineOf, Probe, any_line, long_line_holds, recognise};
use crate::lenient::MessageContent;

/// The name of Pi's record format. This name is stored with each imported event.
pub const NAME: &str = "pi";

/// The format of Pi's session files, in all versions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pi;

impl AgentFormat for Pi {
    fn name(&self) -> &'static str {
        NAME
    }

    fn detect(&self, _path: &Path, head: &[u8]) -> bool {
        any_line(head, is_header)
            || recognise(head, line_of).is_own()
            || long_line_holds(head, &["\"type\":\"session\"", "\"version\":"])
            || long_line_holds(head, &["\"kind\":\"header\"", "\"version\":4"])
    }

    fn reader(&self, _path: &Path, _memory: Option<&str>) -> Box<dyn LineReader> {
        Box::new(record::Reader)
    }

    fn view(&self, kind: &EventType, data: &Data) -> Option<Message> {
        view::message(kind, data)
    }

    fn call_usage(&self, kind: &EventType, data: &Data) -> Option<CallUsage> {
        if *kind == EventType::ASSISTANT_MESSAGE { usage::call_usage(data) } else { None }
    }

    /// Returns the range that a compaction replaces: all records before the record that the
    /// compaction names. If the compaction names itself or no record, replaces all records before
    /// the compaction. The first version of the format names a line number instead, counted from
    /// the header, which is line 0.
    fn compaction(&self, data: &Data) -> Option<Covers> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Compaction {
            id: Option<String>,
            #[serde(rename = "firstKeptEntryId")]
            first_entry_id: Option<String>,
            #[serde(rename = "firstKeptEntryIndex")]
            first_entry_index: Option<u64>,
        }
        let compaction: Compaction = data.read().ok()?;
        let index = compaction.first_entry_index.and_then(|line| line.checked_sub(1));
        let first_id = compaction.first_entry_id.filter(|id| Some(id) != compaction.id.as_ref());
        Some(match (first_id, index.filter(|_| compaction.id.is_none())) {
            (Some(id), _) => Covers::Before(id),
            (None, Some(location)) => Covers::BeforeIndex(location),
            (None, None) => Covers::AllBefore,
        })
    }

    fn instead(&self, data: &Data) -> Vec<Message> {
        view::instead(data)
    }

    fn edit(&self, kind: &EventType, data: &Data) -> Option<Edit> {
        (kind.as_str() == "x.pi.context_edit").then(|| view::edit(data)).flatten()
    }

    fn export(&self) -> Option<&dyn Export> {
        Some(self)
    }
}

fn is_header(line: &Probe<'_>) -> bool {
    let has_id = line.id.get().is_some();
    has_id && (line.kind.is("session") && line.timestamp.get().is_some() || line.form.is("header"))
}

/// Returns what a line of a file without a header is: a message of Pi, a message of another agent,
/// or anything else. In Pi's files, a message with content contains a timestamp. Without that
/// timestamp, another agent wrote the message.
fn line_of(line: &Probe<'_>) -> LineOf {
    let message = &line.message.0;
    let is_message = line.kind.is("message")
        && line.id.get().is_some()
        && line.timestamp.get().is_some()
        && message.role.get().is_some();
    match message.content {
        _ if !is_message => LineOf::Other,
        _ if message.timestamp.0 => LineOf::Message,
        // A message of Pi without content is the output of a command.
        MessageContent::Nothing => LineOf::Message,
        MessageContent::Text(_) => LineOf::Other,
        MessageContent::Blocks(_) => LineOf::Unreadable,
    }
}
