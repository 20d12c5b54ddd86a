//! Parser of the chunks of Gemini's `streamGenerateContent` method.

use forklore_agent::answer_limits::{THINKING_BYTES, TooMuch};
use forklore_agent::model::{End, EndReason, StreamEvent, TokenUsage};
use forklore_agent::tool::ToolCall;
use forklore_core::Data;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::ResponseError;
use super::pending_call::append_bounded;
use crate::request::gemini::Signature;

/// The state of a response from Gemini that is being read.
#[derive(Default)]
pub(crate) struct Reader {
    id: Option<String>,
    thinking: String,
    calls: usize,
    reason: Option<String>,
    usage: TokenUsage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    #[serde(default)]
    candidates: Option<Vec<Candidate>>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(default)]
    usage_metadata: Option<Usage>,
    #[serde(default)]
    response_id: Option<String>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    #[serde(default)]
    thought_signature: Option<Box<RawValue>>,
    #[serde(default)]
    function_call: Option<Call>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(default)]
    args: Option<Data>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    #[serde(default)]
    prompt_token_count: Option<u64>,
    #[serde(default)]
    candidates_token_count: Option<u64>,
    #[serde(default)]
    thoughts_token_count: Option<u64>,
    #[serde(default)]
    cached_content_token_count: Option<u64>,
}

impl Reader {
    pub(super) fn read(
        &mut self,
        event: &str,
        pieces: &mut Vec<StreamEvent>,
    ) -> Result<(), ResponseError> {
        let chunk: Chunk = serde_json::from_str(event)?;
        if let Some(error) = chunk.error {
            return Err(ResponseError::Reported(error.get().to_owned()));
        }
        self.id = chunk.response_id.or(self.id.take());
        if let Some(usage) = chunk.usage_metadata {
            self.usage = usage.into();
            pieces.push(StreamEvent::Usage { usage: self.usage, request_id: self.id.clone() });
        }
        if let Some(reason) = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason) {
            self.reason = Some(reason);
        }
        let Some(candidate) = chunk.candidates.into_iter().flatten().next() else { return Ok(()) };
        let parts = candidate.content.and_then(|content| content.parts);
        for part in parts.into_iter().flatten() {
            self.add(part, pieces)?;
        }
        self.reason = candidate.finish_reason.or(self.reason.take());
        Ok(())
    }

    fn add(&mut self, part: Part, pieces: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        if part.thought {
            let text = part.text.unwrap_or_default();
            append_bounded(&mut self.thinking, &text, THINKING_BYTES, TooMuch::Thinking)?;
            pieces.push(StreamEvent::Thinking(text));
            return Ok(());
        }
        let text = part.text.filter(|text| !text.is_empty());
        let says = text.is_some() || part.function_call.is_some();
        // The signature is in the part after the thought, and later requests must contain it in
        // that part too.
        if says || part.thought_signature.is_some() {
            self.end_thought(part.thought_signature.as_deref(), pieces)?;
        }
        pieces.extend(text.map(StreamEvent::Text));
        if let Some(call) = part.function_call {
            self.calls += 1;
            let arguments = call.args.unwrap_or_else(|| Data::from_checked("{}"));
            // If the call has no id, the kernel generates one.
            let id = call.id.unwrap_or_default();
            pieces.push(StreamEvent::Call(ToolCall { id, name: call.name, arguments }));
        }
        Ok(())
    }

    fn end_thought(
        &mut self,
        signature: Option<&RawValue>,
        pieces: &mut Vec<StreamEvent>,
    ) -> Result<(), ResponseError> {
        if signature.is_none() && self.thinking.is_empty() {
            return Ok(());
        }
        let opaque = match signature {
            Some(thought_signature) => {
                let signature = serde_json::to_string(&Signature { thought_signature })?;
                Some(Data::from_checked(signature))
            }
            None => None,
        };
        pieces.push(StreamEvent::Thought { text: std::mem::take(&mut self.thinking), opaque });
        Ok(())
    }

    pub(super) fn end(&mut self, pieces: &mut Vec<StreamEvent>) -> Result<End, ResponseError> {
        let reason = self.reason.take().ok_or(ResponseError::Off)?;
        self.end_thought(None, pieces)?;
        let reason = match &*reason {
            "STOP" if self.calls > 0 => EndReason::Calls,
            "STOP" => EndReason::Done,
            "MAX_TOKENS" => EndReason::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "OTHER" => {
                EndReason::Refused
            }
            other => EndReason::Other(other.to_owned()),
        };
        Ok(End { reason, usage: self.usage, request_id: self.id.take() })
    }
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        let (text, thought) = (usage.candidates_token_count, usage.thoughts_token_count);
        let output = text.map_or(thought, |text| Some(text.saturating_add(thought.unwrap_or(0))));
        Self {
            input: usage.prompt_token_count,
            output,
            cached: usage.cached_content_token_count,
            cache_written: None,
        }
    }
}
