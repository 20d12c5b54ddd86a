//! Converts an event to quads: its stored fields, and facts that are derived from its payload.

use std::collections::HashMap;

use forklore_core::{CallStep, Data, EventType, Header, Message, Origin, Part, SessionId};
use forklore_engine::Engine;
use forklore_store::port::LogEntry;
use jiff::Timestamp;
use oxigraph::model::{NamedNode, Quad};

use crate::about::About;
use crate::vocabulary as v;
use crate::{iri, session};

/// What the conversion of an event needs from the events before it in its history.
#[derive(Debug, Default)]
pub(crate) struct Preceding {
    /// The tool calls that have no result yet, by call id. They link a later result to its call.
    open: HashMap<String, OpenCall>,
    /// The last event of the conversation, and its time. `None` before the first one. A model call
    /// receives everything up to this event.
    pub(crate) message: Option<(Origin, Timestamp)>,
}

/// A tool call that has no result yet: its IRI, the session that made the call, and the time of the
/// call.
#[derive(Debug)]
struct OpenCall {
    iri: NamedNode,
    session: SessionId,
    started: Timestamp,
}

/// Adds the RDF quads of an event to `out`, and adds the event to `preceding`, for the next event.
/// The session `writer` wrote the event itself and did not inherit it.
pub(crate) fn describe(
    engine: &Engine,
    writer: &Header,
    stored: &LogEntry,
    preceding: &mut Preceding,
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
    if event.kind == EventType::ASSISTANT_MESSAGE {
        model_call(stored, preceding.message.as_ref(), &mut about);
    }
    calls(stored, &mut preceding.open, &mut about);
    preceding.note_message(stored);
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
    let role = message.role.as_str();
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
/// close. If the event has more than one call or result, also adds their ordered list as JSON,
/// because triples have no order.
fn calls(stored: &LogEntry, open: &mut HashMap<String, OpenCall>, about: &mut About<'_>) {
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
                let begun = OpenCall::of(stored, number);
                let iri = begun.iri.clone();
                about.put(v::ASKS, iri.clone());
                let asking = about.subject.clone();
                let About { out, graph, .. } = about;
                let mut activity = About { out, graph, subject: iri };
                activity.is(v::TOOL_CALL);
                activity.is(v::ACTIVITY);
                activity.text(v::CALL_ID, &call.id);
                activity.text(v::TOOL, &call.name);
                activity.time(v::STARTED_AT_TIME, event.ts);
                activity.put(v::USED, asking);
                activity.put(v::WAS_ASSOCIATED_WITH, iri::agent(&origin.session_id));
                open.entry(call.id.clone()).or_insert(begun);
            }
            CallStep::Close(id) => {
                about.text(v::ANSWERS, id);
                if let Some(call) = open.remove(id) {
                    close(stored, call, about);
                }
            }
        }
    }
}

/// Links the result of a tool call to the call, and adds the end of the call. A call that forks
/// inherit while it is open can get a result in each fork. The call ends with the result in the
/// session that began the call.
fn close(stored: &LogEntry, call: OpenCall, about: &mut About<'_>) {
    let LogEntry { origin, event, .. } = stored;
    about.put(v::WAS_GENERATED_BY, call.iri.clone());
    if call.session == origin.session_id {
        let About { out, graph, .. } = about;
        let mut activity = About { out, graph, subject: call.iri };
        activity.time(v::ENDED_AT_TIME, event.ts.max(call.started));
    }
}

/// Adds the call of the model that generated an assistant message. `message` is the last message
/// that the model received, with its time. The log does not contain the time at which the call
/// began, so the call begins at the time of `message`.
fn model_call(stored: &LogEntry, message: Option<&(Origin, Timestamp)>, about: &mut About<'_>) {
    let LogEntry { origin, event, .. } = stored;
    let call = iri::model_call(origin);
    about.put(v::WAS_GENERATED_BY, call.clone());
    let About { out, graph, .. } = about;
    let mut activity = About { out, graph, subject: call };
    activity.is(v::MODEL_CALL);
    activity.is(v::ACTIVITY);
    if let Some((last, there)) = message {
        activity.time(v::STARTED_AT_TIME, event.ts.min(*there));
        activity.put(v::USED, iri::event(last));
    }
    activity.time(v::ENDED_AT_TIME, event.ts);
    activity.put(v::WAS_ASSOCIATED_WITH, iri::agent(&origin.session_id));
}

impl OpenCall {
    /// Returns the tool call that an event opens. `number` is its index among the event's steps.
    fn of(stored: &LogEntry, number: usize) -> Self {
        let LogEntry { origin, event, .. } = stored;
        let (session, started) = (origin.session_id.clone(), event.ts);
        Self { iri: iri::tool_call(origin, number), session, started }
    }
}

impl Preceding {
    /// Adds an inherited event to the events that precede the session's own events.
    pub(crate) fn follow(&mut self, stored: &LogEntry) {
        let effect = &stored.event.effect;
        if effect.starts_turn {
            self.open.clear();
        }
        for (number, step) in effect.calls.iter().enumerate() {
            match step {
                CallStep::Open(call) => {
                    let begun = || OpenCall::of(stored, number);
                    self.open.entry(call.id.clone()).or_insert_with(begun);
                }
                CallStep::Close(id) => drop(self.open.remove(id)),
            }
        }
        self.note_message(stored);
    }

    fn note_message(&mut self, stored: &LogEntry) {
        if stored.event.class.is_conversation() {
            self.message = Some((stored.origin.clone(), stored.event.ts));
        }
    }
}
