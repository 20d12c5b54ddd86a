//! Running counts and open tool calls: what lets a fork find any place without reading the log.
//!
//! Each stored event carries the counts of everything up to and including itself. They grow with
//! the position (all but `open`), so one search finds the event at a cut, and its counts are all
//! the coordinates of that cut.

use serde::{Deserialize, Serialize};

use crate::event::Event;

/// What an event does to calls and turns. Worked out once, when it is written, and stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effect {
    /// A real user message: a turn begins, and calls still open are given up (SPEC 6.2).
    pub starts_turn: bool,
    /// The calls it makes and answers, in order.
    pub calls: Vec<CallStep>,
}

/// A tool call made or answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStep {
    /// The assistant asks for a tool.
    Open(OpenCall),
    /// The result of the call with this id.
    Close(String),
}

/// A tool call that has no result yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OpenCall {
    /// The call's id, as the model gave it.
    pub id: String,
    /// The tool's name.
    pub name: String,
}

/// The calls without a result, in the order they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenCalls(Vec<OpenCall>);

impl OpenCalls {
    /// Follows one event.
    pub fn step(&mut self, effect: &Effect) {
        if effect.starts_turn {
            self.0.clear();
        }
        for step in &effect.calls {
            match step {
                CallStep::Open(call) => {
                    if !self.0.iter().any(|open| open.id == call.id) {
                        self.0.push(call.clone());
                    }
                }
                CallStep::Close(id) => self.0.retain(|open| open.id != *id),
            }
        }
    }

    /// The calls, oldest first.
    #[must_use]
    pub fn calls(&self) -> &[OpenCall] {
        &self.0
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether every call has its result.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Effect> for OpenCalls {
    fn from_iter<I: IntoIterator<Item = Effect>>(effects: I) -> Self {
        let mut open = Self::default();
        effects.into_iter().for_each(|effect| open.step(&effect));
        open
    }
}

/// How much of each sort stands up to and including an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// Inheritable events: what a fork behind this event would take over.
    pub kept: u64,
    /// Conversation events: the index that the next one would get.
    pub index: u64,
    /// Turns begun.
    pub turns: u64,
    /// Bytes of `data` in the inheritable events.
    pub bytes: u64,
    /// Calls without a result.
    pub open: u64,
}

impl Counts {
    /// The counts behind one more event, where `open` are the calls open behind it.
    #[must_use]
    pub fn after(self, event: &Event, open: &OpenCalls) -> Self {
        let kept = u64::from(event.class.is_inherited());
        Self {
            kept: self.kept + kept,
            index: self.index + u64::from(event.class.is_conversation()),
            turns: self.turns + u64::from(event.effect.starts_turn),
            bytes: self.bytes + kept * event.data.get().len() as u64,
            open: open.len(),
        }
    }

    /// These counts, taken from where a span starts, as counts of the whole history.
    #[must_use]
    pub fn based_on(self, base: Self) -> Self {
        Self {
            kept: base.kept + self.kept,
            index: base.index + self.index,
            turns: base.turns + self.turns,
            bytes: base.bytes + self.bytes,
            open: self.open,
        }
    }
}
