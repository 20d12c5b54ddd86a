//! Session headers: the lineage of a session and its settings (docs/semantics.md, Words, Fork and
//! Writing).

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
use crate::usage::Usage;
use crate::workspace::Workspace;

/// Everything that a store records about a session, except its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The session's id.
    pub id: SessionId,
    /// The id of the family's root.
    pub root_id: SessionId,
    /// The parent session; `None` for a root.
    pub parent_id: Option<SessionId>,
    /// Whether it is a root, a branch or a delegate.
    pub kind: SessionKind,
    /// Its name in the family.
    pub label: Label,
    /// The title that people see.
    pub title: Option<String>,
    /// The position in the parent at which it begins; `None` for a root.
    pub cut: Option<Cut>,
    /// How its prefix is stored; `None` for a root.
    pub strategy: Option<Strategy>,
    /// The policy requested for calls that the cut leaves open; `None` for a root.
    pub tool_calls: Option<ToolCallPolicy>,
    /// The counts of the inherited events; `inheritable` is their number.
    pub inherited: Counts,
    /// The counts after its last event, including inherited events.
    pub counts: Counts,
    /// The number of events that it wrote itself, including `session_fork`.
    pub own_events: u64,
    /// The bytes of `data` in these events.
    pub own_bytes: u64,
    /// The usage of its own model calls.
    pub usage: Usage,
    /// The folder it belongs to.
    pub workspace: Workspace,
    /// On whose behalf it acts. The store records it and never decides by it.
    pub principal: Option<String>,
    /// The ceiling on what it may do; `None` means no ceiling.
    pub permissions: Option<BTreeSet<String>>,
    /// The application's own metadata.
    pub metadata: Option<Data>,
    /// The application's own configuration.
    pub config: Option<Data>,
    /// The agent format of the records that it was imported from.
    pub dialect: Option<String>,
    /// When it was created.
    pub created: Timestamp,
    /// When it was last written to.
    pub updated: Timestamp,
    /// The number of parent links up to the root.
    pub depth: u64,
    /// The lease of the runtime that runs it now.
    pub lease: Option<Lease>,
    /// Whether it has its own copy of its prefix.
    pub detached: bool,
    /// The session from the same file that the agent would resume.
    pub leaf: Option<SessionId>,
    /// The file it was imported from.
    pub source: Option<String>,
    /// The session whose beginning it repeats.
    pub copy_of: Option<CopyOf>,
    /// Set if it was deleted.
    pub deleted: Option<Tombstone>,
}

impl Header {
    /// Returns the last log position, -1 if the log is empty.
    #[must_use]
    pub fn head_seq(&self) -> i64 {
        i64::try_from(self.inherited.inheritable + self.own_events).unwrap_or(i64::MAX) - 1
    }

    /// Returns the log position of the session's own event number `position`. A child's
    /// `session_fork` is at position 0; its tail follows the inherited events.
    #[must_use]
    pub fn seq_of_own(&self, position: u64) -> u64 {
        if self.parent_id.is_some() && position > 0 {
            self.inherited.inheritable + position
        } else {
            position
        }
    }

    /// Returns the payload bytes of its history that are stored with other sessions.
    #[must_use]
    pub fn shared_bytes(&self) -> u64 {
        let shares = self.strategy == Some(Strategy::ShareV1) && !self.detached;
        if shares { self.inherited.bytes } else { 0 }
    }

    /// Returns the lease if a runtime other than `owner` has it at `now`.
    #[must_use]
    pub fn leased_by_other(&self, owner: Option<&str>, now: Timestamp) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.holds_at(now) && Some(&*lease.owner) != owner)
    }
}

/// The right of a runtime to write a session for the length of a turn (docs/semantics.md, Writing).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The runtime that has the lease.
    pub owner: String,
    /// When it expires, unless renewed.
    pub expires: Timestamp,
    /// The head at which its turn began, which is the end of the last closed turn.
    pub began_at: i64,
}

/// The longest validity of a lease without renewal.
pub const LONGEST_LEASE: SignedDuration = SignedDuration::from_hours(24);

impl Lease {
    /// Checks whether it is valid at `now`. A lease that expires more than [`LONGEST_LEASE`] after
    /// `now` was granted by a clock that has since been set back; it blocks nobody.
    #[must_use]
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.expires > now && self.expires.duration_since(now) <= LONGEST_LEASE
    }
}

/// The rest of a deleted session, apart from its position in the tree (docs/semantics.md, Delete,
/// detach).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// When the session was deleted.
    pub deleted: Timestamp,
}

/// Records that a session repeats the beginning of another (docs/semantics.md, Words).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopyOf {
    /// The session that it repeats.
    pub session_id: SessionId,
    /// The number of conversation events that are the same.
    pub index: u64,
}

/// How a child's prefix is stored. No other answer depends on it (docs/semantics.md, Fork).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The child refers to its ancestors' events.
    #[default]
    ShareV1,
    /// The child gets a copy of them.
    ReplayV1,
}

/// What a fork does with tool calls that have no result at its cut (docs/semantics.md, Fork).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolCallPolicy {
    /// Each gets a synthetic result at the beginning of the child's own events.
    #[default]
    Complete,
    /// The cut moves back to a position where no call is open.
    Remove,
    /// The fork is refused.
    Error,
    /// The calls stay open; views add the missing results.
    Verbatim,
}

/// The error of a text that is not one of the words of an enum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {0}")]
pub struct NotAChoice(&'static str);

macro_rules! words {
    ($name:ident, $all:literal, $($variant:ident = $word:literal),*) => {
        impl $name {
            /// Returns the word for the variant.
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
