//! Parser of the events of Anthropic's messages API.

use std::borrow::Cow;

use forklore_agent::answer_limits::{THINKING_BYTES, TooMuch};
use forklore_agent::model::{End, EndReason, StreamEvent, TokenUsage};
use forklore_core::Data;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::ResponseError;
use super::pending_call::{PendingCall, append_bounded, check_call_count};

/// The state of a response from Anthropic that is being read.
#[derive(Default)]
pub(crate) struct Reader {
    id: Option<String>,
    block: Option<Block>,
    /// The tool calls whose blocks have ended. Only the end of the response shows whether the last
    /// call was truncated.
    calls: Vec<PendingCall>,
    /// The total size of the arguments of all calls, in bytes.
    argument_bytes: usize,
    reason: Option<String>,
    usage: Usage,
    is_over: bool,
}

/// The content block that the server is sending at the moment.
enum Block {
    Text,
    Thinking { text: String, signature: String },
    Redacted(Data),
    Call(PendingCall),
    Other,
}

/// An event of any type. The parser ignores events of unknown types.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default, borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(default, borrow)]
    delta: Option<&'a RawValue>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default, borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Ended {
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
}

/// A thinking block of Anthropic, in the form in which later requests must contain it.
#[derive(Serialize)]
struct Thinking<'a> {
    r#type: &'static str,
    thinking: &'a str,
    signature: &'a str,
}

impl Reader {
    pub(super) fn read(
        &mut self,
        event: &str,
        pieces: &mut Vec<StreamEvent>,
    ) -> Result<bool, ResponseError> {
        let event: Event<'_> = serde_json::from_str(event)?;
        match &*event.kind {
            "message_start" => {
                if let Some(message) = event.message {
                    self.id = message.id;
                    self.usage = message.usage.unwrap_or_default();
                    self.report_usage(pieces);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.start(block, pieces)?;
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.add(serde_json::from_str(delta.get())?, pieces)?;
                }
            }
            "content_block_stop" => self.stop(pieces)?,
            "message_delta" => {
                let ended: Option<Ended> =
                    event.delta.map(|delta| serde_json::from_str(delta.get())).transpose()?;
                self.reason = ended.and_then(|it| it.stop_reason).or(self.reason.take());
                self.usage.update(event.usage.unwrap_or_default());
                self.report_usage(pieces);
                self.end_calls(pieces)?;
            }
            "message_stop" => {
                self.is_over = true;
                return Ok(true);
            }
            "error" => {
                let error = event.error.map_or("no reason given", RawValue::get);
                return Err(ResponseError::Reported(error.to_owned()));
            }
            _ => {}
        }
        Ok(false)
    }

    fn report_usage(&self, pieces: &mut Vec<StreamEvent>) {
        let (usage, request_id) = (self.usage.into(), self.id.clone());
        pieces.push(StreamEvent::Usage { usage, request_id });
    }

    fn start(
        &mut self,
        block: &RawValue,
        pieces: &mut Vec<StreamEvent>,
    ) -> Result<(), ResponseError> {
        let start: Start<'_> = serde_json::from_str(block.get())?;
        self.block = Some(match &*start.kind {
            "text" => {
                pieces.extend(start.text.filter(|text| !text.is_empty()).map(StreamEvent::Text));
                Block::Text
            }
            "thinking" => Block::Thinking {
                text: start.thinking.unwrap_or_default(),
                signature: start.signature.unwrap_or_default(),
            },
            "redacted_thinking" => Block::Redacted(Data::from_checked(block.get())),
            "tool_use" => {
                check_call_count(self.calls.len())?;
                let id = start.id.unwrap_or_default();
                let mut call = PendingCall { id, ..PendingCall::default() };
                call.add_name(&start.name.unwrap_or_default())?;
                let input = start.input.map(RawValue::get);
                if let Some(input) = input.filter(|input| !matches!(*input, "{}" | "null")) {
                    call.add_arguments(input, &mut self.argument_bytes)?;
                }
                Block::Call(call)
            }
            _ => Block::Other,
        });
        Ok(())
    }

    fn add(&mut self, delta: Delta, pieces: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        match (delta, &mut self.block) {
            (Delta::Text { text }, _) => pieces.push(StreamEvent::Text(text)),
            (Delta::Thinking { thinking }, Some(Block::Thinking { text, .. })) => {
                append_bounded(text, &thinking, THINKING_BYTES, TooMuch::Thinking)?;
                pieces.push(StreamEvent::Thinking(thinking));
            }
            (Delta::Signature { signature: more }, Some(Block::Thinking { signature, .. })) => {
                append_bounded(signature, &more, THINKING_BYTES, TooMuch::Thinking)?;
            }
            (Delta::Input { partial_json }, Some(Block::Call(call))) => {
                call.add_arguments(&partial_json, &mut self.argument_bytes)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self, pieces: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        match self.block.take() {
            Some(Block::Thinking { text, signature }) => {
                let block = Thinking { r#type: "thinking", thinking: &text, signature: &signature };
                let opaque = Data::from_checked(serde_json::to_string(&block)?);
                pieces.push(StreamEvent::Thought { text, opaque: Some(opaque) });
            }
            Some(Block::Redacted(block)) => {
                pieces.push(StreamEvent::Thought { text: String::new(), opaque: Some(block) });
            }
            Some(Block::Call(call)) => self.calls.push(call),
            Some(Block::Text | Block::Other) | None => {}
        }
        Ok(())
    }

    fn end_calls(&mut self, pieces: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let is_cut_off = self.reason.as_deref() == Some("max_tokens");
        for call in std::mem::take(&mut self.calls) {
            if !(is_cut_off && call.is_truncated()) {
                pieces.push(StreamEvent::Call(call.finish()?));
            }
        }
        Ok(())
    }

    pub(super) fn end(&mut self) -> Result<End, ResponseError> {
        if !self.is_over {
            return Err(ResponseError::Off);
        }
        let reason = match self.reason.as_deref() {
            Some("end_turn" | "stop_sequence") | None => EndReason::Done,
            Some("tool_use") => EndReason::Calls,
            Some("max_tokens" | "model_context_window_exceeded") => EndReason::Length,
            Some("refusal") => EndReason::Refused,
            Some(other) => EndReason::Other(other.to_owned()),
        };
        Ok(End { reason, usage: self.usage.into(), request_id: self.id.take() })
    }
}

impl Usage {
    /// Updates the token counts with the usage of a later event. Replaces each count that `later`
    /// contains.
    fn update(&mut self, later: Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.cache_read_input_tokens =
            later.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.cache_creation_input_tokens =
            later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
    }
}

impl From<Usage> for TokenUsage {
    /// Adds the cached tokens to the input tokens, because Anthropic's `input_tokens` excludes
    /// tokens that were read from or written to a cache.
    fn from(usage: Usage) -> Self {
        let cached = usage.cache_read_input_tokens;
        let cache_written = usage.cache_creation_input_tokens;
        Self {
            input: usage.input_tokens.map(|input| {
                let cached_tokens = [cached, cache_written].into_iter().flatten();
                cached_tokens.fold(input, u64::saturating_add)
            }),
            output: usage.output_tokens,
            cached,
            cache_written,
        }
    }
}
