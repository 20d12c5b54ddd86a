//! What a turn tells of itself, as people see it.

use forklore_agent::notify::{Heard, Name, Notification};
use forklore_sanitize::terminal;
use serde_json::Value;

use super::{Screen, Tone};

/// Lines of a tool's result that are shown.
const RESULT_LINES: usize = 4;

impl Screen {
    /// Shows a notification, or that some were missed.
    pub(crate) fn heard(&mut self, heard: &Heard) {
        match heard {
            Heard::Told(told) => self.told(told),
            Heard::Missed(missed) if missed.ephemeral > 0 => {
                self.line(Tone::Dim, "... (shown too late; /replay has it whole)");
            }
            Heard::Missed(_) => {}
        }
    }

    /// Shows a notification, if it is one to be seen.
    pub fn told(&mut self, told: &Notification) {
        show(self, told);
    }

    /// Shows a call of a tool.
    pub(crate) fn call(&mut self, name: &str, arguments: &str) {
        show_call(self, name, arguments);
    }
}

fn show(screen: &mut Screen, told: &Notification) {
    let text = |key: &str| told.data.get(key).and_then(Value::as_str).unwrap_or_default();
    match told.name {
        Name::ContentBlockDelta => screen.answer(text("delta")),
        Name::ThinkingDelta => screen.thought(text("delta")),
        Name::ContentBlockEnd | Name::ThinkingFinal => screen.end_answer(),
        Name::ToolPre => {
            let arguments = told.data.get("tool_input").map(Value::to_string).unwrap_or_default();
            show_call(screen, text("tool_name"), &arguments);
            screen.wait_part(Some(&format!("{} runs", text("tool_name"))));
        }
        Name::ProviderRequest => screen.wait_part(None),
        Name::ToolPost | Name::ToolError => {
            let result = told.data.get("result").unwrap_or(&Value::Null);
            show_result(screen, result, told.name == Name::ToolError);
        }
        Name::ProviderRetry => {
            let pause = told.data.get("pause_ms").and_then(Value::as_u64).unwrap_or(0);
            let line = format!("{}; asked again in {pause} ms", text("error"));
            screen.line(Tone::Warn, &line);
        }
        Name::HookError => {
            let line = format!("the hook {} failed: {}", text("hook"), text("error"));
            screen.line(Tone::Warn, &line);
        }
        Name::ContextPreCompact => screen.wait_part(Some("compacting the history")),
        Name::ContextPostCompact => {
            let tokens = |key: &str| told.data.get(key).and_then(Value::as_u64).unwrap_or(0);
            let (before, after) = (tokens("tokens_before"), tokens("tokens_after"));
            let how = format!(" from {before} to about {after} tokens; /inspect shows it");
            screen.words(&[(Tone::Good, "Compacted"), (Tone::Dim, &how)]);
            screen.wait_part(None);
        }
        Name::CancelRequested => screen.line(Tone::Dim, "interrupting ..."),
        _ => {}
    }
}

fn show_call(screen: &mut Screen, name: &str, arguments: &str) {
    let room = screen.width().saturating_sub(name.len() + 3).max(20);
    let shown = terminal::cell(arguments, room);
    screen.words(&[(Tone::Tool, "→ "), (Tone::Tool, name), (Tone::Dim, &format!(" {shown}"))]);
}

fn show_result(screen: &mut Screen, result: &Value, failed: bool) {
    let text = readable(result);
    let tone = if failed { Tone::Bad } else { Tone::Dim };
    screen.excerpt(tone, &text, "  ", RESULT_LINES);
}

/// A result as text, where it is one or a list of texts; else the JSON.
fn readable(result: &Value) -> String {
    let part = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    match result {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .map(|value| part(value).unwrap_or_else(|| value.to_string()))
            .collect::<Vec<_>>()
            .join("\n"),
        other => other.to_string(),
    }
}
