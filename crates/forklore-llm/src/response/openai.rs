//! Parser of the chunks of OpenAI's chat completions API.

use forklore_agent::answer_limits::{THINKING_BYTES, TooMuch};
use forklore_agent::model::{End, EndReason, StreamEvent, TokenUsage};
use forklore_core::Data;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::ResponseError;
use super::pending_call::{PendingCall, append_bounded, check_call_count};
use crate::request::openai::{ReasoningField, ReasoningName};

/// The state of a response from an OpenAI-compatible server that is being read.
#[derive(Default)]
pub(crate) struct Reader {
    id: Option<String>,
    thinking: String,
    field: ReasoningName,
    calls: Vec<(Option<u64>, PendingCall)>,
    /// The total size of the arguments of all calls, in bytes.
    argument_bytes: usize,
    reason: Option<String>,
    usage: TokenUsage,
    is_done: bool,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    /// DeepSeek's field for the number of cached tokens.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    cache_write_tokens: Option<u64>,
}

impl Reader {
    pub(super) fn read(
        &mut self,
        event: &str,
        pieces: &mut Vec<StreamEvent>,
    ) -> Result<bool, ResponseError> {
        if event.trim() == "[DONE]" {
            self.is_done = true;
            return Ok(true);
        }
        let chunk: Chunk = serde_json::from_str(event)?;
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return Err(ResponseError::Reported(error.get().to_owned()));
        }
        self.id = self.id.take().or(chunk.id).filter(|id| !id.is_empty());
        if let Some(usage) = chunk.usage {
            self.usage = usage.into();
            pieces.push(StreamEvent::Usage { usage: self.usage, request_id: self.id.clone() });
        }
        // A response has one choice, because the request was for one.
        let Some(choice) = chunk.choices.into_iter().flatten().next() else { return Ok(false) };
        if let Some(delta) = choice.delta {
            self.add(delta, pieces)?;
        }
        self.reason = choice.finish_reason.or(self.reason.take());
        Ok(false)
    }

    fn add(&mut self, delta: Delta, pieces: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let thoughts = [
            (ReasoningName::ReasoningContent, delta.reasoning_content),
            (ReasoningName::Reasoning, delta.reasoning),
        ];
        // Some servers send the same reasoning in both fields, so read only one field.
        let thought = thoughts.into_iter().find_map(|(field, text)| Some((field, text?)));
        if let Some((field, text)) = thought.filter(|(_, text)| !text.is_empty()) {
            self.field = field;
            append_bounded(&mut self.thinking, &text, THINKING_BYTES, TooMuch::Thinking)?;
            pieces.push(StreamEvent::Thinking(text));
        }
        for text in [delta.content, delta.refusal].into_iter().flatten() {
            if !text.is_empty() {
                self.end_thought(pieces)?;
                pieces.push(StreamEvent::Text(text));
            }
        }
        for piece in delta.tool_calls.into_iter().flatten() {
            self.end_thought(pieces)?;
            self.add_call(piece)?;
        }
        Ok(())
    }

    fn add_call(&mut self, piece: CallPiece) -> Result<(), ResponseError> {
        let id = piece.id.filter(|id| !id.is_empty());
        // Most servers number the calls of a response. Without a number, a new id starts a new
        // call.
        let goes_on = match (piece.index, &id) {
            (Some(index), _) => self.calls.iter().position(|(at, _)| *at == Some(index)),
            (None, None) => self.calls.len().checked_sub(1),
            (None, Some(id)) => self.calls.iter().position(|(_, call)| call.id == *id),
        };
        let at = goes_on.unwrap_or(self.calls.len());
        if goes_on.is_none() {
            check_call_count(self.calls.len())?;
            self.calls.push((piece.index, PendingCall::default()));
        }
        let Some((_, call)) = self.calls.get_mut(at) else { return Ok(()) };
        if let Some(id) = id {
            call.id = id;
        }
        let Some(function) = piece.function else { return Ok(()) };
        call.add_name(&function.name.unwrap_or_default())?;
        match function.arguments {
            Some(text) if text.get().starts_with('"') => {
                let text: String = serde_json::from_str(text.get())?;
                call.add_arguments(&text, &mut self.argument_bytes)
            }
            Some(value) if value.get() != "null" => {
                call.add_arguments(value.get(), &mut self.argument_bytes)
            }
            _ => Ok(()),
        }
    }

    fn end_thought(&mut self, pieces: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        if !self.thinking.is_empty() {
            let text = std::mem::take(&mut self.thinking);
            let opaque = serde_json::to_string(&ReasoningField { field: self.field })?;
            pieces.push(StreamEvent::Thought { text, opaque: Some(Data::from_checked(opaque)) });
        }
        Ok(())
    }

    pub(super) fn end(&mut self, pieces: &mut Vec<StreamEvent>) -> Result<End, ResponseError> {
        let reason = self.reason.take();
        if reason.is_none() && !self.is_done {
            return Err(ResponseError::Off);
        }
        self.end_thought(pieces)?;
        let calls = std::mem::take(&mut self.calls);
        let called = !calls.is_empty();
        let reason = match reason.as_deref() {
            Some("length") => EndReason::Length,
            Some("content_filter") => EndReason::Refused,
            Some("tool_calls" | "function_call") => EndReason::Calls,
            Some("stop") | None if called => EndReason::Calls,
            Some("stop") | None => EndReason::Done,
            Some(other) => EndReason::Other(other.to_owned()),
        };
        for (_, call) in calls {
            if reason == EndReason::Length && call.is_truncated() {
                continue;
            }
            pieces.push(StreamEvent::Call(call.finish()?));
        }
        Ok(End { reason, usage: self.usage, request_id: self.id.take() })
    }
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        let details = usage.prompt_tokens_details.as_ref();
        Self {
            input: usage.prompt_tokens,
            output: usage.completion_tokens,
            cached: details
                .and_then(|details| details.cached_tokens)
                .or(usage.prompt_cache_hit_tokens),
            cache_written: details.and_then(|details| details.cache_write_tokens),
        }
    }
}
