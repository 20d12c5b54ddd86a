//! Describes the state of a conversation's session.

use std::collections::HashMap;

use forklore_agent::Gauge;
use forklore_core::describe::Describer;
use forklore_core::{Header, Message, Role};
use forklore_engine::{Engine, Record};
use forklore_store::port::At;

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

/// A message of a session, with the numbers that the selectors `message:N` and `turn:N` use.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedMessage {
    /// The number of the turn that starts with this message, from 1. `None` if no turn starts with
    /// the message.
    pub turn: Option<u64>,
    /// The number of the message, from 0.
    pub message: u64,
    /// The role of the message.
    pub role: Role,
    /// The message in one line: its text, its tool calls and the sizes of results.
    pub text: String,
    /// Whether the message is an answer that was interrupted.
    pub partial: bool,
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

    /// Returns the messages of the session, with the numbers that the selectors `message:N` and
    /// `turn:N` use.
    ///
    /// # Errors
    /// `invalid_args` before the first turn, or the errors of the store.
    pub async fn messages(&self) -> Result<Vec<NumberedMessage>> {
        let Header { id, workspace, .. } = self.header().await?;
        let read = move |engine: &Engine| {
            let mut describer = Describer::in_folder(workspace.as_str());
            let mut begins = HashMap::new();
            for stored in engine.events(&id, At::Seq(0)) {
                let stored = stored?;
                if stored.event.effect.starts_turn {
                    begins.insert(stored.counts.index.saturating_sub(1), stored.counts.turns);
                }
            }
            let mut numbered = |record: Record| NumberedMessage {
                turn: begins.get(&record.index).copied(),
                message: record.index,
                role: record.role,
                partial: record.partial,
                text: describer.message(&Message { role: record.role, content: record.content }),
            };
            engine.replay(&id, None)?.map(|record| record.map(&mut numbered)).collect()
        };
        self.host().run(read).await
    }
}
