//! Tool calls: how an event changes them, and which are open.

use serde::{Deserialize, Serialize};

/// How an event changes open calls and turns. It is computed once, when the event is written, and
/// stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effect {
    /// Whether the event is a real user message: it starts a turn and abandons calls that are still
    /// open (docs/semantics.md, Fork).
    pub starts_turn: bool,
    /// The calls that it opens and closes, in order.
    pub calls: Vec<CallStep>,
}

/// A tool call that is opened or closed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStep {
    /// The assistant calls a tool.
    Open(OpenCall),
    /// The result of the call with this id.
    Close(String),
}

/// A tool call that has no result yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenCall {
    /// The call's id, as the model gave it.
    pub id: String,
    /// The tool's name.
    pub name: String,
}

/// The open tool calls (those without a result), oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenCalls(Vec<OpenCall>);

impl OpenCalls {
    /// Applies one event. Opening a call that is already open changes nothing.
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

    /// Returns the open calls, oldest first.
    #[must_use]
    pub fn calls(&self) -> &[OpenCall] {
        &self.0
    }

    /// Returns the number of open calls.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Checks whether every call has its result.
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
