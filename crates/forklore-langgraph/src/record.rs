//! The payloads of the events in which a thread is stored.

use std::collections::BTreeMap;
use std::fmt;

use forklore_core::{AttachmentId, Data};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::key::Key;

/// The type of the event of a checkpoint.
pub(crate) const CHECKPOINT: &str = "x.langgraph.checkpoint";
/// The type of the event of a task's writes.
pub(crate) const WRITES: &str = "x.langgraph.writes";
/// The type of the event that removes checkpoints.
pub(crate) const REMOVED: &str = "x.langgraph.removed";
/// The type of the event of an element that is no message. Its payload is the text of the element.
pub(crate) const VALUE: &str = "x.langgraph.value";
/// The type of the event of an element whose text is an attachment.
pub(crate) const ATTACHED: &str = "x.langgraph.attached";

/// A checkpoint, relative to its parent: what it does not mention is as in the parent. The id of the
/// event is that of the checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CheckpointRecord {
    /// The id of the parent. Without it, the parent is the checkpoint before this one in the
    /// history of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    /// Whether the checkpoint has no parent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) root: bool,
    /// The fields of the checkpoint that only LangGraph interprets. `ts` is missing if it is the time
    /// of the event.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) fields: BTreeMap<String, Data>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, Data>,
    /// The fields and the metadata that the parent has and this checkpoint has not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) fieldless: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unmarked: Vec<String>,
    /// The version of every channel in `values` and `gone`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "Data::some")]
    pub(crate) version: Option<Data>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) versions: BTreeMap<String, Data>,
    /// The channels that no longer have a version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unversioned: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) seen: BTreeMap<String, BTreeMap<String, Data>>,
    /// The nodes whose versions `seen` states completely.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unseen: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) values: BTreeMap<String, ValueRecord>,
    /// The channels that no longer have a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) gone: Vec<String>,
}

impl CheckpointRecord {
    /// States the versions once, if exactly the channels with changed values have new versions and these
    /// are equal. That is so in each step of most graphs.
    pub(crate) fn share_version(&mut self) {
        let mut versions = self.versions.values();
        let Some(first) = versions.next() else { return };
        let changed = self.values.len() + self.gone.len();
        let has_version = |channel: &String| self.versions.contains_key(channel);
        if versions.all(|version| version == first)
            && self.versions.len() == changed
            && self.values.keys().chain(&self.gone).all(has_version)
        {
            self.version = Some(first.clone());
            self.versions.clear();
        }
    }

    /// Returns the channels that have new versions, with these.
    pub(crate) fn new_versions(&self) -> impl Iterator<Item = (&String, &Data)> {
        let shared = self.version.iter().flat_map(|version| {
            self.values.keys().chain(&self.gone).map(move |channel| (channel, version))
        });
        shared.chain(&self.versions)
    }
}

/// The value of a channel or of a write: exactly one of its fields is present.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ValueRecord {
    /// A short value without text.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "Data::some")]
    pub(crate) text: Option<Data>,
    /// An element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) is: Option<Key>,
    /// A list, relative to the list of the parent in the same channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) list: Option<Vec<Part>>,
    /// A list that is the whole list of the parent and then these elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) add: Option<Vec<Key>>,
}

/// A part of a list: a range of the parent's list, or one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Range(usize, usize),
    One(Key),
}

/// What a task wrote after a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WritesRecord {
    /// The id of the checkpoint. Without it, it is the last one of the history of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checkpoint: Option<String>,
    pub(crate) task: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) path: String,
    pub(crate) writes: Vec<(i64, String, ValueRecord)>,
    /// The texts of elements that the history did not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) elements: Vec<Data>,
}

/// Checkpoints that are no longer listed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RemovedRecord {
    pub(crate) checkpoints: Vec<String>,
}

/// An element whose text is an attachment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AttachedRecord {
    pub(crate) key: Key,
    #[serde(rename = "ref")]
    pub(crate) attachment: AttachmentId,
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Range(from, to) => [from, to].serialize(s),
            Self::One(key) => key.serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct PartVisitor;

        impl<'de> Visitor<'de> for PartVisitor {
            type Value = Part;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key, or the two ends of a range")
            }

            fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Part, E> {
                key.parse().map(Part::One).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut ends: A) -> Result<Part, A::Error> {
                let short = || A::Error::custom("a range has two ends");
                let from = ends.next_element()?.ok_or_else(short)?;
                let to = ends.next_element()?.ok_or_else(short)?;
                Ok(Part::Range(from, to))
            }
        }

        d.deserialize_any(PartVisitor)
    }
}
