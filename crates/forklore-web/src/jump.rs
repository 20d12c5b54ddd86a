//! Finds the event that a reader names in a few characters: a turn, the number of an event, or a part
//! of its id.

use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_store::port::{At, Direction, Query};

use crate::answer::{Answer, Problem};

/// The number of events of one read of the store.
const PAGE: usize = 1_000;
/// The largest number of events whose ids are looked at, the last ones first.
const LOOKED_AT: u64 = 100_000;

/// Returns the address of the event that the text names: `7` is a turn, `#7` an event, and anything
/// else a part of an event's id, also a number beyond the last turn.
pub(crate) fn address(engine: &Engine, session: &SessionId, text: &str) -> Answer<String> {
    let header = engine.show(session)?;
    if text.parse().is_ok_and(|turn: u64| turn <= header.counts.turns) {
        return Ok(format!("/s/{session}?turn={text}"));
    }
    let number = text.strip_prefix('#').and_then(|number| number.parse::<u64>().ok());
    let seq = match number {
        Some(seq) => seq,
        None => with_id(engine, &header, text)?,
    };
    Ok(format!("/s/{session}?at={seq}#e-{seq}"))
}

/// Returns the log position of the last event whose id contains the text.
fn with_id(engine: &Engine, header: &Header, text: &str) -> Answer<u64> {
    let wanted = text.to_lowercase();
    let mut next = u64::try_from(header.head_seq()).ok();
    let last = next.unwrap_or(0).saturating_sub(LOOKED_AT);
    while let Some(at) = next.filter(|at| *at >= last) {
        let at = At::Seq(at);
        let query = Query { at, direction: Direction::Backward, limit: PAGE, bare: true };
        let events = engine.store().read(&header.id, &query)?.events;
        let is_it = |id: &str| id.to_lowercase().contains(&wanted);
        if let Some(found) = events.iter().find(|stored| is_it(stored.event.id.as_str())) {
            return Ok(found.seq);
        }
        next = events.last().and_then(|stored| stored.seq.checked_sub(1));
    }
    Err(Problem::missing(format!(
        "No event of this session has an id with {text:?}. A number up to {} is a turn, and # and a \
         number an event.",
        header.counts.turns
    )))
}
