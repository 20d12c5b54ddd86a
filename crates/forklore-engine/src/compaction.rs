//! Plans where to compact a history: a summary replaces its beginning, and its end stays unchanged.

use forklore_core::summary::Summary;
use forklore_core::{Message, Role, SessionId};
use forklore_store::port::At;

use crate::summary::Of;
use crate::{Engine, Result};

/// The denominator of a fraction: a compaction tries to leave at most 1/4 of the conversation's
/// bytes uncompacted.
const RETAINED_FRACTION: u64 = 4;

/// The range of a history that a compaction would cover (replace), and a summary of that range.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactionPlan {
    /// The conversation index (the position among the conversation events, from 0) of the first
    /// message that the compaction covers. System messages at the beginning of the history are not
    /// covered.
    pub from_index: u64,
    /// The end, exclusive, of the range of conversation indexes that the compaction covers.
    pub to_index: u64,
    /// The messages that the compaction would replace, as the model receives them now. If they
    /// include messages that an earlier compaction replaced, the summary of that compaction appears
    /// instead.
    pub messages: Vec<Message>,
    /// The summary of the covered messages, computed deterministically without a model.
    pub summary: Summary,
}

/// A position in a session's history at which a compaction may end, because no tool call is open
/// there.
struct Position {
    index: u64,
    seq: u64,
    inheritable: u64,
    bytes: u64,
    before_turn: bool,
}

impl Engine {
    /// Plans a compaction: chooses the range of messages that a summary should replace. If
    /// possible, the messages after the range have at most a quarter of the bytes of all messages
    /// that no earlier compaction covers. The range ends before the first message of a turn if
    /// possible, and never separates a tool call from its result. Returns `None` if there is
    /// nothing to cover.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing.
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
