//! The state of a conversation's session.

use std::collections::HashMap;

use forklore_agent::Gauge;
use forklore_core::{Header, Message, Role};
use forklore_engine::{Engine, Record};
use forklore_store::port::At;

use super::Conversation;
use crate::Result;

/// What a user should know about a session before its next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Another program runs a turn in it.
    InUse,
    /// Its last turn was interrupted.
    TurnInterrupted,
    /// Its last answer is incomplete.
    AnswerCutShort,
}

/// A message of a session, with the numbers that selectors use.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedMessage {
    /// The number of the turn that starts with this message, if one does.
    pub turn: Option<u64>,
    /// The number of the message, from 0.
    pub message: u64,
    /// The role of the author.
    pub role: Role,
    /// The text of the message.
    pub text: String,
    /// Whether the answer was interrupted.
    pub partial: bool,
}

impl Conversation {
    /// Returns what the user should know about the session before its next turn.
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
        // Damage is reported when the session is read.
        self.host().run(look).await.ok().flatten()
    }

    /// Returns how full the model's context is.
    ///
    /// # Errors
    /// `invalid_args` before the first turn, or the errors of the store.
    pub async fn gauge(&self) -> Result<Gauge> {
        Ok(self.session().gauge().await?)
    }

    /// Returns the messages of the session, with the numbers that selectors use.
    ///
    /// # Errors
    /// `invalid_args` before the first turn, or the errors of the store.
    pub async fn messages(&self) -> Result<Vec<NumberedMessage>> {
        let id = self.header().await?.id;
        let read = move |engine: &Engine| {
            let mut begins = HashMap::new();
            for stored in engine.events(&id, At::Seq(0)) {
                let stored = stored?;
                if stored.event.effect.starts_turn {
                    begins.insert(stored.counts.index.saturating_sub(1), stored.counts.turns);
                }
            }
            let numbered = |record: Record| NumberedMessage {
                turn: begins.get(&record.index).copied(),
                message: record.index,
                role: record.role,
                partial: record.partial,
                text: Message { role: record.role, content: record.content }.plain_text(),
            };
            engine.replay(&id, None)?.map(|record| record.map(numbered)).collect()
        };
        self.host().run(read).await
    }
}
