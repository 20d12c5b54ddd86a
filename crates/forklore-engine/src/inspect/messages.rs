//! Converts one event to the messages that it adds to a request. A conversation event, a summary or
//! a finished sub-agent adds one message. A compaction adds the messages that replace the range it
//! covers.

use forklore_core::agent_format::Edit;
use forklore_core::summary::prose;
use forklore_core::{Class, Content, Data, Event, EventType, Message, Part, Role};
use serde::Deserialize;

use crate::Engine;
use crate::view::compaction_messages;

pub(crate) fn of_event(engine: &Engine, event: &Event) -> Vec<Message> {
    match event.class {
        Class::Conversation => vec![engine.message(event)],
        Class::Context if event.kind == EventType::HISTORY_COMPACTION => match &event.dialect {
            None => compaction_messages(&event.data),
            Some(dialect) => {
                let dialect = engine.agent_formats().named(dialect);
                let replacement = dialect.map(|dialect| dialect.instead(&event.data.readable()));
                replacement
                    .filter(|text| !text.is_empty())
                    .unwrap_or_else(|| vec![engine.message(event)])
            }
        },
        Class::Context => match engine.edit(event) {
            Some(edit) => edited(edit).into_iter().collect(),
            None => summary(engine, event),
        },
        Class::Evidence => finished_subagent(&event.data).into_iter().collect(),
        Class::Lineage | Class::Audit => Vec::new(),
    }
}

/// Converts an edit (a recorded change to an earlier message) to the new message. Returns `None` if
/// the edit removes the earlier message. The caller sets the role to that of the earlier message.
fn edited(edit: Edit) -> Option<Message> {
    Some(Message { role: Role::User, content: edit.instead? })
}

/// Converts a branch summary event to the user message that the model receives instead. Returns no
/// message for any other event.
fn summary(engine: &Engine, event: &Event) -> Vec<Message> {
    if event.kind != EventType::BRANCH_SUMMARY {
        return Vec::new();
    }
    if event.dialect.is_some() {
        return vec![engine.message(event)];
    }
    #[derive(Deserialize)]
    struct Recorded {
        summary: Data,
        brought_from: Option<String>,
        answer: Option<String>,
    }
    let Ok(Recorded { summary, brought_from, answer }) = event.data.read() else {
        return Vec::new();
    };
    // A string is the text of a model. An object is the engine's own deterministic summary.
    let written = summary.read::<String>().ok();
    let text = written
        .or_else(|| prose(&summary, answer.as_deref()))
        .unwrap_or_else(|| summary.get().to_owned());
    let text = match (brought_from, answer) {
        (None, _) => format!("[Summary of the history above]\n{text}"),
        (Some(branch), None) => format!("[What was done on the branch {branch}]\n{text}"),
        (Some(branch), Some(answer)) => {
            format!("[What was done on the branch {branch}]\n{text}\n[Its last answer]\n{answer}")
        }
    };
    vec![Message::text(Role::User, text)]
}

/// Converts the result of a sub-agent to a user message. Returns `None` if the sub-agent has not
/// finished.
fn finished_subagent(data: &Data) -> Option<Message> {
    #[derive(Deserialize)]
    struct Subagent {
        session_id: String,
        status: String,
        result: Option<Data>,
    }
    let subagent: Subagent = data.read().ok()?;
    let result = subagent.result.filter(|_| subagent.status == "finished")?;
    let text = result.read::<String>().unwrap_or_else(|_| result.get().to_owned());
    let text = format!("[Result of sub-agent {}]\n{text}", subagent.session_id);
    Some(Message { role: Role::User, content: Content::Parts(vec![Part::Text { text }]) })
}
