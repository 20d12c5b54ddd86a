//! What is known of a conversation that its agent tells more than once: which message stands
//! behind which, and where in it the agent is.
//!
//! Agents that keep a list of messages write a message again when it has grown, go back to an
//! earlier one, or write the whole list anew. Here the list is a path in a tree, so that what is
//! told again is recognised, and what is told otherwise becomes a branch.

use std::collections::HashMap;

use forklore_core::agent_format::Parent;
use serde::{Deserialize, Serialize};

/// A message, or the place before the first one.
pub(crate) type At = u32;

/// Before the first message.
pub(crate) const START: At = 0;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "(String, At, u32)", into = "(String, At, u32)")]
struct Node {
    id: String,
    parent: At,
    /// What tells its text from others.
    said: u32,
}

impl From<(String, At, u32)> for Node {
    fn from((id, parent, said): (String, At, u32)) -> Self {
        Self { id, parent, said }
    }
}

impl From<Node> for (String, At, u32) {
    fn from(Node { id, parent, said }: Node) -> Self {
        (id, parent, said)
    }
}

/// What is kept between two imports.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Memory {
    nodes: Vec<Node>,
    /// What tells the calls of a message from others, the latest last.
    calls: Vec<(At, u32)>,
    /// The last message of the list as it is now.
    tip: At,
    /// The message behind which the last event stands.
    written: Option<At>,
    /// The first of the messages that the agent hides but can show again.
    hidden: Option<String>,
}

/// A conversation as far as it was told.
#[derive(Debug, Default)]
pub(crate) struct History {
    known: Memory,
    children: HashMap<(At, String), At>,
    /// The last message of each id.
    latest: HashMap<String, At>,
    calls: HashMap<At, u32>,
    before: Before,
}

/// How much was known before the last line. Nothing that is known is ever changed.
#[derive(Debug, Default)]
struct Before {
    nodes: usize,
    calls: usize,
    tip: At,
    written: Option<At>,
    hidden: Option<String>,
}

impl History {
    pub(crate) fn new(memory: Option<&str>) -> Self {
        let known: Memory =
            memory.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let mut history = Self { calls: known.calls.iter().copied().collect(), ..Self::default() };
        for (node, at) in known.nodes.iter().zip(1..) {
            history.children.insert((node.parent, node.id.clone()), at);
            history.latest.insert(node.id.clone(), at);
        }
        history.known = known;
        history
    }

    /// Must be called before each line.
    pub(crate) fn begin_line(&mut self) {
        let Memory { nodes, calls, tip, written, hidden } = &self.known;
        self.before = Before {
            nodes: nodes.len(),
            calls: calls.len(),
            tip: *tip,
            written: *written,
            hidden: hidden.clone(),
        };
    }

    pub(crate) fn memory(&self) -> Option<String> {
        serde_json::to_string(&self.known).ok()
    }

    /// What was known before the last line.
    pub(crate) fn memory_before(&self) -> Option<String> {
        let Before { nodes, calls, tip, written, hidden } = &self.before;
        let memory = Memory {
            nodes: self.known.nodes.get(..*nodes)?.to_vec(),
            calls: self.known.calls.get(..*calls)?.to_vec(),
            tip: *tip,
            written: *written,
            hidden: hidden.clone(),
        };
        serde_json::to_string(&memory).ok()
    }

    pub(crate) fn tip(&self) -> At {
        self.known.tip
    }

    /// Goes to another message, of which nothing is written.
    pub(crate) fn go_to(&mut self, at: At) {
        self.known.tip = at;
    }

    /// Says that the last event stands behind this message.
    pub(crate) fn wrote_behind(&mut self, at: At) {
        self.known.written = Some(at);
    }

    pub(crate) fn hidden(&self) -> Option<&str> {
        self.known.hidden.as_deref()
    }

    pub(crate) fn hide(&mut self, from: Option<String>) {
        self.known.hidden = from;
    }

    fn node(&self, at: At) -> Option<&Node> {
        self.known.nodes.get(usize::try_from(at).ok()?.checked_sub(1)?)
    }

    pub(crate) fn id(&self, at: At) -> Option<&str> {
        self.node(at).map(|node| &*node.id)
    }

    pub(crate) fn parent(&self, at: At) -> At {
        self.node(at).map_or(START, |node| node.parent)
    }

    pub(crate) fn said(&self, at: At) -> Option<u32> {
        self.node(at).map(|node| node.said)
    }

    /// What tells the calls of a message; none when it made none.
    pub(crate) fn calls(&self, at: At) -> Option<u32> {
        self.calls.get(&at).copied()
    }

    pub(crate) fn set_calls(&mut self, at: At, calls: u32) {
        self.known.calls.push((at, calls));
        self.calls.insert(at, calls);
    }

    /// The message of this id that stands right behind another.
    pub(crate) fn child(&self, parent: At, id: &str) -> Option<At> {
        self.children.get(&(parent, id.to_owned())).copied()
    }

    /// The message of this id in the list as it is now.
    pub(crate) fn in_list(&self, id: &str) -> Option<At> {
        // Nearly every id is new, so the list is seldom walked.
        self.latest.get(id)?;
        let mut at = self.known.tip;
        while let Some(node) = self.node(at) {
            if node.id == id {
                return Some(at);
            }
            at = node.parent;
        }
        None
    }

    /// Adds a message behind another.
    pub(crate) fn add(&mut self, parent: At, id: &str, said: u32) -> At {
        self.known.nodes.push(Node { id: id.to_owned(), parent, said });
        let at = At::try_from(self.known.nodes.len()).unwrap_or(At::MAX);
        self.children.insert((parent, id.to_owned()), at);
        self.latest.insert(id.to_owned(), at);
        at
    }

    /// How an event says that it stands behind a message.
    pub(crate) fn behind(&self, at: At) -> Parent {
        if self.known.written == Some(at) {
            return Parent::Previous;
        }
        if at == START { Parent::None } else { Parent::Id(key(at)) }
    }
}

/// The name by which the event of a message is found: ids may come twice.
pub(crate) fn key(at: At) -> String {
    format!("#{at}")
}
