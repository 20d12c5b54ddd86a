//! The open spans of one session.

use std::collections::HashMap;
use std::time::SystemTime;

use forklore_agent::notify::event::{
    EndReason, ProviderAnswer, ProviderFailure, ProviderRetry, ToolResult, TurnEnded, TurnResult,
    TurnStatus,
};
use forklore_agent::notify::{KernelEvent, Notification};
use forklore_core::SessionId;
use opentelemetry::trace::{Span as _, SpanContext, Status};
use opentelemetry_sdk::trace::Span;
use serde_json::Value;

use super::attributes::Attributes;

/// The open spans of one session, and how the span of its first turn is connected to the parent
/// session.
#[derive(Default)]
pub(super) struct Session {
    pub(super) turn: Option<Span>,
    pub(super) chat: Option<Span>,
    /// The open spans of tool calls, by the id of the tool call.
    pub(super) tools: HashMap<String, Span>,
    /// How the first turn's span is connected to the parent session: as a child span, or by a link.
    /// `None` for a root, and after the first turn has begun.
    pub(super) origin: Option<Origin>,
    pub(super) agent: Option<String>,
    pub(super) is_compaction: bool,
    pub(super) last: Option<SpanContext>,
}

/// How the span of a child session's first turn is connected to the parent session.
pub(super) enum Origin {
    /// For a branch: the span of the parent session's turn at the time of the fork. The branch's
    /// first turn starts a trace of its own and links to this span.
    Fork(SpanContext),
    /// For a sub-agent: the parent session and the id of the tool call that started the sub-agent.
    /// The span of the sub-agent's first turn is a child of the tool call's span.
    Call { parent: SessionId, call: Option<String> },
}

impl Session {
    /// Returns the span context of the session's running turn or, if none is running, of its last
    /// turn.
    pub(super) fn context(&self) -> Option<SpanContext> {
        let running = self.turn.as_ref().map(|turn| turn.span_context().clone());
        running.or_else(|| self.last.clone())
    }

    /// Returns the span context of the tool call with this id, if its span is open. Otherwise
    /// returns the result of [`context`](Self::context).
    pub(super) fn context_of(&self, call: Option<&str>) -> Option<SpanContext> {
        let call = call.and_then(|call| self.tools.get(call));
        call.map(|call| call.span_context().clone()).or_else(|| self.context())
    }

    /// Ends or changes the session's spans according to a notification. If `content` is set,
    /// records the text of answers and tool results in the spans.
    pub(super) fn take(&mut self, notification: &Notification, at: SystemTime, content: bool) {
        match &notification.event {
            KernelEvent::ProviderResponse(answer) => self.answered(answer, at),
            KernelEvent::ProviderRetry(ProviderRetry { error, .. })
            | KernelEvent::ProviderError(ProviderFailure { error, .. }) => {
                self.unanswered(error, at);
            }
            KernelEvent::ToolPost(result) => self.tool_done(result, false, at, content),
            KernelEvent::ToolError(result) => self.tool_done(result, true, at, content),
            KernelEvent::PromptComplete(answered) if content => self.say(&answered.response),
            KernelEvent::OrchestratorComplete(ended) => self.turn_done(ended, at),
            KernelEvent::SessionEnd(_) => self.close(at),
            KernelEvent::ContextPostCompact(_) if self.is_compaction => self.close(at),
            KernelEvent::ContextPostCompact(_)
            | KernelEvent::CancelRequested(_)
            | KernelEvent::HookError(_)
            | KernelEvent::Application(_) => self.note(notification, at, None),
            KernelEvent::ApprovalRequired(requested) => {
                self.note(notification, at, requested.call.as_ref().map(|call| call.id.as_str()));
            }
            KernelEvent::ApprovalGranted(answered) | KernelEvent::ApprovalDenied(answered) => {
                self.note(notification, at, answered.tool_call_id.as_deref());
            }
            _ => {}
        }
    }

    /// Adds a span event to the span of the current turn. The span event has the name of the
    /// notification. `call` is the id of the tool call that the notification concerns, if any.
    fn note(&mut self, notification: &Notification, at: SystemTime, call: Option<&str>) {
        if let Some(turn) = &mut self.turn {
            let mut attributes = Attributes::default();
            if let Some(call) = call {
                attributes.text("gen_ai.tool.call.id", call);
            }
            turn.add_event_with_timestamp(notification.name().to_owned(), at, attributes.0);
        }
    }

    /// Ends all open spans of the session at the time `at`.
    pub(super) fn close(&mut self, at: SystemTime) {
        self.end_chat(at);
        for (_, mut tool) in self.tools.drain() {
            tool.end_with_timestamp(at);
        }
        if let Some(mut turn) = self.turn.take() {
            self.last = Some(turn.span_context().clone());
            turn.end_with_timestamp(at);
        }
        self.is_compaction = false;
    }

    pub(super) fn end_chat(&mut self, at: SystemTime) {
        if let Some(mut chat) = self.chat.take() {
            chat.end_with_timestamp(at);
        }
    }

    fn answered(&mut self, answer: &ProviderAnswer, at: SystemTime) {
        let Some(mut chat) = self.chat.take() else { return };
        let usage = &answer.usage;
        let mut attributes = Attributes::default();
        if let Some(id) = &answer.request_id {
            attributes.text("gen_ai.response.id", id);
        }
        attributes.text("gen_ai.response.model", &answer.model);
        let reason = vec![finish_reason(&answer.stop_reason)];
        attributes.words("gen_ai.response.finish_reasons", reason);
        for (key, count) in [
            ("gen_ai.usage.input_tokens", usage.input),
            ("gen_ai.usage.output_tokens", usage.output),
            ("gen_ai.usage.cache_read.input_tokens", usage.cached),
            ("gen_ai.usage.cache_creation.input_tokens", usage.cache_written),
        ] {
            attributes.count(key, count);
        }
        chat.set_attributes(attributes.0);
        chat.end_with_timestamp(at);
    }

    fn unanswered(&mut self, error: &str, at: SystemTime) {
        let Some(mut chat) = self.chat.take() else { return };
        failed(&mut chat, "model", error);
        chat.end_with_timestamp(at);
    }

    fn tool_done(&mut self, done: &ToolResult, is_error: bool, at: SystemTime, content: bool) {
        // A call that was refused before it began has no span.
        let Some(mut tool) = self.tools.remove(&done.tool_call_id) else { return };
        if content {
            let mut attributes = Attributes::default();
            attributes.text("gen_ai.tool.call.result", &done.result.to_string());
            tool.set_attributes(attributes.0);
        }
        if is_error {
            // A tool's error message counts as content, so it is recorded only if `content` is set.
            let error = if content { as_text(&done.result) } else { String::new() };
            failed(&mut tool, "tool", &error);
        }
        tool.end_with_timestamp(at);
    }

    fn say(&mut self, response: &str) {
        if let Some(turn) = &mut self.turn {
            let mut attributes = Attributes::default();
            attributes.message("gen_ai.output.messages", "assistant", response);
            turn.set_attributes(attributes.0);
        }
    }

    fn turn_done(&mut self, ended: &TurnEnded, at: SystemTime) {
        if let Some(turn) = &mut self.turn {
            let mut attributes = Attributes::default();
            if let TurnResult::Ran { usage, .. } = &ended.result {
                for (key, count) in [
                    ("gen_ai.usage.input_tokens", usage.input),
                    ("gen_ai.usage.output_tokens", usage.output),
                    ("gen_ai.usage.cache_read.input_tokens", usage.cached),
                ] {
                    attributes.count(key, Some(count));
                }
                attributes.amount("forklore.usage.cost", usage.cost);
            }
            attributes.text("forklore.turn.status", ended.status.as_str());
            turn.set_attributes(attributes.0);
            if ended.status == TurnStatus::Incomplete {
                let error = match &ended.result {
                    TurnResult::Failed { error } => error.as_str(),
                    TurnResult::Ran { .. } => "",
                };
                failed(turn, "incomplete", error);
            }
        }
        self.close(at);
    }
}

fn failed(span: &mut Span, kind: &'static str, error: &str) {
    let mut attributes = Attributes::default();
    attributes.text("error.type", kind);
    span.set_attributes(attributes.0);
    span.set_status(Status::error(error.to_owned()));
}

fn finish_reason(reason: &EndReason) -> String {
    as_text(&serde_json::to_value(reason).unwrap_or_default())
}

/// Returns the text of a JSON string without quotes. Returns any other value as JSON.
fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
