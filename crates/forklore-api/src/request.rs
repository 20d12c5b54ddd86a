//! The verbs with their requests, for front ends that receive verbs as JSON.

use forklore_core::{Label, Selector, SessionId};
use serde::{Deserialize, Serialize};

use crate::{Append, Bring, Create, Delete, Fork, ListRequest, LogRange, TreeRequest, UsageScope};

/// A verb and its request, for example `{"fork": {"parent_session_id": "plan-1"}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Creates a session. The answer is [`SessionAnswer`](crate::SessionAnswer).
    New(Create),
    /// Appends events. The answer is [`Appended`](crate::Appended).
    Append(Append),
    /// Lists sessions. The answer is [`SessionPage`](crate::SessionPage).
    List(ListRequest),
    /// Shows a session. The answer is [`SessionAnswer`](crate::SessionAnswer).
    Show {
        /// The id of the session.
        session_id: SessionId,
    },
    /// Changes the label of a branch. The answer is [`SessionAnswer`](crate::SessionAnswer).
    Label {
        /// The id of the session.
        session_id: SessionId,
        /// The new label.
        label: Label,
    },
    /// Prints events. The answer is one [`EventLine`](crate::EventLine) per event.
    Log {
        /// The id of the session.
        session_id: SessionId,
        /// The range of events to print.
        #[serde(default)]
        range: LogRange,
    },
    /// Reads a conversation. The answer is one [`Record`](crate::Record) per event.
    Replay {
        /// The id of the session.
        session_id: SessionId,
        /// The position up to which to read. `null` reads to the end.
        up_to: Option<Selector>,
    },
    /// Returns what the model would receive. The answer is [`Inspection`](crate::Inspection).
    Inspect {
        /// The id of the session.
        session_id: SessionId,
    },
    /// Creates a child session. The answer is [`Forked`](crate::Forked).
    Fork(Fork),
    /// Shows families as trees. The answer is [`Tree`](crate::Tree).
    Tree(TreeRequest),
    /// Lists the branches of a family. The answer is [`Branches`](crate::Branches).
    Branches {
        /// The id of any session of the family.
        session_id: SessionId,
    },
    /// Shows ancestors and children. The answer is [`Lineage`](crate::Lineage).
    Lineage {
        /// The id of the session.
        session_id: SessionId,
    },
    /// Compares two sessions. The answer is [`Difference`](crate::Difference).
    Diff {
        /// The id of the first session.
        a: SessionId,
        /// The id of the second session.
        b: SessionId,
    },
    /// Records a summary of one branch in another. The answer is [`Brought`](crate::Brought).
    Bring(Bring),
    /// Lists the attachments of a session. The answer is [`Attachments`](crate::Attachments).
    Attachments {
        /// The id of the session.
        session_id: SessionId,
    },
    /// Copies the prefix that a session inherits. The answer is [`Detached`](crate::Detached).
    Detach {
        /// The id of the session.
        session_id: SessionId,
    },
    /// Deletes a session. The answer is [`Deleted`](crate::Deleted).
    Delete(Delete),
    /// Counts sessions, events and bytes. The answer is [`StatsAnswer`](crate::StatsAnswer).
    Stats {
        /// The sessions to count.
        scope: UsageScope,
        /// Whether to include the usage by model if the scope is the whole store. This reads all
        /// records of the store. For a session or a family, the usage by model is always included.
        #[serde(default)]
        models: bool,
    },
    /// Checks all stored data. The answer is [`Verification`](crate::Verification).
    Verify {
        /// The session to check. `null` checks the whole store.
        session_id: Option<SessionId>,
    },
    /// Frees the space of deleted sessions. The answer is [`Collected`](crate::Collected).
    Gc {},
    /// Compresses sessions that are not in use. The answer is [`Packed`](crate::Packed).
    Pack {
        /// Compresses only families that were not written to for at least this number of days.
        idle_days: u32,
    },
}
