//! What a process asked of a store and what it was told, with the times of both.

use forklore_core::ErrorKind;
use forklore_store::Error;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Nanoseconds of the clock that all processes of the machine share and that is never set.
#[must_use]
pub fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (now.tv_sec.unsigned_abs(), u64::try_from(now.tv_nsec).unwrap_or(0));
    seconds * 1_000_000_000 + nanos
}

/// Something asked of a store. Events are named by their ids, which say all about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// A batch behind the head, or behind `expect`.
    Append {
        /// The session.
        session: String,
        /// The events' ids.
        events: Vec<String>,
        /// The head the caller saw.
        expect: Option<i64>,
    },
    /// A new session; a child's id is its label.
    Create {
        /// The session.
        session: String,
        /// Whose child it is; none makes a root.
        parent: Option<String>,
        /// How many events of the parent it keeps.
        #[serde(rename = "kept")]
        inheritable: u64,
        /// Whether they are copied.
        copy: bool,
        /// The ids of its own first events, behind a child's `session_fork`.
        events: Vec<String>,
    },
    /// A delete; its children keep what they need, or refuse it.
    Delete {
        /// The session.
        session: String,
        /// Whether children refuse it.
        refuse: bool,
    },
    /// A copy of the prefix.
    Detach {
        /// The session.
        session: String,
    },
    /// Another label.
    Label {
        /// The session.
        session: String,
        /// The label.
        label: String,
    },
    /// The import of a file.
    Import {
        /// The file.
        path: String,
    },
    /// A collection of what nobody needs.
    Collect,
}

impl Call {
    /// The session that it is about, where it is about one.
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

    /// The events that it writes.
    #[must_use]
    pub fn events(&self) -> &[String] {
        match self {
            Self::Append { events, .. } | Self::Create { events, .. } => events,
            _ => &[],
        }
    }
}

/// What the caller was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// The events stand there.
    Appended {
        /// The seq of the first.
        from: u64,
        /// The seq of the last.
        to: u64,
        /// They had been there before.
        repeated: bool,
    },
    /// It was done.
    Done,
    /// It was not done.
    Refused {
        /// The kind of the error.
        kind: String,
        /// The head, where the error names it.
        head: Option<i64>,
        /// The error, for people.
        message: String,
    },
}

impl Answer {
    /// A refusal, as a history notes it.
    #[must_use]
    pub fn refused(error: &forklore::Error) -> Self {
        let head = match error {
            forklore::Error::Store(Error::Conflict { head, .. }) => Some(*head),
            _ => None,
        };
        Self::Refused { kind: word(error.kind()), head, message: error.to_string() }
    }

    /// Whether the call was carried out.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }
}

/// The word for a kind of error.
#[must_use]
pub fn word(kind: ErrorKind) -> String {
    let word = serde_json::to_value(kind).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A line that a process writes before and behind each call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// It is about to call.
    Invoked {
        /// The call's number in its process.
        number: u64,
        /// When, by [`monotonic`].
        at: u64,
        /// The call.
        call: Call,
    },
    /// The call returned.
    Answered {
        /// The call's number.
        number: u64,
        /// When, by [`monotonic`].
        at: u64,
        /// What it returned.
        answer: Answer,
    },
}

/// A call of one process, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The process.
    pub process: String,
    /// What it asked.
    pub call: Call,
    /// When.
    pub invoked: u64,
    /// When it was told what; none when it died before.
    pub answered: Option<(u64, Answer)>,
}

impl Entry {
    /// Whether it was told that the call was carried out.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.answered.as_ref().is_some_and(|(_, answer)| answer.is_done())
    }

    /// Whether it was told nothing, so that the call may have been carried out or not.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answered.is_none()
    }

    /// The latest time at which the call took effect, if it did.
    #[must_use]
    pub fn until(&self) -> u64 {
        self.answered.as_ref().map_or(u64::MAX, |(at, _)| *at)
    }

    /// Whether this call was over before the other began.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        self.until() < other.invoked
    }
}

/// The calls in the lines of one process.
///
/// # Panics
/// When an answer belongs to no call: the test itself is wrong.
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
