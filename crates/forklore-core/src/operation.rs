//! Operations: what people and programs did to sessions, recorded so that it can be undone
//! (docs/semantics.md, Operations).

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::header::Header;
use crate::id::{Label, SessionId};

/// The number of an operation. A store counts its operations from 1 and never uses a number again.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct OperationId(pub u64);

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for OperationId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// The kind of an operation: what a person or a program requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// Sessions were deleted.
    Delete,
    /// Sessions were brought back from the trash.
    Undelete,
    /// A session got its own copy of the events that it inherits.
    Detach,
    /// A session got another label.
    Label,
    /// A session got another title.
    Rename,
    /// A conversation went back to an earlier position, in a new branch.
    Rewind,
    /// Session files of agents were imported.
    Import,
    /// An operation was undone.
    Undo,
    /// The content of events was taken away.
    Redact,
}

/// What an operation did to one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The session was created.
    Created {
        /// The id of the session.
        session_id: SessionId,
        /// The seq of the session's last event directly after the operation; -1 if the session had
        /// no events.
        head_seq: i64,
    },
    /// An import appended events to the session, which existed before.
    Appended {
        /// The id of the session.
        session_id: SessionId,
        /// The number of appended events.
        events: u64,
        /// The seq of the session's last event directly after the operation.
        head_seq: i64,
    },
    /// The session went into the trash.
    Deleted {
        /// The id of the session.
        session_id: SessionId,
    },
    /// The session was erased.
    Erased {
        /// The id of the session.
        session_id: SessionId,
    },
    /// The session came back from the trash.
    Restored {
        /// The id of the session.
        session_id: SessionId,
        /// The seq of the session's last event directly after the operation; -1 if the session had
        /// no events.
        head_seq: i64,
    },
    /// The label changed.
    Labelled {
        /// The id of the session.
        session_id: SessionId,
        /// The former label.
        before: Label,
        /// The new label.
        after: Label,
    },
    /// The title changed.
    Renamed {
        /// The id of the session.
        session_id: SessionId,
        /// The former title; null if the session had none.
        before: Option<String>,
        /// The new title; null if the session has none now.
        after: Option<String>,
    },
    /// The leaf of an imported file changed. The leaf is the branch that the file's agent would
    /// resume.
    Leaf {
        /// The id of the session whose header records the leaf.
        session_id: SessionId,
        /// The id of the former leaf; null if there was none.
        before: Option<SessionId>,
        /// The id of the new leaf; null if there is none now.
        after: Option<SessionId>,
    },
    /// The session was detached: it got its own copy of the events that it inherits.
    Detached {
        /// The id of the session.
        session_id: SessionId,
    },
    /// The label or the title of the session changed. The session was erased later, so the record
    /// no longer contains its labels and titles.
    Forgotten {
        /// The id of the session.
        session_id: SessionId,
    },
    /// The content of events that the session wrote was taken away, or its title.
    Redacted {
        /// The id of the session.
        session_id: SessionId,
        /// The number of events whose content was taken away.
        events: u64,
        /// The size of their former payloads, in bytes.
        bytes: u64,
        /// The reason that the caller gave; empty if only the title was taken away.
        reason: String,
    },
}

impl Outcome {
    /// Returns the id of the session that the outcome is about.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        match self {
            Self::Created { session_id, .. }
            | Self::Appended { session_id, .. }
            | Self::Deleted { session_id }
            | Self::Erased { session_id }
            | Self::Restored { session_id, .. }
            | Self::Labelled { session_id, .. }
            | Self::Renamed { session_id, .. }
            | Self::Leaf { session_id, .. }
            | Self::Detached { session_id }
            | Self::Forgotten { session_id }
            | Self::Redacted { session_id, .. } => session_id,
        }
    }

    /// Returns why this outcome can never be undone, whatever the present state of its session.
    /// `None` if that state decides whether the outcome can be undone.
    #[must_use]
    pub fn why_final(&self) -> Option<Obstacle> {
        match self {
            Self::Appended { events, .. } => Some(Obstacle::EventsStay { events: *events }),
            Self::Erased { .. } | Self::Forgotten { .. } => Some(Obstacle::Erased),
            Self::Detached { .. } => Some(Obstacle::Detached),
            Self::Redacted { .. } => Some(Obstacle::Redacted),
            _ => None,
        }
    }

    /// Returns the change of the session since this outcome that prevents an undo of the outcome.
    /// `now` is the present header of the session. `None` if this header shows no such change.
    #[must_use]
    pub fn changed_since(&self, now: &Header) -> Option<Obstacle> {
        if now.is_erased() {
            return Some(Obstacle::Erased);
        }
        let in_trash = now.is_in_trash();
        match self {
            Self::Deleted { .. } => (!in_trash).then_some(Obstacle::BroughtBack),
            _ if in_trash => Some(Obstacle::InTrash),
            Self::Created { head_seq, .. } | Self::Restored { head_seq, .. } => {
                let events = u64::try_from(now.head_seq() - head_seq).unwrap_or_default();
                (events > 0).then_some(Obstacle::Appended { events })
            }
            Self::Labelled { after, .. } => (*after != now.label).then_some(Obstacle::Labelled),
            Self::Renamed { after, .. } => (*after != now.title).then_some(Obstacle::Renamed),
            Self::Leaf { after, .. } => (*after != now.leaf).then_some(Obstacle::OtherLeaf),
            Self::Appended { .. }
            | Self::Erased { .. }
            | Self::Detached { .. }
            | Self::Forgotten { .. }
            | Self::Redacted { .. } => None,
        }
    }

    /// Removes the labels or titles from the outcome, because the session was erased. Returns
    /// whether the outcome contained any.
    pub fn forget(&mut self) -> bool {
        let (Self::Labelled { session_id, .. } | Self::Renamed { session_id, .. }) = self else {
            return false;
        };
        *self = Self::Forgotten { session_id: session_id.clone() };
        true
    }
}

/// Why an outcome of an operation cannot be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Obstacle {
    /// The session was erased.
    Erased,
    /// The session was detached. A detach changes no read of the session, so it has no undo.
    Detached,
    /// The operation took the content of events away, and nothing has a copy of it.
    Redacted,
    /// The operation appended events to the session, and nothing removes events from a session.
    EventsStay {
        /// The number of events that the operation appended.
        events: u64,
    },
    /// The session was deleted after the operation and is in the trash.
    InTrash,
    /// The session came back from the trash after the operation.
    BroughtBack,
    /// The session has gained events after the operation.
    Appended {
        /// The number of events gained.
        events: u64,
    },
    /// The session got another label after the operation.
    Labelled,
    /// The session got another title after the operation.
    Renamed,
    /// The session got another leaf after the operation.
    OtherLeaf,
    /// Another session of the family now has the session's former label.
    LabelInUse,
    /// The session has branches, which inherit its events.
    HasBranches {
        /// The number of branches.
        branches: u64,
    },
    /// A runtime runs a turn of the session.
    Running,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: &u64| if *n == 1 { "" } else { "s" };
        match self {
            Self::Erased => f.write_str("was erased"),
            Self::Detached => f.write_str("keeps its own copy of its history"),
            Self::Redacted => f.write_str("has no copy of what was redacted"),
            Self::EventsStay { events } => {
                write!(f, "keeps the {events} event{} that were added", plural(events))
            }
            Self::InTrash => f.write_str("was deleted since"),
            Self::BroughtBack => f.write_str("was brought back since"),
            Self::Appended { events } => {
                write!(f, "has gained {events} event{} since", plural(events))
            }
            Self::Labelled => f.write_str("got another label since"),
            Self::Renamed => f.write_str("got another title since"),
            Self::OtherLeaf => f.write_str("got another leaf since"),
            Self::LabelInUse => f.write_str("cannot have its former label, which is in use"),
            Self::HasBranches { branches } if *branches == 1 => {
                f.write_str("has a branch that builds on it")
            }
            Self::HasBranches { branches } => {
                write!(f, "has {branches} branches that build on it")
            }
            Self::Running => f.write_str("is running"),
        }
    }
}

/// A recorded operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Operation {
    /// The number of the operation.
    pub id: OperationId,
    /// The kind of the operation.
    pub kind: OperationKind,
    /// When the operation was recorded, by the store's clock.
    pub at: Timestamp,
    /// The program that executed the operation, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The principal on whose behalf the operation was executed, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The number of the operation that this operation undid. Absent if this operation is no undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<OperationId>,
    /// The number of the operation that undid this operation. Absent if there is none, or if that
    /// undo was itself undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<OperationId>,
    /// What the operation did to each session, in order.
    pub outcomes: Vec<Outcome>,
}
