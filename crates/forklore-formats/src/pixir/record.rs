//! Parses the lines of a Pixir log.

use std::path::Path;

use forklore_core::Usage;
use forklore_core::agent_format::{FileFacts, Line, LineReader, Record};
use forklore_core::call::{CallStep, Effect};
use forklore_core::{Data, EventType};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage::Summary;
use crate::author::Author;
use crate::lenient::{Object, Text, Whole, fields};
use crate::roles::opened;
use crate::time;

/// The types of the events in Pixir's logs.
const TYPES: [&str; 14] = [
    "user_message",
    "assistant_message",
    "reasoning",
    "skill_activation",
    "subagent_event",
    "workflow_event",
    "session_fork",
    "branch_summary",
    "history_compaction",
    "provider_usage",
    "turn_failed",
    "tool_call",
    "tool_result",
    "permission_decision",
];

/// The fields that show whether a line is an event of Pixir.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Probe<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    session_id: Text<'a>,
    seq: Whole,
    #[serde(borrow)]
    ts: Text<'a>,
}

/// Checks whether a line is an event in Pixir's form.
pub(super) fn is_own(line: &str) -> bool {
    let Ok(line) = serde_json::from_str::<Probe<'_>>(line) else { return false };
    let placed = line.session_id.get().is_some() && line.seq.0.is_some() && line.ts.get().is_some();
    placed && line.kind.get().is_some_and(|kind| TYPES.contains(&kind))
}

/// Checks whether events of this type occur in Pixir's logs under the same name.
pub(super) fn is_own_type(kind: &EventType) -> bool {
    TYPES.contains(&kind.as_str())
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    ts: Text<'a>,
    #[serde(borrow)]
    data: Object<About<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct About<'a> {
    #[serde(borrow)]
    call_id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    parent_session_id: Text<'a>,
    #[serde(borrow)]
    child_workspace: Text<'a>,
    #[serde(rename = "text")]
    author: Author,
    usage_summary: Object<Summary>,
}

/// Reads the lines of one Pixir session log.
#[derive(Debug)]
pub(super) struct Reader {
    /// Facts about the session from the file's path. The reader returns them once, with the first
    /// line that it can read.
    facts: FileFacts,
}

impl Reader {
    /// Creates a reader of the Pixir log at `path`. The session's working directory is the
    /// directory that contains `.pixir`.
    pub(super) fn new(path: &Path) -> Self {
        let folder = path.parent().filter(|folder| folder.ends_with(".pixir/sessions"));
        let workspace = folder.and_then(Path::parent).and_then(Path::parent);
        let cwd = workspace.filter(|workspace| workspace.is_absolute());
        let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
        Self { facts: FileFacts { cwd, ..FileFacts::default() } }
    }
}

impl LineReader for Reader {
    fn read(&mut self, line: &str) -> Line {
        let mut plainer = String::new();
        let fields = match fields::<Fields<'_>>(line, &mut plainer) {
            Ok(fields) => fields,
            Err(why) => return Line::Damage(why),
        };
        let mut facts = FileFacts {
            native_id: fields.session_id.to_owned(),
            ..std::mem::take(&mut self.facts)
        };
        match fields.kind.get() {
            None => Line::Side(facts),
            // The record becomes no event, because the imported session begins with a
            // `session_fork` event of forklore.
            Some("session_fork") => {
                let about = &fields.data.0;
                Line::Side(FileFacts {
                    copied_from: about.parent_session_id.to_owned(),
                    cwd: about.child_workspace.to_owned().or(facts.cwd),
                    created: time::from_text(&fields.ts),
                    ..facts
                })
            }
            Some(kind) => {
                if !TYPES.contains(&kind) {
                    facts.irregular = Some(format!("events of the type {kind} are not known"));
                }
                Line::Record(Box::new(record(kind, &fields, facts)))
            }
        }
    }
}

fn record(kind: &str, fields: &Fields<'_>, facts: FileFacts) -> Record {
    let own_type = kind.parse::<EventType>().ok().filter(EventType::is_own);
    let kind = own_type.unwrap_or_else(|| EventType::extension(super::NAME, kind));
    let about = &fields.data.0;
    let is_usage = kind == EventType::PROVIDER_USAGE;
    Record {
        native_id: fields.id.to_owned(),
        ts: time::from_text(&fields.ts),
        effect: Effect {
            starts_turn: kind == EventType::USER_MESSAGE && about.author != Author::Agent,
            calls: call(&kind, about).into_iter().collect(),
        },
        usage: if is_usage { about.usage_summary.0.usage() } else { Usage::default() },
        facts,
        ..Record::of(kind)
    }
}

fn call(kind: &EventType, about: &About<'_>) -> Option<CallStep> {
    match kind.as_str() {
        "tool_call" => opened(&about.call_id, &about.name),
        "tool_result" => about.call_id.to_owned().map(CallStep::Close),
        _ => None,
    }
}

/// Checks whether two events have the same time and content. If so, one may be a copy of the other,
/// although their ids, numbers and sessions differ.
pub(super) fn says_the_same(a: &Data, b: &Data) -> bool {
    #[derive(Deserialize)]
    struct EventData<'a> {
        ts: String,
        #[serde(borrow)]
        data: &'a RawValue,
    }
    match (a.read::<EventData<'_>>(), b.read::<EventData<'_>>()) {
        (Ok(a), Ok(b)) => a.ts == b.ts && a.data.get() == b.data.get(),
        _ => false,
    }
}
