//! A call of a [`Store`] method that both the store under test and the reference model execute, and
//! its answer. Both must give the same answer.

use forklore_core::{Header, SessionId};
use jiff::Timestamp;

use super::compare::Logs;
use super::model::{EXPIRED, NEVER};
use forklore_store::error::{Error, Result};
use forklore_store::port::{
    Append, Appended, Change, Changed, Children, NewSession, Removed, Store,
};

#[derive(Clone, Debug)]
pub(super) enum Call {
    Create(Box<NewSession>),
    Append(SessionId, Append),
    Change(SessionId, Change),
    Remove(Vec<SessionId>, Children, Timestamp),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Created(Box<Header>),
    Appended(Appended),
    Changed(Box<Changed>),
    Removed(Removed),
    Refused(String),
}

/// Returns a header in which the lease's expiry time only says whether the lease is valid at `now`.
/// The reference model can predict no more, because the exact time comes from the store's own
/// clock.
pub(super) fn timeless(mut header: Header, now: Timestamp) -> Header {
    if let Some(lease) = &mut header.lease {
        lease.expires = if lease.holds_at(now) { NEVER } else { EXPIRED };
    }
    header
}

impl Call {
    /// Returns the sessions whose logs this call may have changed.
    pub(super) fn touched(&self) -> Logs<'_> {
        match self {
            Self::Create(new) => Logs::Of(&new.id),
            Self::Append(session, _) => Logs::Of(session),
            Self::Change(_, Change::Detach) | Self::Remove(..) => Logs::All,
            Self::Change(session, _) => Logs::Of(session),
        }
    }

    pub(super) fn make(&self, store: &dyn Store) -> Answer {
        match self {
            Self::Create(new) => {
                answer(store.create((**new).clone()), |header| Answer::Created(Box::new(header)))
            }
            Self::Append(session, append) => {
                answer(store.append(session, append.clone()), Answer::Appended)
            }
            Self::Change(session, change) => answer(store.change(session, change), |changed| {
                let header = timeless(changed.header, store.now());
                Answer::Changed(Box::new(Changed { header, ..changed }))
            }),
            Self::Remove(sessions, children, now) => {
                answer(store.remove(sessions, *children, *now), Answer::Removed)
            }
        }
    }
}

pub(super) fn answer<T>(result: Result<T>, to_answer: impl FnOnce(T) -> Answer) -> Answer {
    result.map_or_else(|error| Answer::Refused(refusal(error)), to_answer)
}

/// Formats an error of the store under test as text, to compare it with the error that the
/// reference model of a store predicts. Leaves out the message of `Invalid`: each store words it in
/// its own way.
fn refusal(error: Error) -> String {
    match error {
        Error::Invalid(_) => "Invalid".into(),
        Error::HasChildren { session, mut children, count } => {
            children.sort();
            format!("HasChildren {session} {count} {children:?}")
        }
        other => format!("{other:?}"),
    }
}
