//! Reads the messages of a conversation's session for users.

use std::collections::HashMap;

use forklore_core::describe::Describer;
use forklore_core::typed::{Typed, typed};
use forklore_core::{Content, Header, Message, Part, Role};
use forklore_engine::{Engine, Record, ReplayRange};
use forklore_store::port::At;

use super::Conversation;
use crate::Result;

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

/// A question of the user: the message with which a turn starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The number of the turn, from 1.
    pub turn: u64,
    /// The number of the message, from 0.
    pub message: u64,
    /// What the user typed.
    pub text: String,
    /// The names of the files that were sent with the question.
    pub files: Vec<String>,
}

/// The last turn of a session: what was asked, and what was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// What the user typed.
    pub question: String,
    /// The last answer of the turn, in Markdown. Empty if there is none yet.
    pub answer: String,
    /// The number of messages between the question and the answer, such as tool calls.
    pub between: u64,
}

impl Conversation {
    /// Returns the messages of the session, with the numbers that the selectors `message:N` and
    /// `turn:N` use.
    ///
    /// # Errors
    /// `invalid_args` before the first turn, or the errors of the store.
    pub async fn messages(&self) -> Result<Vec<NumberedMessage>> {
        self.messages_from(0).await
    }

    /// Returns the messages of the session from the one with this number on.
    ///
    /// # Errors
    /// The errors of [`messages`](Self::messages).
    pub async fn messages_from(&self, first: u64) -> Result<Vec<NumberedMessage>> {
        let Header { id, workspace, counts, .. } = self.header().await?;
        let read = move |engine: &Engine| {
            let mut describer = Describer::in_folder(workspace.as_str());
            let mut begins = HashMap::new();
            let at = if first == 0 { At::Seq(0) } else { At::Index(first) };
            for stored in engine.events(&id, at) {
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
            let records = engine.replay_part(&id, &(first..counts.index))?;
            records.map(|record| record.map(&mut numbered)).collect()
        };
        self.host().run(read).await
    }

    /// Returns the questions of the session, oldest first.
    ///
    /// # Errors
    /// `invalid_args` before the first turn, or the errors of the store.
    pub async fn questions(&self) -> Result<Vec<Question>> {
        let id = self.header().await?.id;
        let read = move |engine: &Engine| {
            let mut questions = Vec::new();
            for stored in engine.events(&id, At::Seq(0)) {
                let stored = stored?;
                if stored.event.effect.starts_turn {
                    let message = engine.message(&stored.event);
                    questions.push(Question {
                        turn: stored.counts.turns,
                        message: stored.counts.index.saturating_sub(1),
                        files: files(&message),
                        text: typed_text(&message),
                    });
                }
            }
            Ok(questions)
        };
        self.host().run(read).await
    }

    /// Returns the last turn of the session. Returns `None` if the session has no turn.
    ///
    /// # Errors
    /// `invalid_args` before the first turn, or the errors of the store.
    pub async fn last_exchange(&self) -> Result<Option<Exchange>> {
        let Header { id, counts, .. } = self.header().await?;
        if counts.turns == 0 {
            return Ok(None);
        }
        let read = move |engine: &Engine| {
            let range = ReplayRange { last: Some(1), ..ReplayRange::default() };
            let mut records = engine.replay_range(&id, &range)?;
            let Some(first) = records.next().transpose()? else { return Ok(None) };
            let question = typed_text(&Message { role: first.role, content: first.content });
            let mut exchange = Exchange { question, answer: String::new(), between: 0 };
            let mut last = first.index;
            for record in records {
                let record = record?;
                last = record.index;
                let message = Message { role: record.role, content: record.content };
                let text = message.plain_text();
                if message.role == Role::Assistant && !text.trim().is_empty() {
                    exchange.answer = text;
                    exchange.between = record.index.saturating_sub(first.index + 1);
                }
            }
            if exchange.answer.is_empty() {
                exchange.between = last.saturating_sub(first.index);
            }
            Ok(Some(exchange))
        };
        self.host().run(read).await
    }
}

/// Returns what the user typed in a message, or its whole text if an agent wrote all of it.
fn typed_text(message: &Message) -> String {
    match typed(message) {
        Some(Typed::Text(text) | Typed::Command(text)) => text,
        None => message.plain_text(),
    }
}

fn files(message: &Message) -> Vec<String> {
    let Content::Parts(parts) = &message.content else { return Vec::new() };
    let name = |part: &Part| match part {
        Part::Attachment { name, media_type, .. } => {
            Some(name.clone().unwrap_or_else(|| media_type.clone()))
        }
        _ => None,
    };
    parts.iter().filter_map(name).collect()
}
