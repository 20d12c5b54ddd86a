//! Receives an answer of a model: announces its pieces and assembles its blocks.

use std::time::Duration;

use forklore_core::{Data, EventType};
use forklore_engine::NewEvent;
use futures_util::StreamExt;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::new_event::{event, verbatim};
use super::readable_json::plain;
use super::truncate::boundary;
use crate::Result;
use crate::answer_limits::{BLOCKS, Measure, TooMuch};
use crate::context::Context;
use crate::model::{
    AnswerStream, End, ModelError, ModelErrorKind, ModelName, ModelResult, StreamEvent, TokenUsage,
};
use crate::notify::KernelEvent;
use crate::notify::event::{self as announced, BlockEnded, BlockKind, BlockPiece, BlockStarted};
use crate::tool::ToolCall;

/// An answer of a model, with the pieces that have arrived so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    blocks: Vec<Block>,
    /// The text of a reasoning block that is not complete yet.
    thinking: String,
    /// If true, listeners are not told of the pieces of the answer.
    unannounced: bool,
    measure: Measure,
    /// The usage so far and the request's id, if the provider sent them before the end of the
    /// answer; otherwise `None`.
    pub(super) so_far: Option<(TokenUsage, Option<String>)>,
    /// The end of the answer; `None` until the answer is complete.
    pub(super) end: Option<End>,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Thought { text: String, opaque: Option<Data> },
    Call(ToolCall),
}

impl Answer {
    /// Returns an empty answer whose pieces will not be announced.
    pub(super) fn unannounced() -> Self {
        Self { unannounced: true, ..Self::default() }
    }

    /// Reads pieces from the stream until the answer is complete or the turn is interrupted.
    /// Returns `Ok` in both cases.
    pub(super) async fn listen(
        &mut self,
        context: &Context,
        mut pieces: AnswerStream<'_>,
        patience: Option<Duration>,
        cancel: &CancellationToken,
        provider: &str,
    ) -> ModelResult<()> {
        let failed = |kind, message: &str| ModelError {
            provider: provider.to_owned(),
            message: message.to_owned(),
            kind,
            status: None,
            source: None,
        };
        let beyond = |too_much: TooMuch| ModelError {
            source: Some(Box::new(too_much)),
            ..failed(ModelErrorKind::Malformed, &too_much.to_string())
        };
        loop {
            let next = async {
                match patience {
                    Some(patience) => tokio::time::timeout(patience, pieces.next()).await,
                    None => Ok(pieces.next().await),
                }
            };
            let piece = tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(()),
                piece = next => piece,
            };
            match piece {
                Ok(Some(Ok(StreamEvent::End(end)))) => {
                    self.end_thinking().map_err(beyond)?;
                    self.end = Some(end);
                    return Ok(());
                }
                Ok(Some(Ok(piece))) => self.take(context, piece).map_err(beyond)?,
                Ok(Some(Err(error))) => return Err(error),
                Ok(None) => {
                    let message = "the answer broke off before it was whole";
                    return Err(failed(ModelErrorKind::Malformed, message));
                }
                Err(_) => {
                    let message = "nothing more of the answer came in time";
                    return Err(failed(ModelErrorKind::TimedOut, message));
                }
            }
        }
    }

    /// Processes a piece of the answer. If a piece of text makes the answer exceed its limit for
    /// text, stores the part of the piece that still fits, and then returns the error.
    fn take(&mut self, context: &Context, mut piece: StreamEvent) -> Result<(), TooMuch> {
        let measured = self.measure.take(&piece);
        if let Err((too_much, fitting)) = measured {
            let StreamEvent::Text(text) = &mut piece else { return Err(too_much) };
            text.truncate(boundary(text, fitting));
        }
        match piece {
            StreamEvent::Text(text) => self.add_text(context, &text)?,
            StreamEvent::Thinking(text) => {
                if self.thinking.is_empty() {
                    self.announce_start(context, BlockKind::Thinking);
                }
                self.announce_piece(context, BlockKind::Thinking, &text);
                self.thinking.push_str(&text);
            }
            StreamEvent::Thought { text, opaque } => {
                self.thinking.clear();
                // The provider would reject opaque data that differs from the data it sent.
                // Therefore drop data that the log could not store unchanged.
                let opaque = opaque.filter(|opaque| opaque.read::<Value>().is_ok());
                self.add(Block::Thought { text, opaque })?;
            }
            StreamEvent::Call(call) => {
                self.end_thinking()?;
                self.add_call(context, call)?;
                self.announce_start(context, BlockKind::ToolCall);
            }
            StreamEvent::Usage { usage, request_id } => self.so_far = Some((usage, request_id)),
            StreamEvent::End(_) => {}
        }
        measured.map_err(|(too_much, _)| too_much)
    }

    fn add(&mut self, block: Block) -> Result<(), TooMuch> {
        if self.blocks.len() == BLOCKS {
            return Err(TooMuch::Blocks);
        }
        self.blocks.push(block);
        Ok(())
    }

    fn add_text(&mut self, context: &Context, text: &str) -> Result<(), TooMuch> {
        self.end_thinking()?;
        if !matches!(self.blocks.last(), Some(Block::Text(_))) {
            self.add(Block::Text(String::new()))?;
            self.announce_start(context, BlockKind::Text);
        }
        self.announce_piece(context, BlockKind::Text, text);
        if let Some(Block::Text(so_far)) = self.blocks.last_mut() {
            so_far.push_str(text);
        }
        Ok(())
    }

    /// Adds a tool call to the answer. Assigns a new id if the call's id is empty or equals that of
    /// an earlier call of the answer.
    fn add_call(&mut self, context: &Context, mut call: ToolCall) -> Result<(), TooMuch> {
        if call.id.is_empty() {
            call.id = format!("call_{}", context.kernel.engine().new_id());
        }
        let given = call.id.clone();
        let mut number = 1;
        while self.calls().any(|other| other.id == call.id) {
            number += 1;
            call.id = format!("{given}-{number}");
        }
        call.arguments = plain(call.arguments);
        self.add(Block::Call(call))
    }

    fn end_thinking(&mut self) -> Result<(), TooMuch> {
        if self.thinking.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.thinking);
        self.add(Block::Thought { text, opaque: None })
    }

    /// Checks whether the answer has text, apart from reasoning. Listeners may have received this
    /// text already.
    pub(super) fn has_text(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Text(text) if !text.is_empty()))
    }

    /// Returns the index of the block that the model writes at present. Reasoning is added to the
    /// blocks only when it is complete. Until then, its index is that of the next block.
    fn current_index(&self, block_type: BlockKind) -> usize {
        match block_type {
            BlockKind::Thinking => self.blocks.len(),
            BlockKind::Text | BlockKind::ToolCall => self.blocks.len().saturating_sub(1),
        }
    }

    fn announce_start(&self, context: &Context, block_type: BlockKind) {
        if !self.unannounced {
            let block_index = self.current_index(block_type);
            let started = BlockStarted { block_type, block_index };
            context.announce(KernelEvent::ContentBlockStart(started));
        }
    }

    fn announce_piece(&self, context: &Context, block_type: BlockKind, text: &str) {
        if !self.unannounced && context.has_listeners() {
            let block_index = self.current_index(block_type);
            let piece = BlockPiece { block_type, block_index, delta: text.to_owned() };
            context.announce(match block_type {
                BlockKind::Thinking => KernelEvent::ThinkingDelta(piece),
                BlockKind::Text | BlockKind::ToolCall => KernelEvent::ContentBlockDelta(piece),
            });
        }
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the answer's text without reasoning. Line feeds separate its text blocks.
    pub(super) fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the events of a complete answer, in the order of its blocks. If the answer is not
    /// complete, returns one event with the text that arrived, marked as partial, or no event if no
    /// text arrived.
    pub(super) fn events(&self, model: &ModelName) -> Result<Vec<NewEvent>> {
        if self.end.is_none() {
            let text = self.text();
            if text.is_empty() {
                return Ok(Vec::new());
            }
            let data = json!({"content": text, "partial": true});
            return Ok(vec![event(EventType::ASSISTANT_MESSAGE, data)?]);
        }
        let blocks = self.blocks.iter().filter(|block| !block.is_empty());
        blocks.map(|block| block.event(model)).collect()
    }

    /// Announces the end of each block of the answer or, if the answer broke off, of its text
    /// blocks only. Call this after the blocks are stored.
    pub(super) fn announce_blocks(&self, context: &Context) {
        if !context.has_listeners() {
            return;
        }
        let partial = self.end.is_none();
        for (block_index, block) in self.blocks.iter().enumerate() {
            let (block_type, block) = match block {
                Block::Text(text) => {
                    (BlockKind::Text, announced::Block::Text { text: text.clone() })
                }
                // Of an incomplete answer, only the text is stored.
                Block::Call(_) | Block::Thought { .. } if partial => continue,
                Block::Call(call) => (BlockKind::ToolCall, announced::Block::Call(call.to_event())),
                Block::Thought { text, .. } => {
                    let thought = announced::Thought { block_index, thinking: text.clone() };
                    context.announce(KernelEvent::ThinkingFinal(thought));
                    continue;
                }
            };
            let total_blocks = self.blocks.len();
            let ended = BlockEnded { block_type, block_index, total_blocks, block, partial };
            context.announce(KernelEvent::ContentBlockEnd(ended));
        }
    }
}

/// The payload of a `reasoning` event.
#[derive(Serialize)]
struct Thought<'a> {
    content: &'a str,
    provider: &'a str,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    opaque: Option<&'a Data>,
}

impl Block {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Thought { text, opaque } => text.is_empty() && opaque.is_none(),
            Self::Call(_) => false,
        }
    }

    fn event(&self, model: &ModelName) -> Result<NewEvent> {
        match self {
            Self::Text(text) => event(EventType::ASSISTANT_MESSAGE, json!({"content": text})),
            Self::Thought { text, opaque } => {
                let (provider, model, opaque) = (&model.provider, &model.model, opaque.as_ref());
                let thought = Thought { content: text, provider, model, opaque };
                verbatim(EventType::REASONING, &thought)
            }
            Self::Call(call) => verbatim(EventType::TOOL_CALL, call),
        }
    }
}
