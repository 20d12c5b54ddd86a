//! `list`: sessions, the last updated first.

use forklore_core::workspace::Workspace;
use forklore_core::{Header, SessionId, SessionKind};
use forklore_store::port::{Cursor, Filter, Headers, Problem};
use jiff::Timestamp;

use crate::{Engine, Error, Result};

/// Which sessions to list.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    /// Those of this workspace; none is all.
    pub workspace: Option<Workspace>,
    /// Those of this kind; none is all but delegates.
    pub kind: Option<SessionKind>,
    /// Those updated since then.
    pub since: Option<Timestamp>,
    /// How many at most; 0 is all.
    pub limit: usize,
    /// Those behind this place, as an earlier answer's `next` named it.
    pub after: Option<String>,
}

/// A page of sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The sessions.
    pub sessions: Vec<Header>,
    /// Where the next page begins; none on the last.
    pub next: Option<String>,
    /// Sessions whose header cannot be read, as far as the page met them.
    pub problems: Vec<Problem>,
}

/// What damaged headers are told as.
pub(crate) fn problems(damaged: &[forklore_store::Error]) -> Vec<Problem> {
    damaged.iter().map(|error| Problem::of(error, None)).collect()
}

/// Adds what a further page met: a header may be met with each.
pub(crate) fn add_new(problems: &mut Vec<Problem>, more: Vec<Problem>) {
    for problem in more {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
}

impl Engine {
    /// Lists sessions.
    ///
    /// # Errors
    /// `invalid_args` when `after` is no cursor.
    pub fn list(&self, request: &ListRequest) -> Result<Listing> {
        let kinds = match request.kind {
            Some(kind) => vec![kind],
            None => vec![SessionKind::Root, SessionKind::Branch],
        };
        let filter = Filter {
            workspace: request.workspace.clone(),
            since: request.since,
            kinds,
            ..Filter::default()
        };
        let after = request.after.as_deref().map(parse_cursor).transpose()?;
        // One more than asked tells whether there is a next page.
        let limit = request.limit.checked_add(1).filter(|limit| *limit > 1).unwrap_or(0);
        let Headers { sound: mut sessions, damaged } =
            self.store.sessions(&filter, after.as_ref(), limit)?;
        let more = limit > 0 && sessions.len() == limit;
        if more {
            sessions.pop();
        }
        let next = sessions.last().filter(|_| more).map(cursor_of);
        Ok(Listing { sessions, next, problems: problems(&damaged) })
    }
}

fn cursor_of(last: &Header) -> String {
    format!("{}@{}", last.updated.as_microsecond(), last.id)
}

fn parse_cursor(text: &str) -> Result<Cursor> {
    let parse = || {
        let (micros, id) = text.split_once('@')?;
        let updated = Timestamp::from_microsecond(micros.parse().ok()?).ok()?;
        Some(Cursor { updated, id: id.parse::<SessionId>().ok()? })
    };
    parse().ok_or_else(|| Error::invalid("cursor", "--after takes what an answer gave as next"))
}
