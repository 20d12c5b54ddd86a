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

/// What a person or a program asked for.
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
        /// The seq of its last event afterwards.
        head_seq: i64,
    },
    /// Events were appended.
    Appended {
        /// The id of the session.
        session_id: SessionId,
        /// The number of events.
        events: u64,
        /// The seq of its last event afterwards.
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
        /// The seq of its last event.
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
        /// The former title.
        before: Option<String>,
        /// The new title.
        after: Option<String>,
    },
    /// The leaf changed: the branch of an imported file that its agent would resume.
    Leaf {
        /// The id of the session.
        session_id: SessionId,
        /// The former leaf.
        before: Option<SessionId>,
        /// The new leaf.
        after: Option<SessionId>,
    },
    /// The session was detached.
    Detached {
        /// The id of the session.
        session_id: SessionId,
    },
    /// The label or the title changed, but the session was erased since, and its names with it.
    Forgotten {
        /// The id of the session.
        session_id: SessionId,
    },
}

impl Outcome {
    /// Returns the session.
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
            | Self::Forgotten { session_id } => session_id,
        }
    }

    /// Returns why this outcome cannot be taken back whatever happens since; `None` if it can.
    #[must_use]
    pub fn why_final(&self) -> Option<Obstacle> {
        match self {
            Self::Appended { events, .. } => Some(Obstacle::EventsStay { events: *events }),
            Self::Erased { .. } | Self::Forgotten { .. } => Some(Obstacle::Erased),
            Self::Detached { .. } => Some(Obstacle::Detached),
            _ => None,
        }
    }

    /// Returns what changed in the session with this header since the outcome; `None` if the
    /// outcome is still as it was.
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
            | Self::Forgotten { .. } => None,
        }
    }

    /// Removes the label or title from the outcome, because the session was erased. Returns whether
    /// there was one.
    pub fn forget(&mut self) -> bool {
        let (Self::Labelled { session_id, .. } | Self::Renamed { session_id, .. }) = self else {
            return false;
        };
        *self = Self::Forgotten { session_id: session_id.clone() };
        true
    }
}

/// Why an outcome cannot be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Obstacle {
    /// The session was erased.
    Erased,
    /// A detach is not taken back: every read of the session is the same.
    Detached,
    /// Nothing removes events from a session.
    EventsStay {
        /// The number of events.
        events: u64,
    },
    /// The session is in the trash since.
    InTrash,
    /// The session came back from the trash since.
    BroughtBack,
    /// The session has gained events since.
    Appended {
        /// The number of events.
        events: u64,
    },
    /// The session got another label since.
    Labelled,
    /// The session got another title since.
    Renamed,
    /// The session got another leaf since.
    OtherLeaf,
    /// Another session of the family has the former label now.
    LabelInUse,
    /// Branches build on the session.
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
    /// What was asked for.
    pub kind: OperationKind,
    /// When the operation was recorded, by the store's clock.
    pub at: Timestamp,
    /// The program that did it, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The principal on whose behalf it was done, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The operation that this one undid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<OperationId>,
    /// The operation that undid this one, unless that was undone too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<OperationId>,
    /// What the operation did, in order.
    pub outcomes: Vec<Outcome>,
}
