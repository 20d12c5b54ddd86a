//! Reads the messages that only one of two sessions has, as pairs at the same position.

use forklore_core::{Header, SessionId};
use forklore_engine::reading::open_calls;
use forklore_engine::{Engine, Result};
use forklore_store::port::{At, LogEntry};

use super::entry::Entries;
use crate::model::Entry;
use crate::request::{Answer, Compared};

pub(super) fn pairs(
    engine: &Engine,
    a: &SessionId,
    b: &SessionId,
    common: Option<u64>,
    from: u64,
    limit: u64,
) -> Result<Answer> {
    let headers = [engine.show(a)?, engine.show(b)?];
    let common = match common {
        Some(common) => common,
        None => engine.compare(a, b)?.common,
    };
    let [one, other] = &headers;
    let first = common + from;
    let (mut left, mut right) =
        (messages(engine, one, first, limit)?, messages(engine, other, first, limit)?);
    let count = left.len().max(right.len());
    left.resize(count, None);
    right.resize(count, None);
    let alone = [one, other].map(|header| header.counts.index.saturating_sub(common));
    Ok(Answer::Compare(Box::new(Compared {
        sessions: [one, other].map(|header| super::list::row(engine, header)),
        common,
        alone,
        from,
        pairs: left.into_iter().zip(right).map(|(left, right)| [left, right]).collect(),
    })))
}

/// Returns the messages of a session from an index on.
fn messages(
    engine: &Engine,
    header: &Header,
    index: u64,
    limit: u64,
) -> Result<Vec<Option<Entry>>> {
    let end = header.counts.index.min(index.saturating_add(limit));
    if index >= end {
        return Ok(Vec::new());
    }
    let mut entries = Entries::of(engine, header, false);
    let mut events = engine.events(&header.id, At::Index(index)).peekable();
    if let Some(Ok(first)) = events.peek() {
        entries.after(&open_calls(engine, &header.id, first.seq));
    }
    let mut found = Vec::new();
    for stored in events {
        let stored: LogEntry = stored?;
        if stored.event.class.is_conversation() {
            found.push(entries.entry(&stored));
        }
        if stored.counts.index >= end {
            break;
        }
    }
    Ok(found)
}
