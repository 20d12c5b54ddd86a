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

/// Everything that a store records about a session, except its events. Its serialized form is that of
/// the protocol between stores, not that of the contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The session's id.
    pub id: SessionId,
    /// The id of the session's root: the first ancestor, or the session itself if it has no parent.
    pub root_id: SessionId,
    /// The id of the parent session; `None` for a root.
    pub parent_id: Option<SessionId>,
    /// Whether the session is a root, a branch or a delegate. A root has no parent. A branch
    /// inherits its parent's history; a delegate is a child that inherits nothing.
    pub kind: SessionKind,
    /// The session's label, which is unique among the sessions with the same root.
    pub label: Label,
    /// The session's title, which is shown to people; `None` if it has none.
    pub title: Option<String>,
    /// The position in the parent's log at which the session begins; `None` for a root.
    #[serde(with = "crate::cut::whole::optional")]
    pub cut: Option<Cut>,
    /// How the session's prefix (its inherited events) is stored; `None` for a root.
    pub strategy: Option<Strategy>,
    /// The requested policy for tool calls that the cut leaves open; `None` for a root.
    pub tool_calls: Option<ToolCallPolicy>,
    /// The counts of events, turns and open tool calls after the last inherited event.
    /// `inherited.inheritable` is the number of inherited events.
    pub inherited: Counts,
    /// The counts of events, turns and open tool calls after the session's last event. They include
    /// the inherited events.
    pub counts: Counts,
    /// The number of events that the session wrote itself, including `session_fork` (the record of
    /// its fork).
    pub own_events: u64,
    /// The total size of `data` in the session's own events, in bytes.
    pub own_bytes: u64,
    /// The usage (tokens and cost) of all model calls that the session itself made. Calls in
    /// inherited events are not included.
    pub usage: Usage,
    /// The folder that the session belongs to.
    pub workspace: Workspace,
    /// The principal: a text that names on whose behalf the session acts. The store records this
    /// text and never bases a decision on it.
    pub principal: Option<String>,
    /// The names of the permissions that the session may use at most; `None` means no ceiling.
    pub permissions: Option<BTreeSet<String>>,
    /// The application's own metadata. forklore does not interpret it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "Data::some")]
    pub metadata: Option<Data>,
    /// The application's own configuration. forklore does not interpret it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "Data::some")]
    pub config: Option<Data>,
    /// The dialect (the agent's record format) of the imported records in the session's history.
    /// `None` if the history contains no imported records.
    pub dialect: Option<String>,
    /// When the session was created.
    pub created: Timestamp,
    /// When the session was last written to.
    pub updated: Timestamp,
    /// The number of parent links between the session and its root; 0 for a root.
    pub depth: u64,
    /// The lease of the runtime (the process) that runs a turn of the session; `None` if no runtime
    /// has leased it. The lease may have expired.
    pub lease: Option<Lease>,
    /// Whether the session was detached: it has its own copy of its prefix and needs no ancestor.
    pub detached: bool,
    /// The id of the session that the agent of the imported file would resume, if one file became
    /// several sessions. Only the first of these sessions records this id.
    pub leaf: Option<SessionId>,
    /// The path of the file from which the session was imported; `None` if it was not imported.
    pub source: Option<String>,
    /// A link to the session whose beginning this session repeats, if an import found such a
    /// session.
    pub copy_of: Option<CopyOf>,
    /// The tombstone, which records when the session was deleted; `None` if the session was not
    /// deleted.
    pub deleted: Option<Tombstone>,
}

impl Header {
    /// Returns the log position of the last event; -1 if the log is empty.
    #[must_use]
    pub fn head_seq(&self) -> i64 {
        i64::try_from(self.inherited.inheritable + self.own_events).unwrap_or(i64::MAX) - 1
    }

    /// Returns the log position (seq) of one of the session's own events. `position` counts the own
    /// events from 0. The first own event of a child, `session_fork`, has seq 0; the others follow
    /// the inherited events.
    #[must_use]
    pub fn seq_of_own(&self, position: u64) -> u64 {
        if self.parent_id.is_some() && position > 0 {
            self.inherited.inheritable + position
        } else {
            position
        }
    }

    /// Returns the size of the inherited payloads that are stored with other sessions, in bytes.
    /// The result is 0 if the session has its own copy.
    #[must_use]
    pub fn shared_bytes(&self) -> u64 {
        let shares = self.strategy == Some(Strategy::ShareV1) && !self.detached;
        if shares { self.inherited.bytes } else { 0 }
    }

    /// Checks whether the session is in the trash: it was deleted, but the store still has all of
    /// it, and it can be brought back.
    #[must_use]
    pub fn is_in_trash(&self) -> bool {
        self.deleted.is_some_and(|tombstone| tombstone.restorable)
    }

    /// Checks whether the session was erased: it was deleted, and cannot be brought back.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.deleted.is_some_and(|tombstone| !tombstone.restorable)
    }

    /// Returns the session's lease if it is valid at `now` and belongs to a runtime other than
    /// `owner`. If `owner` is `None`, the lease may belong to any runtime. The process of that
    /// runtime may be gone: this method does not check that, but `lease_of_other` of the store port
    /// does.
    #[must_use]
    pub fn leased_by_other(&self, owner: Option<&str>, now: Timestamp) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.holds_at(now) && Some(&*lease.owner) != owner)
    }
}

/// The exclusive right of one runtime to write a session for the duration of a turn
/// (docs/semantics.md, Writing).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The name of the runtime (a process that runs turns) that has the lease.
    pub owner: String,
    /// When the lease expires, unless the runtime renews it.
    pub expires: Timestamp,
    /// The log position of the last event before the turn began, which is the end of the last
    /// closed turn; -1 if the log was empty.
    pub began_at: i64,
}

/// The longest time for which a lease can be valid without renewal.
pub const LONGEST_LEASE: SignedDuration = SignedDuration::from_hours(24);

impl Lease {
    /// Checks whether the lease is valid at `now`. A lease that expires more than [`LONGEST_LEASE`]
    /// after `now` is not valid, because the clock that granted it has since been set back.
    #[must_use]
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.expires > now && self.expires.duration_since(now) <= LONGEST_LEASE
    }
}

/// The part of a session's header that records its deletion. The header of a deleted session
/// remains, with its position in the lineage (docs/semantics.md, Delete, detach).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// When the session was deleted.
    pub deleted: Timestamp,
    /// Whether the session is in the trash: nothing of it was erased, and it can be brought back.
    pub restorable: bool,
}

/// A link from a session to the session whose beginning it repeats (docs/semantics.md, Words).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopyOf {
    /// The id of the session whose beginning is repeated.
    pub session_id: SessionId,
    /// The number of conversation events that both sessions have in common from the beginning.
    pub index: u64,
}

/// How a child's prefix (its inherited events) is stored. The choice changes no results of reads,
/// except for storage sizes and counts (docs/semantics.md, Fork).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The child refers to the events of its ancestors and stores no copy.
    #[default]
    ShareV1,
    /// The child gets a copy of its ancestors' events.
    ReplayV1,
}

/// What a fork does with tool calls that have no result at its cut (docs/semantics.md, Fork).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolCallPolicy {
    /// The fork writes a synthetic result for each open call, directly after the inherited events.
    #[default]
    Complete,
    /// The fork moves the cut back to a position where no call is open.
    Remove,
    /// The fork is refused if a call is open.
    Error,
    /// The calls remain open in the log. Conversions of the child's log to messages add the missing
    /// results.
    Verbatim,
}

/// The error for a string that is not one of the names of an enum's variants. It contains the valid
/// names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {0}")]
pub struct NotAChoice(&'static str);

macro_rules! words {
    ($name:ident, $all:literal, $($variant:ident = $word:literal),*) => {
        impl $name {
            /// Returns the name by which JSON refers to this variant.
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
