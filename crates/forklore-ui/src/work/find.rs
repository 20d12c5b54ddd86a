//! Finds a text in a session, a bounded number of events at a time.

use forklore_engine::reading::readable;
use forklore_engine::{Engine, Result};
use forklore_store::port::Direction;

use super::entry::Entries;
use super::events::{self, PAGE};
use crate::found::Needle;
use crate::request::{Answer, FindAnswer, FindRequest};

/// The maximum number of events that one request reads.
const LOOKED_AT: u64 = 4_096;

pub(super) fn find(engine: &Engine, request: &FindRequest) -> Result<Answer> {
    let header = engine.show(&request.session)?;
    let head = u64::try_from(header.head_seq()).unwrap_or_default();
    let needle = Needle::of(&request.text);
    let mut entries = Entries::of(engine, &header, request.all);
    let direction = if request.backward { Direction::Backward } else { Direction::Forward };
    let mut at = request.from.min(head);
    if request.from > head && !request.backward {
        return Ok(Answer::Find(FindAnswer::Nothing));
    }
    loop {
        let page = readable(engine, &header.id, at, direction, PAGE)?;
        let Some(last) = page.last() else { return Ok(Answer::Find(FindAnswer::Nothing)) };
        let next = if request.backward { last.seq().checked_sub(1) } else { Some(last.seq() + 1) };
        let mut events = page.iter().filter_map(|event| events::entry(event, &mut entries));
        if let Some(entry) = events.find(|entry| needle.is_in(entry)) {
            return Ok(Answer::Find(FindAnswer::Found(entry.seq)));
        }
        let Some(next) = next.filter(|next| *next <= head) else {
            return Ok(Answer::Find(FindAnswer::Nothing));
        };
        if next.abs_diff(request.from) >= LOOKED_AT {
            return Ok(Answer::Find(FindAnswer::Continue(next)));
        }
        at = next;
    }
}
