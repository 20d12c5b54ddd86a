//! The calls of a process to a store and their answers, with timestamps.

use forklore_core::ErrorKind;
use forklore_store::Error;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Returns nanoseconds of the monotonic clock, which all processes of the machine share and nobody
/// sets.
#[must_use]
pub fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (now.tv_sec.unsigned_abs(), u64::try_from(now.tv_nsec).unwrap_or(0));
    seconds * 1_000_000_000 + nanos
}

/// A call to a store. Events are given by their ids, which determine everything else about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// Appends a batch after the head, or after `expect`.
    Append {
        /// The session.
        session: String,
        /// The ids of the events.
        events: Vec<String>,
        /// The head that the caller expects.
        expect: Option<i64>,
    },
    /// Creates a session. A child's id is also its label.
    Create {
        /// The session.
        session: String,
        /// The parent. `None` creates a root.
        parent: Option<String>,
        /// How many inheritable events of the parent the child inherits.
        #[serde(rename = "kept")]
        inheritable: u64,
        /// Whether the inherited events are copied.
        copy: bool,
        /// The ids of the session's own first events, after a child's `session_fork`.
        events: Vec<String>,
    },
    /// Deletes a session. Its children either retain what they inherit or cause a refusal.
    Delete {
        /// The session.
        session: String,
        /// Whether children cause a refusal.
        refuse: bool,
    },
    /// Detaches a session: copies its prefix.
    Detach {
        /// The session.
        session: String,
    },
    /// Changes the label of a session.
    Label {
        /// The session.
        session: String,
        /// The new label.
        label: String,
    },
    /// Imports a file.
    Import {
        /// The path of the file.
        path: String,
    },
    /// Runs garbage collection.
    Collect,
}

impl Call {
    /// Returns the session that the call is about, if any.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Append { session, .. }
            | Self::Create { session, .. }
            | Self::Delete { session, .. }
            | Self::Detach { session }
            | Self::Label { session, .. } => Some(session),
            Self::Import { .. } | Self::Collect => None,
        }
    }

    /// Returns the ids of the events that the call writes.
    #[must_use]
    pub fn events(&self) -> &[String] {
        match self {
            Self::Append { events, .. } | Self::Create { events, .. } => events,
            _ => &[],
        }
    }
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// The events are stored at these positions.
    Appended {
        /// The seq of the first event.
        from: u64,
        /// The seq of the last event.
        to: u64,
        /// Whether the events were already stored.
        repeated: bool,
    },
    /// The call was executed.
    Done,
    /// The call was refused.
    Refused {
        /// The error kind.
        kind: String,
        /// The actual head, if the error names it.
        head: Option<i64>,
        /// The error message.
        message: String,
    },
}

impl Answer {
    /// Creates a refusal from an error.
    #[must_use]
    pub fn refused(error: &forklore::Error) -> Self {
        let head = match error {
            forklore::Error::Store(Error::Conflict { head, .. }) => Some(*head),
            _ => None,
        };
        Self::Refused { kind: word(error.kind()), head, message: error.to_string() }
    }

    /// Checks whether the call was executed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }
}

/// Returns the error kind as it is written in JSON.
#[must_use]
pub fn word(kind: ErrorKind) -> String {
    let word = serde_json::to_value(kind).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A line that a process writes before and after each call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The process is about to make a call.
    Invoked {
        /// The number of the call in its process.
        number: u64,
        /// The time, from [`monotonic`].
        at: u64,
        /// The call.
        call: Call,
    },
    /// The call returned.
    Answered {
        /// The number of the call.
        number: u64,
        /// The time, from [`monotonic`].
        at: u64,
        /// The answer.
        answer: Answer,
    },
}

/// A call of one process with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the process.
    pub process: String,
    /// The call.
    pub call: Call,
    /// When the call began.
    pub invoked: u64,
    /// When the call returned, and its answer. `None` if the process died before.
    pub answered: Option<(u64, Answer)>,
}

impl Entry {
    /// Checks whether the process got the answer that the call was executed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.answered.as_ref().is_some_and(|(_, answer)| answer.is_done())
    }

    /// Checks whether the process got no answer, so that the call may or may not have been
    /// executed.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answered.is_none()
    }

    /// Returns the latest time at which the call took effect, if it did.
    #[must_use]
    pub fn until(&self) -> u64 {
        self.answered.as_ref().map_or(u64::MAX, |(at, _)| *at)
    }

    /// Checks whether this call returned before the other began.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        self.until() < other.invoked
    }
}

/// Combines the lines of one process into calls.
///
/// # Panics
/// If an answer belongs to no call, which means that the test itself is wrong.
#[must_use]
pub fn entries(process: &str, lines: &[Line]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in lines {
        match line {
            Line::Invoked { at, call, .. } => entries.push(Entry {
                process: process.to_owned(),
                call: call.clone(),
                invoked: *at,
                answered: None,
            }),
            Line::Answered { number, at, answer } => {
                assert_eq!(*number + 1, entries.len() as u64, "{process} answers out of turn");
                let last = entries.last_mut().expect("a call before its answer");
                last.answered = Some((*at, answer.clone()));
            }
        }
    }
    entries
}
