//! A session's header: its lineage and what was said when it was made (SPEC 1, 6, 9).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::cut::Cut;
use crate::data::Data;
use crate::id::{Label, SessionId};
use crate::kind::SessionKind;
pub use crate::usage::Usage;
use crate::workspace::Workspace;

/// Everything a store knows of a session besides its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The session's id.
    pub id: SessionId,
    /// The id of the family's root.
    pub root_id: SessionId,
    /// The session it came from; none for a root.
    pub parent_id: Option<SessionId>,
    /// How it came to be.
    pub kind: SessionKind,
    /// Its name in the family.
    pub label: Label,
    /// What people call it.
    pub title: Option<String>,
    /// Where in the parent it begins; none for a root.
    pub cut: Option<Cut>,
    /// How its prefix is stored; none for a root.
    pub strategy: Option<Strategy>,
    /// What was asked for calls that the cut leaves open; none for a root.
    pub tool_calls: Option<ToolCallPolicy>,
    /// The counts of what it inherited; `inheritable` is their number.
    pub inherited: Counts,
    /// The counts behind its last event, inherited ones included.
    pub counts: Counts,
    /// The events it wrote itself, `session_fork` included.
    pub own_events: u64,
    /// The bytes of their `data`.
    pub own_bytes: u64,
    /// What its own calls of models cost.
    pub usage: Usage,
    /// The folder it belongs to.
    pub workspace: Workspace,
    /// For whom it acts. Recorded, never decided by.
    pub principal: Option<String>,
    /// The ceiling of what it may do; absent is no ceiling.
    pub permissions: Option<BTreeSet<String>>,
    /// The application's own notes.
    pub metadata: Option<Data>,
    /// The application's own configuration.
    pub config: Option<Data>,
    /// Which agent's records it was read from.
    pub dialect: Option<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last written.
    pub updated: Timestamp,
    /// Links up to the root.
    pub depth: u64,
    /// Who runs it now.
    pub lease: Option<Lease>,
    /// Whether its prefix is its own copy.
    pub detached: bool,
    /// The session of its file that the agent would resume.
    pub leaf: Option<SessionId>,
    /// The file it was read from.
    pub source: Option<String>,
    /// The session whose beginning it repeats.
    pub copy_of: Option<CopyOf>,
    /// That it was deleted, and when.
    pub deleted: Option<Tombstone>,
}

impl Header {
    /// The last log position, -1 when empty.
    #[must_use]
    pub fn head_seq(&self) -> i64 {
        i64::try_from(self.inherited.inheritable + self.own_events).unwrap_or(i64::MAX) - 1
    }

    /// Where its own events begin: a child's `session_fork` is position 0, its tail follows the
    /// inherited events.
    #[must_use]
    pub fn seq_of_own(&self, position: u64) -> u64 {
        if self.parent_id.is_some() && position > 0 {
            self.inherited.inheritable + position
        } else {
            position
        }
    }

    /// The payload bytes of its history that other sessions keep for it.
    #[must_use]
    pub fn shared_bytes(&self) -> u64 {
        let shares = self.strategy == Some(Strategy::ShareV1) && !self.detached;
        if shares { self.inherited.bytes } else { 0 }
    }

    /// Whether a runtime other than `owner` holds it at `now`.
    #[must_use]
    pub fn leased_by_other(&self, owner: Option<&str>, now: Timestamp) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.holds_at(now) && Some(&*lease.owner) != owner)
    }
}

/// Who runs a session, until when, and where the turn began (SPEC 9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The runtime that holds it.
    pub owner: String,
    /// When it ends unless renewed.
    pub expires: Timestamp,
    /// The head at which its turn began: the end of the last closed turn.
    pub began_at: i64,
}

/// The longest time that a lease holds without being renewed.
pub const LONGEST_LEASE: SignedDuration = SignedDuration::from_hours(24);

impl Lease {
    /// Whether it holds at `now`. One that ends later than any lease taken by now was taken by a
    /// clock that has been set back since: it holds nobody off.
    #[must_use]
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.expires > now && self.expires.duration_since(now) <= LONGEST_LEASE
    }
}

/// What is left of a deleted session besides its place in the tree (SPEC 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// When it was deleted.
    pub deleted: Timestamp,
}

/// That a session repeats the beginning of another (SPEC 1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopyOf {
    /// The original.
    pub session_id: SessionId,
    /// How many conversation events are the same.
    pub index: u64,
}

/// How a child's prefix is stored (SPEC 6.4); never visible but here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Refer to the ancestors' events.
    #[default]
    ShareV1,
    /// Copy them.
    ReplayV1,
}

/// What a fork does with calls that its cut leaves open (SPEC 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolCallPolicy {
    /// Give each a synthetic result, first in the tail.
    #[default]
    Complete,
    /// Move the cut back to where none is open.
    Remove,
    /// Refuse.
    Error,
    /// Add nothing; views repair.
    Verbatim,
}

/// A text that is none of the words of a choice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {0}")]
pub struct NotAChoice(&'static str);

macro_rules! words {
    ($name:ident, $all:literal, $($variant:ident = $word:literal),*) => {
        impl $name {
            /// The word that names it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl FromStr for $name {
            type Err = NotAChoice;
            fn from_str(text: &str) -> Result<Self, NotAChoice> {
                match text { $($word => Ok(Self::$variant),)* _ => Err(NotAChoice($all)) }
            }
        }
    };
}

words!(Strategy, "share_v1, replay_v1", ShareV1 = "share_v1", ReplayV1 = "replay_v1");
words!(
    ToolCallPolicy,
    "complete, remove, error, verbatim",
    Complete = "complete",
    Remove = "remove",
    Error = "error",
    Verbatim = "verbatim"
);
words!(
    SessionKind,
    "root, branch, delegate",
    Root = "root",
    Branch = "branch",
    Delegate = "delegate"
);
