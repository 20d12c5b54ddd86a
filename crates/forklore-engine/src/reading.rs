//! What readers of a session's history share: pages that damage does not end, and the tool calls
//! that are open where a page begins.

use forklore_core::{ErrorKind, OpenCalls, SessionId};
use forklore_store::port::{At, Direction, LogEntry, Query};

use crate::{Engine, Result};

/// The number of events before a position that are searched for its open tool calls.
const CALLS_BEFORE: usize = 128;

/// An event that was read, or the reason why it cannot be read.
#[derive(Debug)]
pub enum Readable {
    /// The event.
    Event(Box<LogEntry>),
    /// The log position of a damaged event, and what is wrong with it.
    Damaged(u64, String),
}

impl Readable {
    /// Returns the log position.
    #[must_use]
    pub fn seq(&self) -> u64 {
        match self {
            Self::Event(stored) => stored.seq,
            Self::Damaged(seq, _) => *seq,
        }
    }
}

/// Reads at most `limit` events from the log position `at` on. If one of them is damaged, reads
/// fewer events. If the first one is damaged, returns its damage instead.
///
/// # Errors
/// When the session does not exist, or the store cannot be read.
pub fn readable(
    engine: &Engine,
    session: &SessionId,
    at: u64,
    direction: Direction,
    mut limit: usize,
) -> Result<Vec<Readable>> {
    loop {
        let query = Query { at: At::Seq(at), direction, limit, bare: false };
        match engine.store().read(session, &query) {
            Ok(page) => {
                return Ok(page.events.into_iter().map(Box::new).map(Readable::Event).collect());
            }
            Err(error) if !is_damage(error.kind()) => return Err(error.into()),
            Err(_) if limit > 1 => limit = (limit / 4).max(1),
            Err(error) => return Ok(vec![Readable::Damaged(at, error.to_string())]),
        }
    }
}

fn is_damage(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Corrupt | ErrorKind::MissingAncestor)
}

/// Returns the tool calls that are open before the log position `at`, from a bounded number of
/// events. If these events cannot be read, returns none: results are then shown without the names
/// of their tools.
#[must_use]
pub fn open_calls(engine: &Engine, session: &SessionId, at: u64) -> OpenCalls {
    let Some(last) = at.checked_sub(1) else { return OpenCalls::default() };
    let direction = Direction::Backward;
    let mut query = Query { at: At::Seq(last), direction, limit: 1, bare: true };
    let mut read = |limit| {
        query.limit = limit;
        engine.store().read(session, &query).map(|page| page.events).unwrap_or_default()
    };
    if read(1).first().is_none_or(|stored| stored.counts.open == 0) {
        return OpenCalls::default();
    }
    let mut events = read(CALLS_BEFORE);
    events.reverse();
    events.into_iter().map(|stored| stored.event.effect).collect()
}
