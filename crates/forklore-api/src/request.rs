//! Every verb with what it takes, for faces that get verbs as JSON.

use forklore_core::{Label, Selector, SessionId};
use serde::{Deserialize, Serialize};

use crate::{Append, Bring, Create, Delete, Fork, ListRequest, LogRange, TreeRequest, UsageScope};

/// A verb and what it takes: `{"fork": {"parent_session_id": "plan-1"}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Makes a session; the answer is [`SessionAnswer`](crate::SessionAnswer).
    New(Create),
    /// Adds events; the answer is [`Appended`](crate::Appended).
    Append(Append),
    /// Lists sessions; the answer is [`SessionPage`](crate::SessionPage).
    List(ListRequest),
    /// Shows a session; the answer is [`SessionAnswer`](crate::SessionAnswer).
    Show {
        /// The session.
        session_id: SessionId,
    },
    /// Gives a branch another label; the answer is [`SessionAnswer`](crate::SessionAnswer).
    Label {
        /// The session.
        session_id: SessionId,
        /// Its new label.
        label: Label,
    },
    /// Prints events; the answer is a line of [`EventLine`](crate::EventLine) for each.
    Log {
        /// The session.
        session_id: SessionId,
        /// Which events.
        #[serde(default)]
        range: LogRange,
    },
    /// Reads a conversation; the answer is a line of [`Record`](crate::Record) for each event.
    Replay {
        /// The session.
        session_id: SessionId,
        /// Where to stop; none is the end.
        up_to: Option<Selector>,
    },
    /// What the model would receive; the answer is [`Inspection`](crate::Inspection).
    Inspect {
        /// The session.
        session_id: SessionId,
    },
    /// Makes a child; the answer is [`Forked`](crate::Forked).
    Fork(Fork),
    /// Shows families; the answer is [`Tree`](crate::Tree).
    Tree(TreeRequest),
    /// Shows a family's continuations; the answer is [`Branches`](crate::Branches).
    Branches {
        /// A session of the family.
        session_id: SessionId,
    },
    /// Shows ancestors and children; the answer is [`Lineage`](crate::Lineage).
    Lineage {
        /// The session.
        session_id: SessionId,
    },
    /// Compares two sessions; the answer is [`Difference`](crate::Difference).
    Diff {
        /// The first.
        a: SessionId,
        /// The second.
        b: SessionId,
    },
    /// Shares a branch's outcome; the answer is [`Brought`](crate::Brought).
    Bring(Bring),
    /// Lists attachments; the answer is [`Attachments`](crate::Attachments).
    Attachments {
        /// The session.
        session_id: SessionId,
    },
    /// Copies a session's prefix; the answer is [`Detached`](crate::Detached).
    Detach {
        /// The session.
        session_id: SessionId,
    },
    /// Deletes a session; the answer is [`Deleted`](crate::Deleted).
    Delete(Delete),
    /// Counts sessions, events and bytes; the answer is [`StatsAnswer`](crate::StatsAnswer).
    Stats {
        /// Of whom.
        scope: UsageScope,
        /// Whether to read every record of the whole store for what models cost; of a session or
        /// a family they are always read.
        #[serde(default)]
        models: bool,
    },
    /// Checks everything stored; the answer is [`Verification`](crate::Verification).
    Verify {
        /// Only this session; none is the whole store.
        session_id: Option<SessionId>,
    },
    /// Gives the space of deleted sessions back; the answer is [`Collected`](crate::Collected).
    Gc {},
    /// Compresses what nobody reads; the answer is [`Packed`](crate::Packed).
    Pack {
        /// How many days a family was not written.
        idle_days: u32,
    },
}
