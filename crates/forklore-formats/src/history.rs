//! The history of a conversation whose agent writes messages more than once: the order of the
//! messages, and the agent's current position.
//!
//! Agents with a list of messages write a message again when it grows, go back to an earlier
//! message, or write the whole list again. This module represents the list as a path in a tree: it
//! recognises a repeated message, and a changed message becomes a branch.

use std::collections::HashMap;

use forklore_core::agent_format::Parent;
use serde::{Deserialize, Serialize};

/// A message, as its number from 1, or [`START`] before the first one.
pub(crate) type At = u32;

/// The position before the first message.
pub(crate) const START: At = 0;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "(String, At, u32)", into = "(String, At, u32)")]
struct Node {
    id: String,
    parent: At,
    /// A hash of the message's text.
    fingerprint: u32,
}

impl From<(String, At, u32)> for Node {
    fn from((id, parent, fingerprint): (String, At, u32)) -> Self {
        Self { id, parent, fingerprint }
    }
}

impl From<Node> for (String, At, u32) {
    fn from(Node { id, parent, fingerprint }: Node) -> Self {
        (id, parent, fingerprint)
    }
}

/// The state that is stored between two imports.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Memory {
    nodes: Vec<Node>,
    /// Hashes of the tool calls of messages, the latest last.
    calls: Vec<(At, u32)>,
    /// The last message of the current list.
    tip: At,
    /// The message of the last event.
    written: Option<At>,
    /// The first message that the agent hides but can restore.
    hidden: Option<String>,
}

/// The conversation, as far as the file has been read.
#[derive(Debug, Default)]
pub(crate) struct History {
    memory: Memory,
    children: HashMap<(At, String), At>,
    /// The last message of each id.
    latest: HashMap<String, At>,
    calls: HashMap<At, u32>,
    checkpoint: Checkpoint,
}

/// The state before the last line. Entries of the lists are only added, never changed, so their
/// lengths are enough.
#[derive(Debug, Default)]
struct Checkpoint {
    nodes: usize,
    calls: usize,
    tip: At,
    written: Option<At>,
    hidden: Option<String>,
}

impl History {
    pub(crate) fn new(stored: Option<&str>) -> Self {
        let memory: Memory =
            stored.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let mut history = Self { calls: memory.calls.iter().copied().collect(), ..Self::default() };
        for (node, at) in memory.nodes.iter().zip(1..) {
            history.children.insert((node.parent, node.id.clone()), at);
            history.latest.insert(node.id.clone(), at);
        }
        history.memory = memory;
        history
    }

    /// Starts a line: records the state before it. Callers must call this before each line.
    pub(crate) fn begin_line(&mut self) {
        let Memory { nodes, calls, tip, written, hidden } = &self.memory;
        self.checkpoint = Checkpoint {
            nodes: nodes.len(),
            calls: calls.len(),
            tip: *tip,
            written: *written,
            hidden: hidden.clone(),
        };
    }

    pub(crate) fn memory(&self) -> Option<String> {
        serde_json::to_string(&self.memory).ok()
    }

    /// Serializes the state before the last line.
    pub(crate) fn memory_before(&self) -> Option<String> {
        let Checkpoint { nodes, calls, tip, written, hidden } = &self.checkpoint;
        let memory = Memory {
            nodes: self.memory.nodes.get(..*nodes)?.to_vec(),
            calls: self.memory.calls.get(..*calls)?.to_vec(),
            tip: *tip,
            written: *written,
            hidden: hidden.clone(),
        };
        serde_json::to_string(&memory).ok()
    }

    pub(crate) fn tip(&self) -> At {
        self.memory.tip
    }

    /// Makes another message the current one without an event.
    pub(crate) fn go_to(&mut self, at: At) {
        self.memory.tip = at;
    }

    /// Sets the message of the last event.
    pub(crate) fn set_written(&mut self, at: At) {
        self.memory.written = Some(at);
    }

    pub(crate) fn hidden(&self) -> Option<&str> {
        self.memory.hidden.as_deref()
    }

    pub(crate) fn hide(&mut self, from: Option<String>) {
        self.memory.hidden = from;
    }

    fn node(&self, at: At) -> Option<&Node> {
        self.memory.nodes.get(usize::try_from(at).ok()?.checked_sub(1)?)
    }

    pub(crate) fn id(&self, at: At) -> Option<&str> {
        self.node(at).map(|node| &*node.id)
    }

    pub(crate) fn parent(&self, at: At) -> At {
        self.node(at).map_or(START, |node| node.parent)
    }

    pub(crate) fn fingerprint(&self, at: At) -> Option<u32> {
        self.node(at).map(|node| node.fingerprint)
    }

    /// Returns the hash of a message's tool calls, or `None` if it has none.
    pub(crate) fn calls(&self, at: At) -> Option<u32> {
        self.calls.get(&at).copied()
    }

    pub(crate) fn set_calls(&mut self, at: At, calls: u32) {
        self.memory.calls.push((at, calls));
        self.calls.insert(at, calls);
    }

    /// Returns the child of a message with this id.
    pub(crate) fn child(&self, parent: At, id: &str) -> Option<At> {
        self.children.get(&(parent, id.to_owned())).copied()
    }

    /// Returns the message with this id in the current list.
    pub(crate) fn in_list(&self, id: &str) -> Option<At> {
        // Nearly every id is new, so this rarely walks the list.
        self.latest.get(id)?;
        let mut at = self.memory.tip;
        while let Some(node) = self.node(at) {
            if node.id == id {
                return Some(at);
            }
            at = node.parent;
        }
        None
    }

    /// Adds a message after `parent`.
    pub(crate) fn add(&mut self, parent: At, id: &str, fingerprint: u32) -> At {
        self.memory.nodes.push(Node { id: id.to_owned(), parent, fingerprint });
        let at = At::try_from(self.memory.nodes.len()).unwrap_or(At::MAX);
        self.children.insert((parent, id.to_owned()), at);
        self.latest.insert(id.to_owned(), at);
        at
    }

    /// Returns the parent of an event that follows a message.
    pub(crate) fn behind(&self, at: At) -> Parent {
        if self.memory.written == Some(at) {
            return Parent::Previous;
        }
        if at == START { Parent::None } else { Parent::Id(key(at)) }
    }
}

/// Returns the unique key of a message's event; message ids are not unique.
pub(crate) fn key(at: At) -> String {
    format!("#{at}")
}
