//! Tool calls: how events open and close them, and which calls are open at a position.

use serde::{Deserialize, Serialize};

/// How an event changes the open tool calls and the turns. The effect is computed once, when the
/// event is written, and is stored with the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effect {
    /// Whether the event starts a turn: it is a message that the user wrote, and not one that a
    /// program injected in the user's name. At the start of a turn, tool calls that still have no
    /// result stop being open (docs/semantics.md, Fork).
    pub starts_turn: bool,
    /// The tool calls that the event opens (by calling a tool) and closes (by a result), in order.
    pub calls: Vec<CallStep>,
}

/// The opening or closing of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStep {
    /// The assistant calls a tool.
    Open(OpenCall),
    /// A tool returns the result of the call with this id.
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
    /// Updates the open calls with the effect of the next event: the tool calls and results in it.
    /// An event that starts a turn first closes all open calls. Opening a call that is already open
    /// changes nothing, and neither does closing one that is not open.
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

    /// Checks whether no call is open.
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
