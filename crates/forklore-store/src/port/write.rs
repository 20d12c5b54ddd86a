//! What one write does to one session, and what it comes to.

use std::collections::BTreeSet;

use forklore_core::header::{CopyOf, Usage};
use forklore_core::workspace::Workspace;
use forklore_core::{
    Cut, Data, Event, Header, Label, SessionId, SessionKind, Strategy, ToolCallPolicy,
};
use jiff::{SignedDuration, Timestamp};

/// A session to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// How it comes to be; a root has no `from`, the others have one.
    pub kind: SessionKind,
    /// Its label; a root's is `main`.
    pub label: Label,
    /// What people call it.
    pub title: Option<String>,
    /// Its folder.
    pub workspace: Workspace,
    /// For whom it acts.
    pub principal: Option<String>,
    /// Its ceiling.
    pub permissions: Option<BTreeSet<String>>,
    /// The application's notes.
    pub metadata: Option<Data>,
    /// The application's configuration.
    pub config: Option<Data>,
    /// Whose records it holds.
    pub dialect: Option<String>,
    /// The file it was read from.
    pub source: Option<String>,
    /// The session whose beginning it repeats.
    pub copy_of: Option<CopyOf>,
    /// When it was made, as its maker says; the store's own time where that is earlier.
    pub created: Timestamp,
    /// Where it begins.
    pub from: Option<Beginning>,
    /// Its own first events; a child's first is its `session_fork`.
    pub events: Vec<Event>,
    /// The sum of what `events` say was spent.
    pub usage: Usage,
}

/// Where a child begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The session it comes from.
    pub parent: SessionId,
    /// The place; `kept` inheritable events are inherited, by a delegate none.
    pub cut: Cut,
    /// How the prefix is stored.
    pub strategy: Strategy,
    /// What was asked for open calls.
    pub tool_calls: ToolCallPolicy,
}

/// Events to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The head the caller saw; none goes behind whatever is there.
    pub expect: Option<i64>,
    /// The runtime that writes, where one holds the session.
    pub owner: Option<String>,
    /// The sum of what `events` say was spent.
    pub usage: Usage,
    /// When the events were written, as their writer says; the store's own time where that is
    /// earlier.
    pub now: Timestamp,
}

/// What an append came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The seq of the first event.
    pub from_seq: u64,
    /// The seq of the last event.
    pub to_seq: u64,
    /// The head now; behind `to_seq` when the append was a repetition.
    pub head_seq: i64,
    /// The events were already there, from an earlier append with the same ids (SPEC 9).
    pub repeated: bool,
}

/// A change of something that is not the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Another label.
    Label(Label),
    /// Another title, or none.
    Title(Option<String>),
    /// Which session of its file the agent would resume.
    Leaf(Option<SessionId>),
    /// Which session it is a copy of, as far as a place, or none (SPEC 1).
    CopyOf(Option<CopyOf>),
    /// Take or renew the lease; the turn begins at the head when it is taken.
    Hold {
        /// The runtime.
        owner: String,
        /// How long it holds from now, by the store's clock, unless renewed: at most
        /// [`LONGEST_LEASE`](forklore_core::header::LONGEST_LEASE).
        lasts: SignedDuration,
    },
    /// Give the lease back.
    Release {
        /// The runtime.
        owner: String,
    },
    /// Copy the assembled prefix into a segment of its own (SPEC 10). Lasting: a second time it
    /// does nothing.
    Detach,
}

/// What a change came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The header now.
    pub header: Header,
    /// How many events a [`Change::Detach`] copied.
    pub copied_events: u64,
}

/// What a delete does about branch children that are not deleted with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Children {
    /// Their existence refuses the delete, unless they were detached.
    Refuse,
    /// They keep what they need.
    Retain,
}

/// What a delete came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The sessions that are now gone, in the order given.
    pub deleted: Vec<SessionId>,
    /// Of how many of them a segment stays because a living session's history refers to it: to
    /// events they wrote, or to their own copy of a prefix. A history refers to what its parent's
    /// referred to when it was forked, or to its own copy once it is detached.
    pub retained_segments: u64,
}
