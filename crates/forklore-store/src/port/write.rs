//! The kinds of writes to one session, and their results.

use std::collections::BTreeSet;

use forklore_core::Usage;
use forklore_core::header::CopyOf;
use forklore_core::workspace::Workspace;
use forklore_core::{
    Cut, Data, Event, Header, Label, SessionId, SessionKind, Strategy, ToolCallPolicy,
};
use jiff::{SignedDuration, Timestamp};

/// A session to create.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// Whether it is a root, a branch or a delegate. A root has no `from`, the others have one.
    pub kind: SessionKind,
    /// Its label; a root's is `main`.
    pub label: Label,
    /// The title that people see.
    pub title: Option<String>,
    /// Its folder.
    pub workspace: Workspace,
    /// On whose behalf it acts.
    pub principal: Option<String>,
    /// The ceiling on what it may do.
    pub permissions: Option<BTreeSet<String>>,
    /// The application's metadata.
    pub metadata: Option<Data>,
    /// The application's configuration.
    pub config: Option<Data>,
    /// The agent format of its records.
    pub dialect: Option<String>,
    /// The file it was imported from.
    pub source: Option<String>,
    /// The session whose beginning it repeats.
    pub copy_of: Option<CopyOf>,
    /// When it was created, by its creator's clock, capped at the store's time.
    pub created: Timestamp,
    /// Where it begins in its parent.
    pub from: Option<Beginning>,
    /// Its own first events; a child's first one is its `session_fork`.
    pub events: Vec<Event>,
    /// The sum of the usage that `events` report.
    pub usage: Usage,
}

/// The position in a parent where a child begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The parent session.
    pub parent: SessionId,
    /// The position. A branch inherits the `inheritable` events before it, a delegate none.
    pub cut: Cut,
    /// How the prefix is stored.
    pub strategy: Strategy,
    /// The policy requested for open calls.
    pub tool_calls: ToolCallPolicy,
}

/// Events to append.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The head that the caller saw; `None` appends at whatever head there is.
    pub expect: Option<i64>,
    /// The runtime that writes, if it has the session's lease.
    pub owner: Option<String>,
    /// The sum of the usage that `events` report.
    pub usage: Usage,
    /// When the events were written, by their writer's clock, capped at the store's time.
    pub now: Timestamp,
}

/// The result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The seq of the first event.
    pub from_seq: u64,
    /// The seq of the last event.
    pub to_seq: u64,
    /// The current head; it can be after `to_seq` if the append was a repetition.
    pub head_seq: i64,
    /// Whether the events already existed, from an earlier append with the same ids
    /// (docs/semantics.md, Writing).
    pub repeated: bool,
}

/// A change to something that is not the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Sets the label.
    Label(Label),
    /// Sets or removes the title.
    Title(Option<String>),
    /// Sets the session of the same file that the agent would resume.
    Leaf(Option<SessionId>),
    /// Sets or removes the session that it is a copy of, and up to which index (docs/semantics.md,
    /// Words).
    CopyOf(Option<CopyOf>),
    /// Takes or renews the lease; the turn begins at the head when the lease is taken.
    Hold {
        /// The runtime.
        owner: String,
        /// How long the lease lasts from now, by the store's clock, unless renewed: at most
        /// [`LONGEST_LEASE`](forklore_core::header::LONGEST_LEASE).
        lasts: SignedDuration,
    },
    /// Releases the lease.
    Release {
        /// The runtime.
        owner: String,
    },
    /// Copies the assembled prefix into the session's own segment (docs/semantics.md, Delete,
    /// detach). This is permanent; detaching again has no effect.
    Detach,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The header after the change.
    pub header: Header,
    /// The number of events that a [`Change::Detach`] copied.
    pub copied_events: u64,
}

/// How a delete treats branch children that are not deleted with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    /// Reject the delete if there are any, unless they were detached.
    Refuse,
    /// Delete nevertheless; the children retain the history they need.
    Retain,
}

/// The result of a delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The sessions deleted now, in the order given.
    pub deleted: Vec<SessionId>,
    /// The number of deleted sessions of which a segment stays because a living session's history
    /// refers to it. The segment contains events that the deleted session wrote, or its own copy of
    /// a prefix. A history refers to what its parent's history referred to at the fork, or to its
    /// own copy once it is detached.
    pub retained_segments: u64,
}
