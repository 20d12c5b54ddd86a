//! The open spans of one session.

use std::collections::HashMap;
use std::time::SystemTime;

use forklore_agent::notify::{Name, Notification};
use forklore_core::SessionId;
use opentelemetry::KeyValue;
use opentelemetry::trace::{Span as _, SpanContext, Status};
use opentelemetry_sdk::trace::Span;
use serde_json::Value;

use super::attributes::Attributes;

/// What is open of a session, and where it came from.
#[derive(Default)]
pub(super) struct Session {
    pub(super) turn: Option<Span>,
    pub(super) chat: Option<Span>,
    /// By the ids of their calls.
    pub(super) tools: HashMap<String, Span>,
    /// What its first turn belongs to.
    pub(super) origin: Option<Origin>,
    pub(super) agent: Option<String>,
    pub(super) is_compaction: bool,
    pub(super) last: Option<SpanContext>,
}

/// What the first turn of a child belongs to.
pub(super) enum Origin {
    /// A branch is a trace of its own, with a link to the turn that it came from.
    Fork(SpanContext),
    /// A sub-agent works inside a call of its parent.
    Call { parent: SessionId, call: Option<String> },
}

impl Session {
    /// The turn that runs, or ran last.
    pub(super) fn context(&self) -> Option<SpanContext> {
        let running = self.turn.as_ref().map(|turn| turn.span_context().clone());
        running.or_else(|| self.last.clone())
    }

    /// The call with this id, else the turn.
    pub(super) fn context_of(&self, call: Option<&str>) -> Option<SpanContext> {
        let call = call.and_then(|call| self.tools.get(call));
        call.map(|call| call.span_context().clone()).or_else(|| self.context())
    }

    /// Takes a notification that begins nothing.
    pub(super) fn take(&mut self, told: &Notification, at: SystemTime, content: bool) {
        match told.name {
            Name::ProviderResponse => self.answered(told, at),
            Name::ProviderRetry | Name::ProviderError => self.unanswered(told, at),
            Name::ToolPost | Name::ToolError => self.tool_done(told, at, content),
            Name::PromptComplete if content => self.say(told),
            Name::OrchestratorComplete => self.turn_done(told, at),
            Name::SessionEnd => self.close(at),
            Name::ContextPostCompact if self.is_compaction => self.close(at),
            Name::ContextPostCompact
            | Name::ApprovalRequired
            | Name::ApprovalGranted
            | Name::ApprovalDenied
            | Name::CancelRequested
            | Name::HookError => {
                if let Some(turn) = &mut self.turn {
                    turn.add_event_with_timestamp(told.name.as_str(), at, of_call(told));
                }
            }
            _ => {}
        }
    }

    /// Ends whatever is open.
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

    fn answered(&mut self, told: &Notification, at: SystemTime) {
        let Some(mut chat) = self.chat.take() else { return };
        let usage = told.data.get("usage");
        let mut attributes = Attributes::default();
        if let Some(id) = told.data.get("request_id").and_then(Value::as_str) {
            attributes.text("gen_ai.response.id", id);
        }
        if let Some(model) = told.data.get("model").and_then(Value::as_str) {
            attributes.text("gen_ai.response.model", model);
        }
        attributes.words("gen_ai.response.finish_reasons", finish_reasons(told));
        for (key, field) in [
            ("gen_ai.usage.input_tokens", "input"),
            ("gen_ai.usage.output_tokens", "output"),
            ("gen_ai.usage.cache_read.input_tokens", "cached"),
            ("gen_ai.usage.cache_creation.input_tokens", "cache_written"),
        ] {
            attributes.number(key, usage.and_then(|usage| usage.get(field)));
        }
        chat.set_attributes(attributes.0);
        chat.end_with_timestamp(at);
    }

    fn unanswered(&mut self, told: &Notification, at: SystemTime) {
        let Some(mut chat) = self.chat.take() else { return };
        failed(&mut chat, "model", told.data.get("error"));
        chat.end_with_timestamp(at);
    }

    fn tool_done(&mut self, told: &Notification, at: SystemTime, content: bool) {
        let call = told.data.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
        // A call that was refused was not begun.
        let Some(mut tool) = self.tools.remove(call) else { return };
        if content && let Some(result) = told.data.get("result") {
            let mut attributes = Attributes::default();
            attributes.text("gen_ai.tool.call.result", &result.to_string());
            tool.set_attributes(attributes.0);
        }
        if told.name == Name::ToolError {
            // What a tool says of its failure is content.
            failed(&mut tool, "tool", told.data.get("result").filter(|_| content));
        }
        tool.end_with_timestamp(at);
    }

    fn say(&mut self, told: &Notification) {
        let response = told.data.get("response").and_then(Value::as_str);
        if let (Some(turn), Some(response)) = (&mut self.turn, response) {
            let mut attributes = Attributes::default();
            attributes.message("gen_ai.output.messages", "assistant", response);
            turn.set_attributes(attributes.0);
        }
    }

    fn turn_done(&mut self, told: &Notification, at: SystemTime) {
        if let Some(turn) = &mut self.turn {
            let usage = told.data.get("usage");
            let mut attributes = Attributes::default();
            for (key, field) in [
                ("gen_ai.usage.input_tokens", "input"),
                ("gen_ai.usage.output_tokens", "output"),
                ("gen_ai.usage.cache_read.input_tokens", "cached"),
                ("forklore.usage.cost", "cost"),
            ] {
                attributes.number(key, usage.and_then(|usage| usage.get(field)));
            }
            let status = told.data.get("status").and_then(Value::as_str).unwrap_or_default();
            attributes.text("forklore.turn.status", status);
            turn.set_attributes(attributes.0);
            if status == "incomplete" {
                failed(turn, "incomplete", told.data.get("error"));
            }
        }
        self.close(at);
    }
}

fn failed(span: &mut Span, kind: &'static str, error: Option<&Value>) {
    let mut attributes = Attributes::default();
    attributes.text("error.type", kind);
    span.set_attributes(attributes.0);
    let text = error.map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned));
    span.set_status(Status::error(text.unwrap_or_default()));
}

fn finish_reasons(told: &Notification) -> Vec<String> {
    let reason = told.data.get("stop_reason");
    let text = |reason: &Value| reason.as_str().map_or_else(|| reason.to_string(), str::to_owned);
    reason.map(text).into_iter().collect()
}

fn of_call(told: &Notification) -> Vec<KeyValue> {
    let call = told.data.get("tool_call_id").or_else(|| told.data.get("call")?.get("id"));
    let mut attributes = Attributes::default();
    if let Some(call) = call.and_then(Value::as_str) {
        attributes.text("gen_ai.tool.call.id", call);
    }
    attributes.0
}
