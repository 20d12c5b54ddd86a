//! The kinds of writes to a session, and their results.

use std::collections::BTreeSet;

use forklore_core::Usage;
use forklore_core::header::CopyOf;
use forklore_core::workspace::Workspace;
use forklore_core::{
    Cut, Data, Event, Header, Label, SessionId, SessionKind, Strategy, ToolCallPolicy,
};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A session to create.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewSession {
    /// The session's id.
    pub id: SessionId,
    /// Whether the session is a root, a branch (inherits history) or a delegate (inherits nothing).
    /// Branches and delegates have a `from`; a root has none.
    pub kind: SessionKind,
    /// The session's label; the label of a root is `main`.
    pub label: Label,
    /// The session's title, for display.
    pub title: Option<String>,
    /// The folder that the session belongs to.
    pub workspace: Workspace,
    /// The name of the person or program on whose behalf the session acts.
    pub principal: Option<String>,
    /// The names of the permissions that the session may use at most; `None` means no ceiling.
    pub permissions: Option<BTreeSet<String>>,
    /// The application's own metadata.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "Data::some")]
    pub metadata: Option<Data>,
    /// The application's own configuration.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "Data::some")]
    pub config: Option<Data>,
    /// The dialect (an agent's record format) of the session's imported records; `None` if there
    /// are none.
    pub dialect: Option<String>,
    /// The path of the file from which the session is imported; `None` if it is not imported.
    pub source: Option<String>,
    /// The session whose beginning this session repeats, if the import found one.
    pub copy_of: Option<CopyOf>,
    /// The creation time by the caller's clock. The store records its own time if that is earlier.
    pub created: Timestamp,
    /// The parent, and the position in the parent's log where the session begins; `None` for a
    /// root.
    pub from: Option<Beginning>,
    /// The session's first own events. In a child, the first of them is `session_fork`, which
    /// records the fork.
    pub events: Vec<Event>,
    /// The sum of the usage (tokens and cost) that `events` report.
    pub usage: Usage,
}

/// The parent of a child, and the position in the parent's log where the child begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beginning {
    /// The id of the parent session.
    pub parent: SessionId,
    /// The position in the parent's log where the child begins. A branch inherits the parent's
    /// first `cut.inheritable` inheritable events; a delegate (a sub-agent with a fresh context)
    /// inherits none.
    #[serde(with = "forklore_core::cut::whole")]
    pub cut: Cut,
    /// How the child's prefix (its inherited events) is stored: shared or copied.
    pub strategy: Strategy,
    /// The requested policy for tool calls that have no result at the cut.
    pub tool_calls: ToolCallPolicy,
}

/// Events to append to a session, with the state that their writer expects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Append {
    /// The events, in log order.
    pub events: Vec<Event>,
    /// The head (seq of the last event, or -1) that the caller expects; `None` appends after any
    /// head.
    pub expect: Option<i64>,
    /// The name of the runtime that writes, if it has the session's lease.
    pub owner: Option<String>,
    /// The sum of the usage (tokens and cost) that `events` report.
    pub usage: Usage,
    /// The time of the append by the caller's clock. The store records its own time if that is
    /// earlier.
    pub now: Timestamp,
}

/// The result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appended {
    /// The seq of the first appended event.
    pub from_seq: u64,
    /// The seq of the last appended event.
    pub to_seq: u64,
    /// The session's current head. If the append was a repetition of an earlier one, the head can
    /// be greater than `to_seq`.
    pub head_seq: i64,
    /// Whether an earlier append had already written these events, with the same ids
    /// (docs/semantics.md, Writing).
    pub repeated: bool,
}

/// A change to a session, other than an append to its log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Sets the label.
    Label(Label),
    /// Sets or removes the title.
    Title(Option<String>),
    /// Sets or removes the leaf: the session, imported from the same file, that the agent would
    /// resume.
    Leaf(Option<SessionId>),
    /// Sets or removes the link to the session whose beginning this session repeats
    /// (docs/semantics.md, Words).
    CopyOf(Option<CopyOf>),
    /// Acquires or renews the lease of the session. A newly acquired lease records the current head
    /// as the beginning of the turn.
    Hold {
        /// The name of the runtime that has or gets the lease.
        owner: String,
        /// How long the lease is valid from now on, by the store's clock, unless it is renewed. The
        /// maximum is [`LONGEST_LEASE`](forklore_core::header::LONGEST_LEASE).
        lasts: SignedDuration,
    },
    /// Releases the lease of the session.
    Release {
        /// The name of the runtime that has the lease and releases it.
        owner: String,
    },
    /// Detaches the session: stores a copy of the inherited events with the session itself, so that
    /// the session needs no ancestor (docs/semantics.md, Delete, detach). A detach is permanent. A
    /// second detach has no effect.
    Detach,
    /// Brings a session back from the trash, with this label. The session is then as it was before
    /// the delete. The feed reports it as created. Rejected with `Deleted` if the session was
    /// erased. A session that is not deleted remains as it is, with its label.
    Undelete(Label),
}

/// The result of a [`Change`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The header after the change.
    pub header: Header,
    /// The number of events that a [`Change::Detach`] copied; 0 for other changes.
    pub copied_events: u64,
}

/// How a delete treats branch children that are not deleted together with their parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Children {
    /// Reject the delete if a branch child would remain that depends on its parent. A detached
    /// child does not depend on its parent, because the child has its own copy of its history.
    Refuse,
    /// Delete the parent. The children retain the history that they need.
    Retain,
}

/// The result of a delete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// The ids of the sessions that this call deleted or erased, in the order of the request.
    pub deleted: Vec<SessionId>,
    /// The number of erased sessions whose stored events remain, because histories of other
    /// sessions refer to them. A child that shares its parent's history refers to the events that
    /// its parent and further ancestors store. A child that copied its history, or was detached,
    /// refers to no events of its ancestors.
    pub retained_segments: u64,
}
