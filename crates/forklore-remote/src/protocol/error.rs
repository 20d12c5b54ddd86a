//! The errors of stores as messages. Each variant has one, so that a client gets the error that the
//! store returned.

use std::borrow::Cow;
use std::fmt;

use forklore_core::{Label, SessionId};
use forklore_store::Error;
use forklore_store::port::Mark;
use serde::{Deserialize, Serialize};

/// An error of a store.
#[allow(missing_docs, reason = "the fields are those of the error")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    NotFound(SessionId),
    Deleted(SessionId),
    IdInUse(SessionId),
    LabelInUse { label: Label, by: SessionId },
    Conflict { session: SessionId, expected: i64, head: i64 },
    Stale { what: String, message: String },
    ForeignMark(Mark),
    MarkExpired { mark: Mark, message: String },
    StoreGone { location: String },
    Leased { session: SessionId, owner: String },
    LeaseLost { session: SessionId, owner: String },
    Locked(String),
    HasChildren { session: SessionId, children: Vec<SessionId>, count: usize },
    Invalid(String),
    Denied(String),
    Unsupported(String),
    Outdated { found: u64, needed: u64 },
    Occupied { location: String },
    Corrupt { session: Option<SessionId>, seq: Option<u64>, location: String, message: String },
    Lost { session: SessionId, location: String },
    MissingAncestor { session: SessionId, missing: String },
    Poisoned { location: String, failure: String },
    Io { doing: String, causes: Vec<String> },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound(session) => Self::NotFound(session),
            Error::Deleted(session) => Self::Deleted(session),
            Error::IdInUse(session) => Self::IdInUse(session),
            Error::LabelInUse { label, by } => Self::LabelInUse { label, by },
            Error::Conflict { session, expected, head } => {
                Self::Conflict { session, expected, head }
            }
            Error::Stale { what, message } => Self::Stale { what: what.into_owned(), message },
            Error::ForeignMark(mark) => Self::ForeignMark(mark),
            Error::MarkExpired { mark, message } => Self::MarkExpired { mark, message },
            Error::StoreGone { location } => Self::StoreGone { location },
            Error::Leased { session, owner } => Self::Leased { session, owner },
            Error::LeaseLost { session, owner } => Self::LeaseLost { session, owner },
            Error::Locked(message) => Self::Locked(message),
            Error::HasChildren { session, children, count } => {
                Self::HasChildren { session, children, count }
            }
            Error::Invalid(message) => Self::Invalid(message),
            Error::Denied(message) => Self::Denied(message),
            Error::Unsupported(message) => Self::Unsupported(message),
            Error::Outdated { found, needed } => Self::Outdated { found, needed },
            Error::Occupied { location } => Self::Occupied { location },
            Error::Corrupt { session, seq, location, message } => {
                Self::Corrupt { session, seq, location, message }
            }
            Error::Lost { session, location } => Self::Lost { session, location },
            Error::MissingAncestor { session, missing } => {
                Self::MissingAncestor { session, missing }
            }
            Error::Poisoned { location, failure } => Self::Poisoned { location, failure },
            Error::Io { doing, source } => Self::Io { doing, causes: causes(&*source) },
            // A variant that is newer than this protocol.
            other => Self::Io { doing: "calling the store".into(), causes: causes(&other) },
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotFound(session) => Self::NotFound(session),
            Failure::Deleted(session) => Self::Deleted(session),
            Failure::IdInUse(session) => Self::IdInUse(session),
            Failure::LabelInUse { label, by } => Self::LabelInUse { label, by },
            Failure::Conflict { session, expected, head } => {
                Self::Conflict { session, expected, head }
            }
            Failure::Stale { what, message } => Self::Stale { what: Cow::Owned(what), message },
            Failure::ForeignMark(mark) => Self::ForeignMark(mark),
            Failure::MarkExpired { mark, message } => Self::MarkExpired { mark, message },
            Failure::StoreGone { location } => Self::StoreGone { location },
            Failure::Leased { session, owner } => Self::Leased { session, owner },
            Failure::LeaseLost { session, owner } => Self::LeaseLost { session, owner },
            Failure::Locked(message) => Self::Locked(message),
            Failure::HasChildren { session, children, count } => {
                Self::HasChildren { session, children, count }
            }
            Failure::Invalid(message) => Self::Invalid(message),
            Failure::Denied(message) => Self::Denied(message),
            Failure::Unsupported(message) => Self::Unsupported(message),
            Failure::Outdated { found, needed } => Self::Outdated { found, needed },
            Failure::Occupied { location } => Self::Occupied { location },
            Failure::Corrupt { session, seq, location, message } => {
                Self::Corrupt { session, seq, location, message }
            }
            Failure::Lost { session, location } => Self::Lost { session, location },
            Failure::MissingAncestor { session, missing } => {
                Self::MissingAncestor { session, missing }
            }
            Failure::Poisoned { location, failure } => Self::Poisoned { location, failure },
            Failure::Io { doing, causes } => Self::Io { doing, source: Cause::of(causes) },
        }
    }
}

/// Returns the messages of an error and of its causes.
fn causes(error: &(dyn std::error::Error + 'static)) -> Vec<String> {
    let mut messages = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(inner) = cause {
        messages.push(inner.to_string());
        cause = inner.source();
    }
    messages
}

/// The cause of an error on the server.
#[derive(Debug)]
struct Cause {
    message: String,
    source: Option<Box<Cause>>,
}

impl Cause {
    fn of(causes: Vec<String>) -> Box<dyn std::error::Error + Send + Sync> {
        let chain = causes
            .into_iter()
            .rev()
            .fold(None, |source, message| Some(Box::new(Self { message, source })));
        chain.map_or_else(|| "the server does not say why".into(), |cause| cause as _)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Cause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|cause| cause as _)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn all() -> Vec<Error> {
        let id = || "s1".parse::<SessionId>().unwrap();
        let (text, mark) = (|| "a\u{1b}[1m\"b\"".to_owned(), || Mark::new("f1:x"));
        let broken = io::Error::other(Error::io("a", io::Error::other("b")));
        vec![
            Error::NotFound(id()),
            Error::Deleted(id()),
            Error::IdInUse(id()),
            Error::LabelInUse { label: "plan".parse().unwrap(), by: id() },
            Error::Conflict { session: id(), expected: -1, head: i64::MAX },
            Error::Stale { what: "the source".into(), message: text() },
            Error::ForeignMark(mark()),
            Error::MarkExpired { mark: mark(), message: text() },
            Error::StoreGone { location: text() },
            Error::Leased { session: id(), owner: text() },
            Error::LeaseLost { session: id(), owner: text() },
            Error::Locked(text()),
            Error::HasChildren { session: id(), children: vec![id()], count: 70 },
            Error::Invalid(text()),
            Error::Denied(text()),
            Error::Unsupported(text()),
            Error::Outdated { found: 1, needed: u64::MAX },
            Error::Occupied { location: text() },
            Error::Corrupt { session: None, seq: None, location: text(), message: text() },
            Error::Corrupt { session: Some(id()), seq: Some(7), location: text(), message: text() },
            Error::Lost { session: id(), location: text() },
            Error::MissingAncestor { session: id(), missing: text() },
            Error::Poisoned { location: text(), failure: text() },
            Error::io("reading", broken),
        ]
    }

    #[test]
    fn every_error_arrives_as_it_was_sent() {
        for error in all() {
            let shown = |error: &Error| {
                let causes = causes(error);
                (causes, error.kind(), error.details(), error.is_of_store(), error.problem(None))
            };
            let before = shown(&error);
            let sent = Failure::from(error);
            let json = serde_json::to_string(&sent).unwrap();
            let arrived: Failure = serde_json::from_str(&json).unwrap();
            assert_eq!(arrived, sent);
            assert_eq!(shown(&arrived.into()), before);
        }
    }

    #[test]
    fn the_list_of_this_test_has_every_kind_of_message() {
        let names = |json: &str| json.split('"').nth(1).map(str::to_owned);
        let mut sent: Vec<_> = all()
            .into_iter()
            .filter_map(|error| names(&serde_json::to_string(&Failure::from(error)).unwrap()))
            .collect();
        sent.dedup();
        assert_eq!(sent.len(), 23, "{sent:?}");
    }
}
