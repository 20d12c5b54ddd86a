//! Events for tests: short to write, the same on every run.

use std::sync::atomic::{AtomicU64, Ordering};

use forklore_core::header::Usage;
use forklore_core::{Class, Data, Event, EventId, EventType, payload};
use jiff::Timestamp;
use serde_json::{Value, json};

/// A clock that moves by a millisecond whenever it is asked, and names events by the count.
#[derive(Debug, Default)]
pub struct Clock(AtomicU64);

impl Clock {
    /// One that has moved so often.
    pub(super) fn beginning_at(ticks: u64) -> Self {
        Self(AtomicU64::new(ticks))
    }

    /// The next moment: whole milliseconds after 2026-01-01, and a microsecond.
    pub fn now(&self) -> Timestamp {
        at_tick(self.tick())
    }

    /// The next name for an event, a UUIDv7.
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

/// The moment `ticks` milliseconds and a microsecond after 2026-01-01.
#[must_use]
pub fn at_tick(ticks: u64) -> Timestamp {
    let micros = 1_767_225_600_000_001 + i64::try_from(ticks).unwrap() * 1000;
    Timestamp::from_microsecond(micros).unwrap()
}

/// An event about to be: what is not said is filled in by a [`Clock`].
///
/// # Panics
/// What the engine would refuse ends the case.
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
    /// An event of any type with any payload, spelt as given.
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

    /// Gives it a class of its own.
    #[must_use]
    pub fn class(mut self, class: Class) -> Self {
        self.class = Some(class);
        self
    }

    /// Gives it a native id.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        self.id = Some(id.parse().unwrap());
        self
    }

    /// Says when it happened.
    #[must_use]
    pub fn ts(mut self, ts: Timestamp) -> Self {
        self.ts = Some(ts);
        self
    }

    /// Says whose form its payload has.
    #[must_use]
    pub fn dialect(mut self, dialect: &str) -> Self {
        self.dialect = Some(dialect.into());
        self
    }

    /// The event, checked as the engine would check it.
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

/// What a system message says.
#[must_use]
pub fn system(text: &str) -> Draft {
    Draft::of("system_message", &json!({"content": text}))
}

/// A person speaks: a turn begins.
#[must_use]
pub fn user(text: &str) -> Draft {
    Draft::of("user_message", &json!({"content": text}))
}

/// A reminder in the person's name: no turn.
#[must_use]
pub fn injected(text: &str) -> Draft {
    Draft::of("user_message", &json!({"content": text, "injected": true}))
}

/// The model speaks.
#[must_use]
pub fn assistant(text: &str) -> Draft {
    Draft::of("assistant_message", &json!({"content": text}))
}

/// The model calls tools, each `(call id, tool)`.
#[must_use]
pub fn asks(calls: &[(&str, &str)]) -> Draft {
    let part = |(id, name): &(&str, &str)| json!({"type": "tool_call", "id": id, "name": name, "arguments": {}});
    let parts: Vec<_> = calls.iter().map(part).collect();
    Draft::of("assistant_message", &json!({"content": parts}))
}

/// A tool answers.
#[must_use]
pub fn result(call_id: &str, text: &str) -> Draft {
    Draft::of("tool_result", &json!({"call_id": call_id, "content": text}))
}

/// Somebody allowed a call: evidence, inherited.
#[must_use]
pub fn permission(call_id: &str) -> Draft {
    Draft::of("permission_decision", &json!({"call_id": call_id, "decision": "allow"}))
}

/// A workflow went on: evidence, inherited.
#[must_use]
pub fn workflow(name: &str) -> Draft {
    Draft::of("workflow_event", &json!({"name": name}))
}

/// A stretch of the conversation was replaced by a summary: context, inherited.
#[must_use]
pub fn compaction(from_index: u64, to_index: u64) -> Draft {
    Draft::of(
        "history_compaction",
        &json!({"from_index": from_index, "to_index": to_index, "content": "in short"}),
    )
}

/// A model call was paid for: audit, never inherited.
#[must_use]
pub fn usage(input: u64, output: u64) -> Draft {
    Draft::of("provider_usage", &json!({"input": input, "output": output}))
}

/// A turn failed: audit, never inherited.
#[must_use]
pub fn failed(error: &str) -> Draft {
    Draft::of("turn_failed", &json!({"error": error}))
}

/// The first event of a child: lineage, never inherited.
#[must_use]
pub fn session_fork() -> Draft {
    Draft::of("session_fork", &json!({"kind": "branch"}))
}

/// `turns` turns of a question and an answer.
#[must_use]
pub fn turns(turns: usize) -> Vec<Draft> {
    (1..=turns)
        .flat_map(|turn| [user(&format!("q{turn}")), assistant(&format!("a{turn}"))])
        .collect()
}

/// What the events say was spent, as a caller of a store sums it up.
#[must_use]
pub fn usage_of(events: &[Event]) -> Usage {
    let mut sum = Usage::default();
    let spends = events.iter().filter(|event| event.kind == EventType::PROVIDER_USAGE);
    spends.for_each(|event| sum += payload::usage(&event.data));
    sum
}

/// A history with something of every class: two turns, calls, and a call left open.
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
