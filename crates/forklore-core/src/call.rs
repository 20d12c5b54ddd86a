//! Tool calls: how events open and close them, and which calls are open at a position.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

/// How an event changes the open tool calls and the turns. The effect is computed once, when the
/// event is written, and is stored with the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
///
/// A call is opened, closed and found without a walk over the others, because one message may
/// contain 100,000 calls.
#[derive(Clone, Debug, Default)]
pub struct OpenCalls {
    /// The calls by the order in which they were opened.
    by_order: BTreeMap<u64, OpenCall>,
    /// The key in `by_order` of each call, by the call's id.
    order_of: HashMap<String, u64>,
}

impl OpenCalls {
    /// Updates the open calls with the effect of the next event: the tool calls and results in it.
    /// An event that starts a turn first closes all open calls. Opening a call that is already open
    /// changes nothing. Closing a call that is not open changes nothing.
    pub fn step(&mut self, effect: &Effect) {
        if effect.starts_turn {
            self.by_order.clear();
            self.order_of.clear();
        }
        for step in &effect.calls {
            match step {
                CallStep::Open(call) => self.open(call),
                CallStep::Close(id) => self.close(id),
            }
        }
    }

    fn open(&mut self, call: &OpenCall) {
        if self.contains(&call.id) {
            return;
        }
        let next = self.by_order.last_key_value().map_or(0, |(last, _)| last + 1);
        self.order_of.insert(call.id.clone(), next);
        self.by_order.insert(next, call.clone());
    }

    fn close(&mut self, id: &str) {
        if let Some(order) = self.order_of.remove(id) {
            self.by_order.remove(&order);
        }
    }

    /// Returns the open calls, oldest first.
    pub fn calls(&self) -> impl ExactSizeIterator<Item = &OpenCall> {
        self.by_order.values()
    }

    /// Checks whether the call with this id is open.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.order_of.contains_key(id)
    }

    /// Returns the number of open calls.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.by_order.len() as u64
    }

    /// Checks whether no call is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_order.is_empty()
    }
}

/// Two values are equal if the same calls are open in the same order.
impl PartialEq for OpenCalls {
    fn eq(&self, other: &Self) -> bool {
        self.calls().eq(other.calls())
    }
}

impl Eq for OpenCalls {}

impl FromIterator<Effect> for OpenCalls {
    fn from_iter<I: IntoIterator<Item = Effect>>(effects: I) -> Self {
        let mut open = Self::default();
        effects.into_iter().for_each(|effect| open.step(&effect));
        open
    }
}
