//! Tracks the messages of a conversation whose agent writes messages more than once, and the
//! agent's current position in the conversation.
//!
//! Such an agent has a list of messages. It writes a message again when the message grows. It may
//! also go back to an earlier message, or write the whole list again. This module represents the
//! list as a path in a tree. A repeated message is recognised, and a changed message becomes a
//! branch.

use std::collections::HashMap;

use forklore_core::agent_format::Parent;
use serde::{Deserialize, Serialize};

/// A position in the tree of a conversation's messages: a message's number, counted from 1 in file
/// order, or [`START`].
pub(crate) type At = u32;

/// The position before the first message of a conversation: the root of the tree of messages.
pub(crate) const START: At = 0;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "(String, At, u32)", into = "(String, At, u32)")]
struct Node {
    id: String,
    parent: At,
    /// A hash of the message's content. It shows whether a repetition of the message has changed.
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

/// What is stored of a conversation between two imports of its file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Memory {
    nodes: Vec<Node>,
    /// Hashes of the tool calls of messages, each with the number of the message. If a message
    /// occurs more than once in the list, its last hash counts.
    calls: Vec<(At, u32)>,
    /// The last message of the agent's current conversation.
    tip: At,
    /// The message that the last event contains or follows. The next event can continue that
    /// message without naming it as its parent.
    written: Option<At>,
    /// The id of the first message that the agent hides at present. The agent also hides all later
    /// messages, and can restore them.
    hidden: Option<String>,
}

/// The tree of all messages of a conversation that were read so far.
#[derive(Debug, Default)]
pub(crate) struct History {
    memory: Memory,
    children: HashMap<(At, String), At>,
    /// For each message id, the last message with that id that was added to the history.
    latest: HashMap<String, At>,
    calls: HashMap<At, u32>,
    checkpoint: Checkpoint,
}

/// The state before the last line that was read. Entries of `nodes` and `calls` never change and
/// are only appended, so the lengths of both lists are enough to restore the lists.
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

    /// Remembers the present state, so that it can be restored after the next line. Callers must
    /// call this before they read each line.
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

    /// Serializes the state before the line that was read last. The result is for
    /// [`LineReader::memory_before`](forklore_core::agent_format::LineReader::memory_before).
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

    /// Makes `at` the last message of the agent's current conversation.
    pub(crate) fn go_to(&mut self, at: At) {
        self.memory.tip = at;
    }

    /// Records that the last event contains the message `at` or follows it.
    pub(crate) fn set_written(&mut self, at: At) {
        self.memory.written = Some(at);
    }

    /// Returns the message that the last event contains or follows.
    pub(crate) fn written(&self) -> Option<At> {
        self.memory.written
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

    /// Returns the hash of a message's tool calls, or `None` if the message has no tool calls.
    pub(crate) fn calls(&self, at: At) -> Option<u32> {
        self.calls.get(&at).copied()
    }

    pub(crate) fn set_calls(&mut self, at: At, calls: u32) {
        self.memory.calls.push((at, calls));
        self.calls.insert(at, calls);
    }

    /// Checks whether no message was read yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.memory.nodes.is_empty()
    }

    /// Returns the message with this id that directly follows the message `parent`, or `None` if no
    /// message does.
    pub(crate) fn child(&self, parent: At, id: &str) -> Option<At> {
        self.children.get(&(parent, id.to_owned())).copied()
    }

    /// Returns the message with this id in the agent's current conversation, or `None` if that
    /// conversation has no such message.
    pub(crate) fn in_list(&self, id: &str) -> Option<At> {
        // Nearly every id is new, so the search through the list is rare.
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

    /// Adds a message to the tree, directly after the message `parent`. Returns its position.
    pub(crate) fn add(&mut self, parent: At, id: &str, fingerprint: u32) -> At {
        self.memory.nodes.push(Node { id: id.to_owned(), parent, fingerprint });
        let at = At::try_from(self.memory.nodes.len()).unwrap_or(At::MAX);
        self.children.insert((parent, id.to_owned()), at);
        self.latest.insert(id.to_owned(), at);
        at
    }

    /// Returns how an event after the message `at` names its parent. If the last event already
    /// contains or follows that message, the parent is `Previous`.
    pub(crate) fn behind(&self, at: At) -> Parent {
        if self.memory.written == Some(at) {
            return Parent::Previous;
        }
        if at == START { Parent::None } else { Parent::Id(key(at)) }
    }
}

/// Returns the key by which other events refer to the event of the message `at`. The key is unique
/// in the file, while several messages may have the same id.
pub(crate) fn key(at: At) -> String {
    format!("#{at}")
}
