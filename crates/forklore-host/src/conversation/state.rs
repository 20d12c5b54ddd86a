//! Describes the state of a conversation's session.

use forklore_agent::Gauge;
use forklore_core::Header;
use forklore_engine::Engine;

use super::Conversation;
use crate::Result;

/// A condition of a session that a user should know before the session's next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Another program runs a turn in the session.
    InUse,
    /// The last turn of the session was interrupted.
    TurnInterrupted,
    /// The last answer in the session is incomplete.
    AnswerCutShort,
}

impl Conversation {
    /// Returns a condition that the user should know before the next turn of the session with this
    /// header. Returns `None` if there is no such condition, or if the session cannot be read.
    pub async fn condition(&self, header: &Header) -> Option<Condition> {
        if self.host().kernel().is_leased(header) {
            return Some(Condition::InUse);
        }
        let id = header.id.clone();
        let look = move |engine: &Engine| {
            Ok(if engine.interrupted_turn(&id)?.is_some() {
                Some(Condition::TurnInterrupted)
            } else {
                engine.is_cut_short(&id)?.then_some(Condition::AnswerCutShort)
            })
        };
        // An error is not reported here: reading the session reports it.
        self.host().run(look).await.ok().flatten()
    }

    /// Returns how full the context window of the model is.
    ///
    /// # Errors
    /// `not_found` before the first turn, or the errors of the store.
    pub async fn gauge(&self) -> Result<Gauge> {
        Ok(self.session().gauge().await?)
    }
}
