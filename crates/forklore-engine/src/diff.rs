//! `diff`: what two histories share, and what each has alone (SPEC 7).

use forklore_model::{Origin, SessionId, diff};
use forklore_store::port::At;
use serde::Serialize;

use crate::{Engine, Record, Result};

/// Two histories side by side, conversation events only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The last event in common; none when they share nothing.
    pub ancestor: Option<Ancestor>,
    /// How many events are in common.
    pub common: u64,
    /// What the first has alone.
    pub only_a: Vec<Record>,
    /// What the second has alone.
    pub only_b: Vec<Record>,
}

/// The last event in common, where it was first written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ancestor {
    /// The session that wrote it.
    pub session_id: SessionId,
    /// Its index, the same in both histories.
    pub index: u64,
    /// Its log position in that session.
    pub seq: u64,
}

impl Engine {
    /// Compares two sessions, of one family or of two (SPEC 7).
    ///
    /// # Errors
    /// `not_found`, `corrupt`, `missing_ancestor`.
    pub fn diff(&self, a: &SessionId, b: &SessionId) -> Result<Difference> {
        let (header_a, header_b) = (self.show(a)?, self.show(b)?);
        let common = diff::common(self.origins(a), self.origins(b))?;
        let rest = |header| self.replay_from(header, common.len, header.counts.index);
        Ok(Difference {
            ancestor: common.last.map(|last| Ancestor {
                session_id: last.session_id,
                index: common.len.saturating_sub(1),
                seq: last.seq,
            }),
            common: common.len,
            only_a: rest(&header_a).collect::<Result<_>>()?,
            only_b: rest(&header_b).collect::<Result<_>>()?,
        })
    }

    /// The identities of a session's conversation events.
    fn origins(&self, session: &SessionId) -> impl Iterator<Item = Result<Origin>> {
        self.bare_events(session, At::Seq(0)).filter_map(|stored| match stored {
            Ok(stored) => stored.event.class.is_conversation().then_some(Ok(stored.origin)),
            Err(error) => Some(Err(error)),
        })
    }
}
