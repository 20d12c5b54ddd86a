//! The requests of a saver, which are JSON.

use std::collections::BTreeMap;

use forklore_core::{Data, EventType};
use serde::Deserialize;

use crate::key::Key;
use crate::thread::ThreadName;

/// A checkpoint to store.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Put {
    pub(crate) thread: ThreadName,
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) fields: BTreeMap<String, Data>,
    pub(crate) metadata: BTreeMap<String, Data>,
    pub(crate) versions: BTreeMap<String, Data>,
    pub(crate) seen: BTreeMap<String, BTreeMap<String, Data>>,
    pub(crate) values: BTreeMap<String, ValueInput>,
    pub(crate) elements: Vec<ElementInput>,
}

/// The value of a channel. Without a field, it is that of the parent, if the version of the channel is
/// too.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueInput {
    #[serde(default, deserialize_with = "Data::some")]
    pub(crate) text: Option<Data>,
    #[serde(default)]
    pub(crate) list: Option<ListInput>,
}

/// A list: the beginning of the same channel's list at a stored checkpoint, and further elements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListInput {
    /// The id of that checkpoint, and how many elements of its list come first.
    #[serde(default)]
    pub(crate) base: Option<(String, usize)>,
    pub(crate) add: Vec<Key>,
}

/// The text of an element.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ElementInput {
    /// The type of the event that the element is, if it is a message.
    #[serde(default)]
    pub(crate) kind: Option<EventType>,
    pub(crate) text: Data,
}

/// Writes of a task to store.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutWrites {
    pub(crate) thread: ThreadName,
    pub(crate) checkpoint: String,
    pub(crate) task: String,
    pub(crate) path: String,
    pub(crate) writes: Vec<WriteInput>,
    pub(crate) elements: Vec<ElementInput>,
}

/// One write.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteInput {
    pub(crate) index: i64,
    pub(crate) channel: String,
    pub(crate) text: Data,
}

/// Checkpoints to read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    pub(crate) thread: ThreadName,
    /// The ids of the checkpoints. `null` means the newest one.
    pub(crate) ids: Option<Vec<String>>,
}

/// Checkpoints to list, the newest first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// `null` lists all threads.
    pub(crate) thread_id: Option<String>,
    /// `null` lists all namespaces.
    pub(crate) namespace: Option<String>,
    pub(crate) id: Option<String>,
    /// Lists only checkpoints whose ids are smaller.
    pub(crate) before: Option<String>,
    pub(crate) limit: Option<usize>,
}

/// Elements to read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadElements {
    pub(crate) thread: ThreadName,
    /// The generation of the thread to which the numbers belong.
    #[serde(default)]
    pub(crate) generation: u64,
    #[serde(default)]
    pub(crate) numbers: Vec<u32>,
    #[serde(default)]
    pub(crate) keys: Vec<Key>,
}

/// The writes from which the values of channels are computed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct History {
    pub(crate) thread: ThreadName,
    /// The id of the checkpoint. `null` means the newest one.
    pub(crate) id: Option<String>,
    pub(crate) channels: Vec<String>,
}
