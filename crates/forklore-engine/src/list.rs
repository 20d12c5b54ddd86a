//! `list`: lists sessions, the most recently updated first.

use forklore_api::ListRequest;
use forklore_core::{Header, SessionId, SessionKind};
use forklore_store::port::{Cursor, Filter, Headers, Problem};
use jiff::Timestamp;

use crate::{Engine, Error, Result};

/// One page of the list of sessions in a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The sessions on this page of the list, the most recently updated first.
    pub sessions: Vec<Header>,
    /// The cursor of the next page, for `ListRequest::after`. `None` on the last page.
    pub next: Option<String>,
    /// The damaged headers that the store found while it read this page.
    pub problems: Vec<Problem>,
}

/// Converts store errors about damaged session headers to the problems that the answer to a request
/// lists.
pub(crate) fn problems(damaged: &[forklore_store::Error]) -> Vec<Problem> {
    damaged.iter().map(|error| error.problem(None)).collect()
}

/// Adds to `problems` the problems in `more`, which were found on a further page of a list. Leaves
/// out duplicates, because several pages may report the same damaged header.
pub(crate) fn add_new(problems: &mut Vec<Problem>, more: Vec<Problem>) {
    for problem in more {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
}

impl Engine {
    /// Returns one page of the list of sessions. If the request sets `deleted`, lists the sessions
    /// in the trash instead. Includes delegates (sub-agent sessions) only if the request names that
    /// kind of session.
    ///
    /// # Errors
    /// `invalid_args` if `after` in the request is not a valid cursor.
    pub fn list(&self, request: &ListRequest) -> Result<Listing> {
        let kinds = match request.kind {
            Some(kind) => vec![kind],
            None => vec![SessionKind::Root, SessionKind::Branch],
        };
        let filter = Filter {
            workspace: request.workspace.clone(),
            since: request.since,
            kinds,
            trash: request.deleted,
            ..Filter::default()
        };
        let after = request.after.as_deref().map(parse_cursor).transpose()?;
        // Read one session more than requested, to find out whether there is a next page.
        let limit = request.limit.checked_add(1).filter(|limit| *limit > 1).unwrap_or(0);
        let Headers { sound: mut sessions, damaged } =
            self.store.sessions(&filter, after.as_ref(), limit)?;
        let more = limit > 0 && sessions.len() == limit;
        if more {
            sessions.pop();
        }
        let last = sessions.last().filter(|_| more);
        let next = last.map(|last| cursor_text(&cursor_of(last)));
        Ok(Listing { sessions, next, problems: problems(&damaged) })
    }
}

/// Maximum number of sessions that one read of the store requests.
const LARGEST_PAGE: usize = 1 << 16;

/// Returns the size of the page to read after a page of `page` sessions. A store may look at all
/// its sessions for each page. The pages therefore grow, so that a few pages cover a store of any
/// size.
pub(crate) fn next_page_size(page: usize) -> usize {
    page.saturating_mul(8).min(LARGEST_PAGE)
}

pub(crate) fn cursor_of(last: &Header) -> Cursor {
    Cursor { updated: last.updated, id: last.id.clone() }
}

/// Converts a page cursor (the position in a list of sessions) to the string that the answer
/// contains.
pub(crate) fn cursor_text(cursor: &Cursor) -> String {
    format!("{}@{}", cursor.updated.as_microsecond(), cursor.id)
}

/// Parses a page cursor from the string that an earlier answer contained.
pub(crate) fn parse_cursor(text: &str) -> Result<Cursor> {
    let parse = || {
        let (micros, id) = text.split_once('@')?;
        let updated = Timestamp::from_microsecond(micros.parse().ok()?).ok()?;
        Some(Cursor { updated, id: id.parse::<SessionId>().ok()? })
    };
    parse().ok_or_else(|| {
        Error::invalid("cursor", "a page begins after what an earlier answer gave as next")
    })
}
