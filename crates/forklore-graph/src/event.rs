//! Converts an event to quads: its stored fields, and facts that are derived from its payload.

use std::collections::HashMap;

use forklore_core::{CallStep, Data, EventType, Header, Message, Origin, Part, Role};
use forklore_engine::Engine;
use forklore_store::port::LogEntry;
use oxigraph::model::{NamedNode, Quad};

use crate::about::About;
use crate::vocabulary as v;
use crate::{iri, session};

/// The IRIs of tool calls that have no result yet, by call id. They link a later result to its
/// call.
pub(crate) type OpenCalls = HashMap<String, NamedNode>;

/// Adds the RDF quads of an event to `out`. The session `writer` wrote the event itself and did not
/// inherit it.
pub(crate) fn describe(
    engine: &Engine,
    writer: &Header,
    stored: &LogEntry,
    open: &mut OpenCalls,
    out: &mut Vec<Quad>,
) {
    let LogEntry { origin, event, counts, .. } = stored;
    let graph = iri::session(&origin.session_id);
    let mut about = About { out, graph: &graph, subject: iri::event(origin) };
    about.is(if event.class.is_conversation() { v::MESSAGE } else { v::EVENT });
    about.is(v::ENTITY);
    about.put(v::IN_SESSION, graph.clone());
    about.number(v::SEQ, origin.seq);
    about.text(v::EVENT_ID, event.id.as_str());
    about.text(v::EVENT_TYPE, event.kind.as_str());
    if event.class != event.kind.class() {
        let class = serde_json::to_value(event.class).unwrap_or_default();
        about.text(v::EVENT_CLASS, class.as_str().unwrap_or_default());
    }
    about.time(v::GENERATED_AT_TIME, event.ts);
    if event.class.is_conversation() {
        about.number(v::INDEX, counts.index.saturating_sub(1));
        about.text(v::BRANCH, writer.label.as_str());
    }
    about.some(v::IN_TURN, Some(counts.turns).filter(|turn| *turn > 0));
    about.flag(v::STARTS_TURN, event.effect.starts_turn);
    if let Some(dialect) = event.dialect.as_deref() {
        about.text(v::DIALECT, dialect);
    }
    about.json(v::DATA, event.data.get());
    usage(engine, stored, &mut about);
    if event.class.is_conversation() {
        message(&engine.message(event), &mut about);
    }
    calls(stored, open, &mut about);
    if event.kind == EventType::ASSISTANT_MESSAGE {
        model_call(stored, &mut about);
    }
}

fn usage(engine: &Engine, stored: &LogEntry, about: &mut About<'_>) {
    let Some(usage) = engine.call_usage(stored) else { return };
    session::describe_usage(usage.usage, about);
    if let Some(model) = &usage.model {
        about.text(v::MODEL, model);
    }
    if let Some(call) = &usage.call {
        about.text(v::MODEL_CALL_ID, call);
    }
}

/// Adds the role and the text of a message to its event. Also adds whether it contains a tool
/// result that failed or that forklore generated.
fn message(message: &Message, about: &mut About<'_>) {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    about.text(v::ROLE, role);
    let parts = message.to_parts();
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } | Part::Reasoning { text, .. } => Some(text.clone()),
        Part::ToolResult { content, .. } => Some(text(content)),
        Part::ToolCall { .. } | Part::Attachment { .. } | Part::Other { .. } => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    if !text.is_empty() {
        about.gist(v::TEXT, &text);
    }
    let result = |wanted: fn(&Part) -> bool| parts.iter().any(wanted);
    about.flag(v::IS_ERROR, result(|part| matches!(part, Part::ToolResult { is_error: true, .. })));
    let synthetic = |part: &Part| matches!(part, Part::ToolResult { synthetic: true, .. });
    about.flag(v::SYNTHETIC, result(synthetic));
}

/// Returns the content of a tool result as text for people. A string is returned without quotes and
/// escapes, any other value as JSON.
fn text(content: &Data) -> String {
    content.readable().read::<String>().unwrap_or_else(|_| content.get().to_owned())
}

/// Adds the tool calls that an event opens, and links the event's results to the calls that they
/// close. If the event has several calls and results, also adds their ordered list as JSON, because
/// triples have no order.
fn calls(stored: &LogEntry, open: &mut OpenCalls, about: &mut About<'_>) {
    let LogEntry { origin, event, .. } = stored;
    if event.effect.starts_turn {
        open.clear();
    }
    if event.effect.calls.len() > 1 {
        about.json(v::STEPS, &serde_json::to_string(&event.effect.calls).unwrap_or_default());
    }
    for (number, step) in event.effect.calls.iter().enumerate() {
        match step {
            CallStep::Open(call) => {
                let iri = iri::tool_call(origin, number);
                about.put(v::ASKS, iri.clone());
                let About { out, graph, .. } = about;
                let mut activity = About { out, graph, subject: iri.clone() };
                activity.is(v::TOOL_CALL);
                activity.is(v::ACTIVITY);
                activity.text(v::CALL_ID, &call.id);
                activity.text(v::TOOL, &call.name);
                activity.time(v::STARTED_AT_TIME, event.ts);
                activity.put(v::WAS_ASSOCIATED_WITH, iri::agent(&origin.session_id));
                open.entry(call.id.clone()).or_insert(iri);
            }
            CallStep::Close(id) => {
                about.text(v::ANSWERS, id);
                if let Some(call) = open.remove(id) {
                    about.put(v::WAS_GENERATED_BY, call);
                }
            }
        }
    }
}

/// Adds the call of the model that generated an assistant message.
fn model_call(stored: &LogEntry, about: &mut About<'_>) {
    let call = iri::model_call(&stored.origin);
    about.put(v::WAS_GENERATED_BY, call.clone());
    let About { out, graph, .. } = about;
    let mut activity = About { out, graph, subject: call };
    activity.is(v::MODEL_CALL);
    activity.is(v::ACTIVITY);
    activity.time(v::ENDED_AT_TIME, stored.event.ts);
    activity.put(v::WAS_ASSOCIATED_WITH, iri::agent(&stored.origin.session_id));
}

/// Updates `open` with the tool calls that an inherited event opens and closes, as `effect` lists
/// them. A later result in the session's own events is linked to its call through `open`.
pub(crate) fn follow(origin: &Origin, effect: &forklore_core::Effect, open: &mut OpenCalls) {
    if effect.starts_turn {
        open.clear();
    }
    for (number, step) in effect.calls.iter().enumerate() {
        match step {
            CallStep::Open(call) => {
                open.entry(call.id.clone()).or_insert_with(|| iri::tool_call(origin, number));
            }
            CallStep::Close(id) => drop(open.remove(id)),
        }
    }
}
