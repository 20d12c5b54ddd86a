//! A checkpoint in memory, and the difference between two of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use forklore_core::Data;

use crate::sequence::Sequence;

/// Values of JSON as LangGraph wrote them, such as the versions of channels.
pub(crate) type Versions = BTreeMap<Arc<str>, Data>;
/// The versions of channels that each node has seen.
pub(crate) type Seen = BTreeMap<Arc<str>, Versions>;
/// The values of channels.
pub(crate) type Values = BTreeMap<Arc<str>, Value>;

/// The value of a channel.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A short value without text.
    Text(Data),
    /// An element, by its number.
    Element(u32),
    List(Sequence),
}

/// What two checkpoints may share.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// The fields that only LangGraph interprets.
    pub(crate) fields: Arc<Versions>,
    pub(crate) metadata: Arc<Versions>,
    pub(crate) versions: Arc<Versions>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) values: Arc<Values>,
}

/// A checkpoint of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    pub(crate) id: Arc<str>,
    pub(crate) parent: Option<Arc<str>>,
    pub(crate) state: State,
    /// Whether the state is incomplete, because an event on which it builds was redacted.
    pub(crate) damaged: bool,
    /// The line of the thread that has the event of the checkpoint, and its seq there.
    pub(crate) line: usize,
    pub(crate) seq: u64,
}

/// How one map of versions differs from another.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct VersionsChange {
    pub(crate) set: BTreeMap<String, Data>,
    pub(crate) removed: Vec<String>,
}

impl VersionsChange {
    pub(crate) fn between(old: &Versions, new: &BTreeMap<String, Data>) -> Self {
        let differs =
            |(channel, version): &(&String, &Data)| old.get(channel.as_str()) != Some(*version);
        let set = new.iter().filter(differs).map(|(a, b)| (a.clone(), b.clone())).collect();
        let removed = old.keys().filter(|channel| !new.contains_key(&***channel));
        Self { set, removed: removed.map(ToString::to_string).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.removed.is_empty()
    }
}
