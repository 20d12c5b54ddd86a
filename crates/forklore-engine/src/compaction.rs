//! Plans where to compact a history: a summary replaces its beginning, and its end stays unchanged.

use forklore_core::summary::Summary;
use forklore_core::{Message, Role, SessionId};
use forklore_store::port::At;

use crate::summary::Of;
use crate::{Engine, Result};

/// A compaction leaves at most one part in this many of the bytes unchanged: a quarter.
const RETAINED_FRACTION: u64 = 4;

/// The range of a history that a compaction would cover, and the summary to replace it with.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionPlan {
    /// The first covered index, inclusive. System messages at the beginning are not covered.
    pub from_index: u64,
    /// The end of the covered indexes, exclusive.
    pub to_index: u64,
    /// The covered messages in the form that the model receives so far. An earlier compaction's
    /// summary replaces the messages that it covers.
    pub messages: Vec<Message>,
    /// The deterministic summary of the covered messages, made without a model.
    pub summary: Summary,
}

/// A position in the history after which no tool call is open.
struct Position {
    index: u64,
    seq: u64,
    inheritable: u64,
    bytes: u64,
    before_turn: bool,
}

impl Engine {
    /// Plans a compaction of a session. The plan leaves at most a quarter of the uncompacted bytes
    /// if a position allows that. It ends before the first message of a turn if possible, and never
    /// separates a call from its result. Returns `None` if there is nothing to cover.
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub fn plan_compaction(&self, session: &SessionId) -> Result<Option<CompactionPlan>> {
        let header = self.show(session)?;
        let mut positions: Vec<Position> = Vec::new();
        let mut from_index = 0;
        let mut covered_before = 0;
        for stored in self.events(session, At::Seq(0)) {
            let stored = stored?;
            let event = &stored.event;
            if event.kind == forklore_core::EventType::HISTORY_COMPACTION
                && event.dialect.is_none()
                && let Some(range) = crate::view::compacted_range(&event.data)
            {
                covered_before = range.end;
            }
            if !event.class.is_conversation() {
                continue;
            }
            let index = stored.counts.index.saturating_sub(1);
            if index == from_index && self.message(event).role == Role::System {
                from_index = stored.counts.index;
                continue;
            }
            if event.effect.starts_turn
                && let Some(before) = positions.last_mut()
                && before.index == index
            {
                before.before_turn = true;
            }
            if stored.counts.open == 0 {
                let counts = stored.counts;
                positions.push(Position {
                    index: counts.index,
                    seq: stored.seq,
                    inheritable: counts.inheritable,
                    bytes: counts.bytes,
                    before_turn: false,
                });
            }
        }
        let from = from_index.max(covered_before);
        let gone = positions
            .iter()
            .rfind(|location| location.index <= from)
            .map_or(0, |location| location.bytes);
        positions
            .retain(|location| location.index > from + 1 && location.index < header.counts.index);
        let end = header.counts.bytes;
        let budget = end.saturating_sub(gone) / RETAINED_FRACTION;
        let fits = |position: &&Position| end.saturating_sub(position.bytes) <= budget;
        let position = positions.iter().filter(fits).find(|location| location.before_turn);
        let position =
            position.or_else(|| positions.iter().find(fits)).or_else(|| positions.last());
        let Some(position) = position else { return Ok(None) };
        self.plan_up_to(session, from_index, position).map(Some)
    }

    fn plan_up_to(&self, session: &SessionId, from: u64, to: &Position) -> Result<CompactionPlan> {
        let messages = self.inspect_up_to(session, Some(to.seq))?.messages;
        let messages = messages.skip_while(is_system).collect::<Result<_>>()?;
        let of = Of { session_id: session.clone(), from_index: from, to_index: to.index };
        let summary = self.gather(of, to.inheritable)?.summary;
        Ok(CompactionPlan { from_index: from, to_index: to.index, messages, summary })
    }
}

fn is_system(message: &Result<Message>) -> bool {
    message.as_ref().is_ok_and(|message| message.role == Role::System)
}
