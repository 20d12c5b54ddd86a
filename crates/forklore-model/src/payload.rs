//! Payloads of forklore's own events: what must be in them, what they do, how they read (SPEC 4).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::{CallStep, Effect, OpenCall};
use crate::data::Data;
use crate::header::Usage;
use crate::kind::{Class, EventType};
use crate::message::{Content, Message, Part, Role};

/// Why a payload was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// A required field is missing, or one has the wrong form.
    #[error("a {kind} needs {needs}")]
    Missing {
        /// The event's type.
        kind: EventType,
        /// What it lacks, in words.
        needs: &'static str,
    },
    /// A field has the wrong form.
    #[error("a {kind} cannot be read: {source}")]
    Form {
        /// The event's type.
        kind: EventType,
        /// What the JSON reader says.
        source: serde_json::Error,
    },
    /// A class was given to a type that has its own.
    #[error("the class of {kind} is fixed; only types that begin with `x.` may be given one")]
    ClassFixed {
        /// The event's type.
        kind: EventType,
    },
    /// A class that only the engine writes.
    #[error("no event but session_fork is of class lineage")]
    LineageClass,
}

/// The fields of all own types together; each type looks at its own.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
    #[serde(default)]
    synthetic: Option<bool>,
    #[serde(default)]
    injected: Option<bool>,
    #[serde(borrow, default)]
    provider: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "ref")]
    reference: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    media_type: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
}

fn is_true(raw: Option<&RawValue>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// Checks a payload that a program wants to append, settles its class, and works out what it does.
///
/// # Errors
/// When a required field of SPEC 4 is missing or a class is given where none may be.
pub fn check(
    kind: &EventType,
    class: Option<Class>,
    data: &Data,
) -> Result<(Class, Effect), PayloadError> {
    let class = settle_class(kind, class)?;
    if !kind.is_own() {
        return Ok((class, Effect::default()));
    }
    require_fields(kind, data)?;
    Ok((class, effect(kind, data)?))
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

fn require_fields(kind: &EventType, data: &Data) -> Result<(), PayloadError> {
    #[derive(Deserialize)]
    struct Required<'a> {
        #[serde(borrow, default)]
        content: Option<&'a RawValue>,
        #[serde(borrow, default)]
        id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        name: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        call_id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        decision: Option<&'a RawValue>,
        #[serde(borrow, default)]
        session_id: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        status: Option<Cow<'a, str>>,
        #[serde(default)]
        from_index: Option<u64>,
        #[serde(default)]
        to_index: Option<u64>,
        #[serde(borrow, default)]
        error: Option<&'a RawValue>,
    }
    let has: Required<'_> = data.read().map_err(form(kind))?;
    let ok = match kind.as_str() {
        "system_message" | "user_message" | "assistant_message" => {
            has.content.is_some_and(|raw| raw.get().starts_with(['"', '[']))
        }
        "tool_call" => has.id.is_some() && has.name.is_some(),
        "tool_result" => has.call_id.is_some() && has.content.is_some(),
        "permission_decision" => has.call_id.is_some() && has.decision.is_some(),
        "subagent_event" => {
            has.session_id.is_some()
                && has.status.is_some_and(|s| matches!(&*s, "running" | "finished" | "failed"))
        }
        "workflow_event" | "skill_activation" => has.name.is_some(),
        "history_compaction" => {
            has.from_index.zip(has.to_index).is_some_and(|(from, to)| from <= to)
        }
        "turn_failed" => has.error.is_some(),
        _ => true,
    };
    if ok { Ok(()) } else { Err(PayloadError::Missing { kind: kind.clone(), needs: needs(kind) }) }
}

fn needs(kind: &EventType) -> &'static str {
    match kind.as_str() {
        "tool_call" => "`id` and `name`",
        "tool_result" => "`call_id` and `content`",
        "permission_decision" => "`call_id` and `decision`",
        "subagent_event" => "`session_id` and `status` (running, finished or failed)",
        "workflow_event" | "skill_activation" => "`name`",
        "history_compaction" => "`from_index` and `to_index`, the first not behind the second",
        "turn_failed" => "`error`",
        _ => "`content`, a text or a list of parts",
    }
}

fn effect(kind: &EventType, data: &Data) -> Result<Effect, PayloadError> {
    let mut effect = Effect::default();
    if !kind.class().is_conversation() {
        return Ok(effect);
    }
    let fields: Fields<'_> = data.read().map_err(form(kind))?;
    effect.starts_turn = *kind == EventType::USER_MESSAGE && fields.injected != Some(true);
    let message = message(kind, data).map_err(form(kind))?;
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

/// The message in the payload of an own conversation event; none for any other type.
///
/// # Errors
/// When the payload does not have the form of SPEC 4.
pub fn message(kind: &EventType, data: &Data) -> Result<Option<Message>, serde_json::Error> {
    let role = match kind.as_str() {
        "system_message" => Role::System,
        "user_message" => Role::User,
        "assistant_message" | "reasoning" | "tool_call" => Role::Assistant,
        "tool_result" => Role::Tool,
        _ => return Ok(None),
    };
    let fields: Fields<'_> = data.read()?;
    let message = match kind.as_str() {
        "reasoning" => Message::parts(role, vec![reasoning(&fields, data.get())]),
        "tool_call" => Message::parts(role, vec![tool_call(&fields)]),
        "tool_result" => Message::parts(role, vec![tool_result(&fields)]),
        _ => Message { role, content: content(fields.content)? },
    };
    Ok(Some(message))
}

/// Reads `content`: a text, or a list of parts.
///
/// # Errors
/// When it is neither.
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
    Ok(match fields.kind.as_deref() {
        Some("text") if fields.text.is_some() => Part::Text { text: owned(fields.text) },
        Some("reasoning") => reasoning(&fields, raw.get()),
        Some("tool_call") if fields.id.is_some() && fields.name.is_some() => tool_call(&fields),
        Some("tool_result") if fields.call_id.is_some() => tool_result(&fields),
        Some("attachment") if fields.reference.is_some() => Part::Attachment {
            r#ref: owned(fields.reference),
            media_type: owned(fields.media_type),
            name: fields.name.map(Cow::into_owned),
        },
        _ => Part::Other { value: Data::from_checked(raw.get()) },
    })
}

fn owned(text: Option<Cow<'_, str>>) -> String {
    text.map(Cow::into_owned).unwrap_or_default()
}

fn reasoning(fields: &Fields<'_>, raw: &str) -> Part {
    let said = fields.content.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    Part::Reasoning {
        text: said.or_else(|| fields.text.clone().map(Cow::into_owned)).unwrap_or_default(),
        provider: fields.provider.clone().map(Cow::into_owned),
        model: fields.model.clone().map(Cow::into_owned),
        opaque: Some(Data::from_checked(raw)),
    }
}

fn tool_call(fields: &Fields<'_>) -> Part {
    Part::ToolCall {
        id: owned(fields.id.clone()),
        name: owned(fields.name.clone()),
        arguments: Data::from_checked(fields.arguments.map_or("{}", RawValue::get)),
    }
}

fn tool_result(fields: &Fields<'_>) -> Part {
    Part::ToolResult {
        call_id: owned(fields.call_id.clone()),
        name: fields.name.clone().map(Cow::into_owned),
        content: Data::from_checked(fields.content.map_or("\"\"", RawValue::get)),
        is_error: is_true(fields.is_error),
        synthetic: fields.synthetic == Some(true),
    }
}

/// The cost that a `provider_usage` payload tells of; what it does not tell is 0.
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
    fn only_extensions_may_be_classed() {
        let data = Data::parse("{}").unwrap();
        let class = |kind: &str| check(&kind.parse().unwrap(), Some(Class::Evidence), &data);
        assert_eq!(class("x.mine").unwrap().0, Class::Evidence);
        assert!(class("other").is_err());
        assert!(class("provider_usage").is_err());
        assert_eq!(check(&"other".parse().unwrap(), None, &data).unwrap().0, Class::Audit);
    }
}
