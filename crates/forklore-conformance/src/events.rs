//! Builds events for tests with short calls. The events are identical in every run.

use std::sync::atomic::{AtomicU64, Ordering};

use forklore_core::Usage;
use forklore_core::{Class, Data, Event, EventId, EventType, payload};
use jiff::Timestamp;
use serde_json::{Value, json};

/// A deterministic clock for tests, which also generates event ids. Each call advances the clock by
/// one tick, which is a millisecond.
#[derive(Debug, Default)]
pub struct Clock(AtomicU64);

impl Clock {
    /// Creates a clock that has already advanced by `ticks` milliseconds.
    pub(super) fn beginning_at(ticks: u64) -> Self {
        Self(AtomicU64::new(ticks))
    }

    /// Advances the clock by one tick and returns the new time.
    pub fn now(&self) -> Timestamp {
        at_tick(self.tick())
    }

    /// Advances the clock by one tick and returns an event id for the new time, a UUIDv7.
    pub fn event_id(&self) -> EventId {
        let tick = self.tick();
        let mut random = [0; 10];
        random[2..].copy_from_slice(&tick.to_be_bytes());
        EventId::generate(1_767_225_600_000 + tick, random)
    }

    fn tick(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Returns the time `ticks` milliseconds and one microsecond after 2026-01-01T00:00:00Z.
#[must_use]
pub fn at_tick(ticks: u64) -> Timestamp {
    let micros = 1_767_225_600_000_001 + i64::try_from(ticks).unwrap() * 1000;
    Timestamp::from_microsecond(micros).unwrap()
}

/// A description of a test event, from which [`Draft::build`] builds the event.
///
/// # Panics
/// `build` panics if the engine would reject the event.
#[derive(Clone, Debug)]
pub struct Draft {
    kind: EventType,
    class: Option<Class>,
    data: String,
    id: Option<EventId>,
    ts: Option<Timestamp>,
    dialect: Option<String>,
}

impl Draft {
    /// Describes a test event of the type `kind`. `data` is its payload as JSON, which is used
    /// unchanged.
    #[must_use]
    pub fn new(kind: &str, data: impl Into<String>) -> Self {
        Self {
            kind: kind.parse().unwrap(),
            class: None,
            data: data.into(),
            id: None,
            ts: None,
            dialect: None,
        }
    }

    fn of(kind: &str, data: &Value) -> Self {
        Self::new(kind, data.to_string())
    }

    /// Sets the class of the test event, which decides whether children inherit it. Without this
    /// call, the event gets the default class of its type.
    #[must_use]
    pub fn class(mut self, class: Class) -> Self {
        self.class = Some(class);
        self
    }

    /// Sets the id of the test event. Without this call, the clock generates an id.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        self.id = Some(id.parse().unwrap());
        self
    }

    /// Sets the time of the test event. Without this call, the time is that of the clock.
    #[must_use]
    pub fn ts(mut self, ts: Timestamp) -> Self {
        self.ts = Some(ts);
        self
    }

    /// Sets the dialect of the test event: the name of the agent in whose format the payload is.
    #[must_use]
    pub fn dialect(mut self, dialect: &str) -> Self {
        self.dialect = Some(dialect.into());
        self
    }

    /// Builds the described event, and checks its payload as the engine does. `clock` supplies the
    /// id or the timestamp if the description has none.
    #[must_use]
    pub fn build(self, clock: &Clock) -> Event {
        let data = Data::parse(&self.data).unwrap();
        let (class, effect) = payload::check(&self.kind, self.class, &data).unwrap();
        Event {
            id: self.id.unwrap_or_else(|| clock.event_id()),
            ts: self.ts.unwrap_or_else(|| clock.now()),
            kind: self.kind,
            class,
            dialect: self.dialect.map(Into::into),
            effect,
            data,
        }
    }
}

/// Describes a system message for a test.
#[must_use]
pub fn system(text: &str) -> Draft {
    Draft::of("system_message", &json!({"content": text}))
}

/// Describes a user message for a test. It begins a turn.
#[must_use]
pub fn user(text: &str) -> Draft {
    Draft::of("user_message", &json!({"content": text}))
}

/// Describes a user message that a program injected into the conversation, such as a reminder. Such
/// a message begins no turn.
#[must_use]
pub fn injected(text: &str) -> Draft {
    Draft::of("user_message", &json!({"content": text, "injected": true}))
}

/// Describes an assistant message for a test.
#[must_use]
pub fn assistant(text: &str) -> Draft {
    Draft::of("assistant_message", &json!({"content": text}))
}

/// Describes an assistant message that calls tools. Each element of `calls` is the pair `(call id,
/// tool name)`.
#[must_use]
pub fn asks(calls: &[(&str, &str)]) -> Draft {
    let part = |(id, name): &(&str, &str)| json!({"type": "tool_call", "id": id, "name": name, "arguments": {}});
    let parts: Vec<_> = calls.iter().map(part).collect();
    Draft::of("assistant_message", &json!({"content": parts}))
}

/// Describes the result of the tool call `call_id`.
#[must_use]
pub fn result(call_id: &str, text: &str) -> Draft {
    Draft::of("tool_result", &json!({"call_id": call_id, "content": text}))
}

/// Describes a permission decision that allows a tool call. Its class is evidence, which children
/// inherit.
#[must_use]
pub fn permission(call_id: &str) -> Draft {
    Draft::of("permission_decision", &json!({"call_id": call_id, "decision": "allow"}))
}

/// Describes a workflow event called `name`. Its class is evidence, which children inherit.
#[must_use]
pub fn workflow(name: &str) -> Draft {
    Draft::of("workflow_event", &json!({"name": name}))
}

/// Describes a compaction: a summary that replaces the conversation events from `from_index` up to,
/// but not including, `to_index`. Its class is context, which children inherit.
#[must_use]
pub fn compaction(from_index: u64, to_index: u64) -> Draft {
    Draft::of(
        "history_compaction",
        &json!({"from_index": from_index, "to_index": to_index, "content": "in short"}),
    )
}

/// Describes a record of how many tokens a model call used. Its class is audit, which children
/// never inherit.
#[must_use]
pub fn usage(input: u64, output: u64) -> Draft {
    Draft::of("provider_usage", &json!({"input": input, "output": output}))
}

/// Describes a record of a turn that failed with `error`. Its class is audit, which children never
/// inherit.
#[must_use]
pub fn failed(error: &str) -> Draft {
    Draft::of("turn_failed", &json!({"error": error}))
}

/// Describes a `session_fork`, the first event of a child. Its class is lineage, which children
/// never inherit.
#[must_use]
pub fn session_fork() -> Draft {
    Draft::of("session_fork", &json!({"kind": "branch"}))
}

/// Describes the events of several turns; `turns` is their number. Each turn is a user message
/// (`q1`, `q2`, ...) and an assistant message (`a1`, `a2`, ...).
#[must_use]
pub fn turns(turns: usize) -> Vec<Draft> {
    (1..=turns)
        .flat_map(|turn| [user(&format!("q{turn}")), assistant(&format!("a{turn}"))])
        .collect()
}

/// Returns the total usage of models that the events record. A caller of a store must pass this
/// usage together with the events of an append.
#[must_use]
pub fn usage_of(events: &[Event]) -> Usage {
    let mut sum = Usage::default();
    let spends = events.iter().filter(|event| event.kind == EventType::PROVIDER_USAGE);
    spends.for_each(|event| sum += payload::usage(&event.data));
    sum
}

/// Describes the events of two turns with tool calls, one of which has no result. The events cover
/// every class except lineage.
#[must_use]
pub fn rich() -> Vec<Draft> {
    vec![
        system("be kind"),
        user("first"),
        asks(&[("c1", "ls"), ("c2", "cat")]),
        permission("c1"),
        result("c1", "a.txt"),
        usage(10, 5),
        result("c2", "hello"),
        assistant("done"),
        compaction(0, 2),
        injected("psst"),
        Draft::new("x.note", r#"{"n":1}"#).class(Class::Evidence),
        user("second"),
        Draft::new("x.metric", r#"{"n":2}"#),
        asks(&[("c3", "rm")]),
        failed("the network is down"),
    ]
}
