//! Tool calls: what an event does to them, and which are open.

use serde::{Deserialize, Serialize};

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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
