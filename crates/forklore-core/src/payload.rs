//! Payloads of forklore's own events: required fields, effects on calls and turns, and conversion
//! to messages (docs/semantics.md, Payloads of forklore's own events).

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::{CallStep, Effect, OpenCall};
use crate::data::Data;
use crate::kind::{Class, EventType};
use crate::message::{Content, Message, Part, Role};
use crate::usage::Usage;

/// The error of an event whose payload or class is not valid for its type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// A field that the event's type requires is missing from the payload or has the wrong form.
    #[error("a {kind} needs {needs}")]
    Missing {
        /// The event's type.
        kind: EventType,
        /// The fields that the type requires, as text for people.
        needs: &'static str,
    },
    /// The payload cannot be parsed, for example because it is not a JSON object.
    #[error("a {kind} cannot be read: {source}")]
    Form {
        /// The event's type.
        kind: EventType,
        /// The error that the JSON parser returned.
        source: serde_json::Error,
    },
    /// The writer requested a class other than the default for an event of a type whose class is
    /// fixed.
    #[error("the class of {kind} is fixed; only types that begin with `x.` may be given one")]
    ClassFixed {
        /// The event's type.
        kind: EventType,
    },
    /// The writer requested the class `Lineage` for an event that is not a `session_fork`. This
    /// class is reserved for records of forks.
    #[error("no event but session_fork is of class lineage")]
    LineageClass,
}

/// One struct with the payload fields of all of forklore's own event types, not yet decoded. For an
/// event, only the fields that its type defines are decoded; the others may have any value.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    content: Raw<'a>,
    #[serde(borrow, default)]
    snapshot: Raw<'a>,
    #[serde(borrow, default)]
    folder: Raw<'a>,
    #[serde(borrow, default)]
    id: Raw<'a>,
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    call_id: Raw<'a>,
    #[serde(borrow, default)]
    arguments: Raw<'a>,
    #[serde(borrow, default)]
    is_error: Raw<'a>,
    #[serde(borrow, default)]
    synthetic: Raw<'a>,
    #[serde(borrow, default)]
    injected: Raw<'a>,
    #[serde(borrow, default)]
    provider: Raw<'a>,
    #[serde(borrow, default)]
    model: Raw<'a>,
    #[serde(borrow, default)]
    text: Raw<'a>,
    #[serde(borrow, default, rename = "ref")]
    reference: Raw<'a>,
    #[serde(borrow, default)]
    media_type: Raw<'a>,
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    decision: Raw<'a>,
    #[serde(borrow, default)]
    session_id: Raw<'a>,
    #[serde(borrow, default)]
    status: Raw<'a>,
    #[serde(borrow, default)]
    from_index: Raw<'a>,
    #[serde(borrow, default)]
    to_index: Raw<'a>,
    #[serde(borrow, default)]
    error: Raw<'a>,
}

type Raw<'a> = Option<&'a RawValue>;

fn is_true(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// Decodes the value of a field; `None` if the field is missing or is not a `T`.
fn value<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

fn text(raw: Raw<'_>) -> Option<String> {
    value(raw)
}

fn is_text(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('"'))
}

/// Checks the payload and class of an event that a program appends. Returns the event's class and
/// its effect on calls and turns. `class` is the class that the program requested, if any.
///
/// # Errors
/// If a required field is missing or malformed, or the type does not allow the requested class.
pub fn check(
    kind: &EventType,
    class: Option<Class>,
    data: &Data,
) -> Result<(Class, Effect), PayloadError> {
    let class = settle_class(kind, class)?;
    if !kind.is_own() {
        return Ok((class, Effect::default()));
    }
    let data = &*data.readable();
    let fields: Fields<'_> = data.read().map_err(form(kind))?;
    if !has_required(kind, &fields) {
        return Err(PayloadError::Missing { kind: kind.clone(), needs: needs(kind) });
    }
    Ok((class, effect(kind, data, &fields)?))
}

fn settle_class(kind: &EventType, class: Option<Class>) -> Result<Class, PayloadError> {
    match class {
        None => Ok(kind.class()),
        Some(given) if given == kind.class() => Ok(given),
        Some(Class::Lineage) => Err(PayloadError::LineageClass),
        Some(given) if kind.is_extension() => Ok(given),
        Some(_) => Err(PayloadError::ClassFixed { kind: kind.clone() }),
    }
}

fn form(kind: &EventType) -> impl Fn(serde_json::Error) -> PayloadError + '_ {
    |source| PayloadError::Form { kind: kind.clone(), source }
}

fn has_required(kind: &EventType, has: &Fields<'_>) -> bool {
    match kind.as_str() {
        "system_message" | "user_message" | "assistant_message" => {
            has.content.is_some_and(|raw| raw.get().starts_with(['"', '[']))
        }
        "tool_call" => is_text(has.id) && is_text(has.name),
        "tool_result" => is_text(has.call_id) && has.content.is_some(),
        "permission_decision" => is_text(has.call_id) && has.decision.is_some(),
        "subagent_event" => {
            let status = text(has.status);
            is_text(has.session_id)
                && matches!(status.as_deref(), Some("running" | "finished" | "failed"))
        }
        "workflow_event" | "skill_activation" => is_text(has.name),
        "workspace_snapshot" => is_text(has.snapshot) && is_text(has.folder),
        "history_compaction" => {
            let range = value::<u64>(has.from_index).zip(value(has.to_index));
            range.is_some_and(|(from, to)| from <= to)
        }
        "turn_failed" => has.error.is_some(),
        _ => true,
    }
}

fn needs(kind: &EventType) -> &'static str {
    match kind.as_str() {
        "tool_call" => "`id` and `name`",
        "tool_result" => "`call_id` and `content`",
        "permission_decision" => "`call_id` and `decision`",
        "subagent_event" => "`session_id` and `status` (running, finished or failed)",
        "workflow_event" | "skill_activation" => "`name`",
        "workspace_snapshot" => "`snapshot` and `folder`",
        "history_compaction" => "`from_index` and `to_index`, the first not behind the second",
        "turn_failed" => "`error`",
        _ => "`content`, a text or a list of parts",
    }
}

fn effect(kind: &EventType, data: &Data, fields: &Fields<'_>) -> Result<Effect, PayloadError> {
    let mut effect = Effect::default();
    if !kind.class().is_conversation() {
        return Ok(effect);
    }
    effect.starts_turn = *kind == EventType::USER_MESSAGE && !is_true(fields.injected);
    let message = spoken(kind, data, fields).map_err(form(kind))?;
    for part in message.iter().flat_map(Message::to_parts) {
        match part {
            Part::ToolCall { id, name, .. } => {
                effect.calls.push(CallStep::Open(OpenCall { id, name }));
            }
            Part::ToolResult { call_id, .. } => effect.calls.push(CallStep::Close(call_id)),
            _ => {}
        }
    }
    Ok(effect)
}

/// Converts the payload of a conversation event in forklore's own format to a message. Returns
/// `None` if `kind` is not a type of conversation event.
///
/// # Errors
/// If the payload does not have the required form.
pub fn message(kind: &EventType, data: &Data) -> Result<Option<Message>, serde_json::Error> {
    let data = &*data.readable();
    spoken(kind, data, &data.read()?)
}

/// Checks whether the payload belongs to an interrupted assistant message: an `assistant_message`
/// whose field `partial` is true.
#[must_use]
pub fn is_partial(kind: &EventType, data: &Data) -> bool {
    #[derive(Deserialize)]
    struct Failure<'a> {
        #[serde(borrow, default)]
        partial: Raw<'a>,
    }
    *kind == EventType::ASSISTANT_MESSAGE
        && data.get().contains("\"partial\"")
        && data.readable().read::<Failure<'_>>().is_ok_and(|reported| is_true(reported.partial))
}

fn spoken(
    kind: &EventType,
    data: &Data,
    fields: &Fields<'_>,
) -> Result<Option<Message>, serde_json::Error> {
    Ok(Some(match kind.as_str() {
        "system_message" => Message { role: Role::System, content: content(fields.content)? },
        "user_message" => Message { role: Role::User, content: content(fields.content)? },
        "assistant_message" => Message { role: Role::Assistant, content: content(fields.content)? },
        "reasoning" => Message::parts(Role::Assistant, vec![reasoning(fields, data.get())]),
        "tool_call" => Message::parts(Role::Assistant, vec![tool_call(fields)]),
        "tool_result" => Message::parts(Role::Tool, vec![tool_result(fields)]),
        _ => return Ok(None),
    }))
}

/// Parses the field `content`: a string or a list of parts. A missing value gives an empty string,
/// and a value of any other kind gives a single [`Part::Other`].
///
/// # Errors
/// If the string or the list cannot be parsed.
pub fn content(raw: Option<&RawValue>) -> Result<Content, serde_json::Error> {
    let Some(raw) = raw else { return Ok(Content::Text(String::new())) };
    if raw.get().starts_with('[') {
        let parts: Vec<&RawValue> = serde_json::from_str(raw.get())?;
        let parts = parts.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
        return Ok(Content::Parts(parts));
    }
    if raw.get().starts_with('"') {
        return serde_json::from_str(raw.get()).map(Content::Text);
    }
    Ok(Content::Parts(vec![Part::Other { value: Data::from_checked(raw.get()) }]))
}

fn part(raw: &RawValue) -> Result<Part, serde_json::Error> {
    if !raw.get().starts_with('{') {
        return Ok(Part::Other { value: Data::from_checked(raw.get()) });
    }
    let fields: Fields<'_> = serde_json::from_str(raw.get())?;
    let part = match text(fields.kind).as_deref() {
        Some("text") => text(fields.text).map(|text| Part::Text { text }),
        Some("reasoning") => Some(reasoning(&fields, raw.get())),
        Some("tool_call") if is_text(fields.id) && is_text(fields.name) => Some(tool_call(&fields)),
        Some("tool_result") if is_text(fields.call_id) => Some(tool_result(&fields)),
        Some("attachment") => text(fields.reference).map(|r#ref| Part::Attachment {
            r#ref,
            media_type: text(fields.media_type).unwrap_or_default(),
            name: text(fields.name),
            missing: false,
        }),
        _ => None,
    };
    Ok(part.unwrap_or_else(|| Part::Other { value: Data::from_checked(raw.get()) }))
}

fn reasoning(fields: &Fields<'_>, raw: &str) -> Part {
    Part::Reasoning {
        text: text(fields.content).or_else(|| text(fields.text)).unwrap_or_default(),
        provider: text(fields.provider),
        model: text(fields.model),
        opaque: Some(Data::from_checked(raw)),
    }
}

fn tool_call(fields: &Fields<'_>) -> Part {
    Part::ToolCall {
        id: text(fields.id).unwrap_or_default(),
        name: text(fields.name).unwrap_or_default(),
        arguments: Data::from_checked(fields.arguments.map_or("{}", RawValue::get)),
    }
}

fn tool_result(fields: &Fields<'_>) -> Part {
    Part::ToolResult {
        call_id: text(fields.call_id).unwrap_or_default(),
        name: text(fields.name),
        content: Data::from_checked(fields.content.map_or("\"\"", RawValue::get)),
        is_error: is_true(fields.is_error),
        synthetic: is_true(fields.synthetic),
    }
}

/// Parses the usage (tokens and cost) in the payload of a `provider_usage` event. Each missing or
/// malformed value becomes 0.
#[must_use]
pub fn usage(data: &Data) -> Usage {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Fields {
        input: serde_json::Value,
        output: serde_json::Value,
        cached: serde_json::Value,
        cost: serde_json::Value,
    }
    let fields: Fields = data.read().unwrap_or_default();
    Usage {
        input: fields.input.as_u64().unwrap_or(0),
        output: fields.output.as_u64().unwrap_or(0),
        cached: fields.cached.as_u64().unwrap_or(0),
        cost: fields.cost.as_f64().unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(kind: &str, data: &str) -> Result<(Class, Effect), String> {
        check(&kind.parse().unwrap(), None, &Data::parse(data).unwrap()).map_err(|e| e.to_string())
    }

    #[test]
    fn required_fields_are_required() {
        for (kind, data) in [
            ("user_message", r#"{"text":"hi"}"#),
            ("user_message", r#"{"content":7}"#),
            ("tool_call", r#"{"id":"c1"}"#),
            ("tool_result", r#"{"content":"x"}"#),
            ("subagent_event", r#"{"session_id":"s","status":"asleep"}"#),
            ("history_compaction", r#"{"from_index":3,"to_index":2}"#),
            ("turn_failed", "{}"),
            ("user_message", "[]"),
            ("tool_result", r#"{"call_id":7,"content":"x"}"#),
        ] {
            assert!(check_text(kind, data).is_err(), "{kind} {data}");
        }
    }

    #[test]
    fn calls_and_turns_are_found() {
        let (_, user) = check_text("user_message", r#"{"content":"go"}"#).unwrap();
        assert!(user.starts_turn);
        let (_, injected) =
            check_text("user_message", r#"{"content":"psst","injected":true}"#).unwrap();
        assert!(!injected.starts_turn);
        let (_, asks) = check_text(
            "assistant_message",
            r#"{"content":[{"type":"tool_call","id":"a","name":"ls","arguments":{}}]}"#,
        )
        .unwrap();
        let call = OpenCall { id: "a".into(), name: "ls".into() };
        assert_eq!(asks.calls, vec![CallStep::Open(call)]);
    }

    #[test]
    fn fields_of_other_types_may_hold_anything() {
        let data = r#"{"content":"hi","id":7,"name":{"a":1},"model":["m"],"from_index":-1}"#;
        assert!(check_text("user_message", data).unwrap().1.starts_turn);
    }

    #[test]
    fn only_extensions_may_be_classed() {
        let data = Data::parse("{}").unwrap();
        let class = |kind: &str| check(&kind.parse().unwrap(), Some(Class::Evidence), &data);
        assert_eq!(class("x.mine").unwrap().0, Class::Evidence);
        assert!(class("other").is_err());
        assert!(class("provider_usage").is_err());
        assert_eq!(check(&"other".parse().unwrap(), None, &data).unwrap().0, Class::Audit);
    }
}
