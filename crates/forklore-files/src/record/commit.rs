//! The commit line, which ends a step.

use forklore_core::Usage;
use forklore_core::header::CopyOf;
use forklore_core::{Counts, Header, Label, Lease, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A commit line. It ends a step, i.e. one write to a session's file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Commit {
    /// The changeable part of the session's header after the step.
    #[serde(rename = "commit")]
    pub(crate) state: State,
    /// The offset in bytes at which the step's first line begins.
    pub(crate) from: u64,
    /// The checksum of the step's event lines, i.e. of the bytes from the offset `from` to this
    /// line.
    pub(crate) step: String,
}

/// The fields of a session's header that can change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) own_events: u64,
    pub(crate) own_bytes: u64,
    pub(crate) counts: Counts,
    pub(crate) usage: Usage,
    pub(crate) updated: Timestamp,
    pub(crate) label: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) leaf: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) copy_of: Option<CopyOf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lease: Option<LeaseRecord>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) detached: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deleted: Option<Timestamp>,
    /// Whether the deleted session is in the trash, i.e. nothing of it was erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) trash: bool,
}

/// A lease as a session's file stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaseRecord {
    owner: String,
    expires: Timestamp,
    began_at: i64,
}

impl From<LeaseRecord> for Lease {
    fn from(LeaseRecord { owner, expires, began_at }: LeaseRecord) -> Self {
        Self { owner, expires, began_at }
    }
}

impl State {
    /// Returns the fields of a session's header that can change.
    pub(crate) fn of(header: &Header) -> Self {
        let lease = header.lease.clone();
        Self {
            own_events: header.own_events,
            own_bytes: header.own_bytes,
            counts: header.counts,
            usage: header.usage,
            updated: header.updated,
            label: header.label.clone(),
            title: header.title.clone(),
            leaf: header.leaf.clone(),
            copy_of: header.copy_of.clone(),
            lease: lease.map(|Lease { owner, expires, began_at }| LeaseRecord {
                owner,
                expires,
                began_at,
            }),
            detached: header.detached,
            deleted: header.deleted.map(|tombstone| tombstone.deleted),
            trash: header.is_in_trash(),
        }
    }
}
