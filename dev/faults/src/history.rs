//! The record of a process's calls to a store, with their answers and times.

use forklore_core::ErrorKind;
use forklore_store::Error;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Returns the time of the monotonic clock in nanoseconds. All processes of the machine share this
/// clock, and nothing sets it.
#[must_use]
pub fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (now.tv_sec.unsigned_abs(), u64::try_from(now.tv_nsec).unwrap_or(0));
    seconds * 1_000_000_000 + nanos
}

/// A call that a test makes to a store. Events are given by their ids, which determine their
/// content ([`content`](crate::caller::content)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// Appends a batch of events. With `expect`, the store refuses the batch if the head differs.
    Append {
        /// The id of the session.
        session: String,
        /// The ids of the events.
        events: Vec<String>,
        /// The head that the caller expects, or `None` to append after any head.
        expect: Option<i64>,
    },
    /// Creates a session. The label of a child equals its id.
    Create {
        /// The id of the new session.
        session: String,
        /// The id of the parent session. `None` creates a root.
        parent: Option<String>,
        /// The number of inheritable events that the child inherits from the parent.
        #[serde(rename = "kept")]
        inheritable: u64,
        /// `true` copies the inherited events; `false` shares them.
        copy: bool,
        /// The ids of the session's own first events. In a child they follow `session_fork`.
        events: Vec<String>,
    },
    /// Deletes a session. `refuse` decides what happens if it has children.
    Delete {
        /// The id of the session.
        session: String,
        /// `true` refuses the delete if the session has children. `false` deletes it, and the
        /// children retain the events that they inherit.
        refuse: bool,
    },
    /// Detaches a session: copies the events that it inherits into the session, so that it no
    /// longer needs its ancestors.
    Detach {
        /// The id of the session.
        session: String,
    },
    /// Changes the label (the name of a branch) of a session.
    Label {
        /// The id of the session.
        session: String,
        /// The new label.
        label: String,
    },
    /// Imports a session file of an agent.
    Import {
        /// The path of the file.
        path: String,
    },
    /// Runs a garbage collection.
    Collect,
}

impl Call {
    /// Returns the id of the session that the call creates or changes. `None` for an import and a
    /// garbage collection.
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

/// The store's answer to a call of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// The append succeeded: the events are stored at these positions.
    Appended {
        /// The seq of the first event.
        from: u64,
        /// The seq of the last event.
        to: u64,
        /// `true` if an earlier append had already stored these events.
        repeated: bool,
    },
    /// The call succeeded. This is the answer to calls other than appends.
    Done,
    /// The call failed with an error.
    Refused {
        /// The kind of the error, as in JSON.
        kind: String,
        /// The actual head of the session, if the error names it.
        head: Option<i64>,
        /// The error message.
        message: String,
    },
}

impl Answer {
    /// Creates the answer to a call that failed with `error`.
    #[must_use]
    pub fn refused(error: &forklore::Error) -> Self {
        let head = match error {
            forklore::Error::Store(Error::Conflict { head, .. }) => Some(*head),
            _ => None,
        };
        Self::Refused { kind: word(error.kind()), head, message: error.to_string() }
    }

    /// Checks whether this answer states that the call succeeded.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }
}

/// Returns the name that an error kind has in JSON, for example `not_found`.
#[must_use]
pub fn word(kind: ErrorKind) -> String {
    let word = serde_json::to_value(kind).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A message of a worker process about a call to the store. The process writes one before and one
/// after each call, as a line of standard output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The process is about to make this call.
    Invoked {
        /// The number of the call in its process, from 0.
        number: u64,
        /// The time when the call begins, in nanoseconds of [`monotonic`].
        at: u64,
        /// The call.
        call: Call,
    },
    /// The call with this number returned with this answer.
    Answered {
        /// The number of the call in its process, from 0.
        number: u64,
        /// The time when the call returned, in nanoseconds of [`monotonic`].
        at: u64,
        /// The answer.
        answer: Answer,
    },
}

/// A recorded call of one process, with the answer if the process received one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the process.
    pub process: String,
    /// The call.
    pub call: Call,
    /// The time when the call began, in nanoseconds of [`monotonic`].
    pub invoked: u64,
    /// The time when the call returned, and the answer. `None` if the process died before the
    /// answer.
    pub answered: Option<(u64, Answer)>,
}

impl Entry {
    /// Checks whether the call succeeded and the process received the answer that states this.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.answered.as_ref().is_some_and(|(_, answer)| answer.is_done())
    }

    /// Checks whether the process received no answer to the call. The call may or may not have been
    /// executed.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answered.is_none()
    }

    /// Returns the latest time at which the call can have taken effect: the time of the answer, or
    /// `u64::MAX` without an answer.
    #[must_use]
    pub fn until(&self) -> u64 {
        self.answered.as_ref().map_or(u64::MAX, |(at, _)| *at)
    }

    /// Checks whether this call returned before the call `other` began.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        self.until() < other.invoked
    }
}

/// Combines the lines that one process printed into calls with their answers. Returns the calls in
/// their order.
///
/// # Panics
/// If a line answers a call that no line announced. Then the test itself is wrong.
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
