//! Refusals: the error of a tool, with what an agent can do next.

use forklore_core::{CutError, ErrorKind};
use forklore_engine::Error;
use forklore_sanitize::terminal;
use forklore_store::Error as StoreError;
use serde::Serialize;
use serde_json::{Value, json};

/// Why a tool did not do what a call wants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Refusal {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) details: Value,
    /// What to do next.
    pub(crate) next: Vec<String>,
}

impl Refusal {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>, next: &str) -> Self {
        let message = terminal::line(&message.into()).into_owned();
        Self { kind, message, details: Value::Null, next: vec![next.to_owned()] }
    }

    pub(crate) fn invalid(message: impl Into<String>, next: &str) -> Self {
        Self::new(ErrorKind::InvalidArgs, message, next)
    }

    /// Returns the refusal as the JSON text of a tool's error.
    pub(crate) fn text(&self) -> String {
        let text = json!({ "error": self }).to_string();
        terminal::json(&text).into_owned()
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let next = next(&error);
        let details = match error.details() {
            Value::Object(details) if details.is_empty() => Value::Null,
            details => details,
        };
        let message = terminal::line(&error.to_string()).into_owned();
        Self { kind: error.kind(), message, details, next }
    }
}

/// Says what an agent can do after an error.
fn next(error: &Error) -> Vec<String> {
    let one = |text: &str| vec![text.to_owned()];
    match error {
        Error::Store(error) => of_store(error),
        Error::NoMatch { .. } | Error::InTrash(_) => one(FIND),
        Error::Name { .. } => one(NAMES),
        Error::Ambiguous { .. } => one("call again with one of details.candidates"),
        Error::Elsewhere { .. } => {
            one("call again with a session_id of details.elsewhere, if one of them is meant")
        }
        Error::Cut { source, .. } => match source {
            CutError::NothingToFork { .. } => one("pass at: start"),
            CutError::ManyEvents { .. } => one("pass at: seq:N with one of details.seqs"),
            _ => one("look at the positions with messages, then pass at: seq:N or turn:N"),
        },
        Error::OpenCalls { .. } => one("pass tool_calls: complete or remove, or another at"),
        Error::OtherChild { .. } => one("choose another label"),
        Error::TooDeep { .. } => one("fork an ancestor instead; tree shows them"),
        Error::Cycle(_) | Error::NoAttachment(_) => one(VERIFY),
        Error::Invalid { .. } => one("correct the argument and call again"),
        _ => Vec::new(),
    }
}

const FIND: &str = "find the session with list_sessions or search; pass everywhere: true to look \
into all folders";
const NAMES: &str = "name a session by its id, a part of its id of 4 or more characters, its \
label, its title, or last";
const VERIFY: &str = "tell the user to run: forklore verify";

fn of_store(error: &StoreError) -> Vec<String> {
    let next = match error {
        StoreError::NotFound(_) | StoreError::Deleted(_) => FIND,
        StoreError::LabelInUse { .. } | StoreError::IdInUse(_) => "choose another label",
        StoreError::Leased { .. } | StoreError::Conflict { .. } | StoreError::LeaseLost { .. } => {
            "another program writes to this session now; fork it and write to the fork, or try later"
        }
        StoreError::Locked(_) | StoreError::Stale { .. } => "call again",
        StoreError::Corrupt { .. }
        | StoreError::Lost { .. }
        | StoreError::MissingAncestor { .. } => VERIFY,
        _ => return Vec::new(),
    };
    vec![next.to_owned()]
}
