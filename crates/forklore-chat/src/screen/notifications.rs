//! Shows the notifications of a turn to the user.

use forklore_agent::notify::{KernelEvent, Notification, Received};
use forklore_sanitize::terminal;
use serde_json::Value;

use super::{Screen, Tone};

/// The maximum number of lines shown of a tool's result.
const RESULT_LINES: usize = 4;

impl Screen {
    /// Shows a notification. Where ephemeral notifications (such as pieces of text) were dropped,
    /// shows a note about that.
    pub(crate) fn notified(&mut self, received: &Received) {
        match received {
            Received::Event(notification) => self.notification(notification),
            Received::Lagged(missed) if missed.ephemeral > 0 => {
                self.line(Tone::Dim, "... (shown too late; /replay has it whole)");
            }
            Received::Lagged(_) => {}
        }
    }

    /// Shows a notification, if its type is of interest to users. If several sub-agents answer at
    /// the same time, shows their answers one after the other, each with the sub-agent's name.
    pub fn notification(&mut self, notification: &Notification) {
        if self.speakers.takes(notification) {
            show(self, notification);
        }
        self.show_waiting();
    }

    /// Ends the answer that is being shown, and shows the notifications that waited for its end.
    /// Call this when the turn ends.
    pub fn end_turn(&mut self) {
        self.end_answer();
        self.speakers.end();
        self.show_waiting();
        self.end_answer();
    }

    fn show_waiting(&mut self) {
        for notification in self.speakers.take_waiting() {
            show(self, &notification);
        }
    }

    /// Shows a tool call: the name of the tool and its arguments.
    pub(crate) fn call(&mut self, name: &str, arguments: &str) {
        show_call(self, name, arguments);
    }
}

fn show(screen: &mut Screen, notification: &Notification) {
    if is_shown(&notification.event)
        && let Some(name) = screen.speakers.change(notification)
    {
        screen.line(Tone::Label, &name);
    }
    if let Some(text) = screen.speakers.unheard(notification) {
        match &notification.event {
            KernelEvent::ThinkingFinal(_) => screen.thought(text),
            _ => screen.answer(text),
        }
    }
    screen.speakers.shown(notification);
    match &notification.event {
        KernelEvent::ContentBlockDelta(piece) => screen.answer(&piece.delta),
        KernelEvent::ThinkingDelta(piece) => screen.thought(&piece.delta),
        KernelEvent::ContentBlockEnd(_) | KernelEvent::ThinkingFinal(_) => screen.end_answer(),
        KernelEvent::ToolPre(call) => {
            show_call(screen, &call.tool_name, &call.tool_input.to_string());
            screen.wait_part(Some(&format!("{} runs", call.tool_name)));
        }
        KernelEvent::ProviderRequest(_) => screen.wait_part(None),
        KernelEvent::ToolPost(done) => show_result(screen, &done.result, false),
        KernelEvent::ToolError(done) => show_result(screen, &done.result, true),
        KernelEvent::ProviderRetry(retry) => {
            let pause = retry.pause_ms.unwrap_or(0);
            let line = format!("{}; asked again in {pause} ms", retry.error);
            screen.line(Tone::Warn, &line);
        }
        KernelEvent::HookError(failure) => {
            let line = format!("the hook {} failed: {}", failure.hook, failure.error);
            screen.line(Tone::Warn, &line);
        }
        KernelEvent::ContextPreCompact(_) => screen.wait_part(Some("compacting the history")),
        KernelEvent::ContextPostCompact(compacted) => {
            let (before, after) = (compacted.tokens_before, compacted.tokens_after);
            let how = format!(" from {before} to about {after} tokens; /inspect shows it");
            screen.words(&[(Tone::Good, "Compacted"), (Tone::Dim, &how)]);
            screen.wait_part(None);
        }
        KernelEvent::CancelRequested(_) => screen.line(Tone::Dim, "interrupting ..."),
        _ => {}
    }
}

/// Checks whether the screen shows an event as output of its session.
fn is_shown(event: &KernelEvent) -> bool {
    matches!(
        event,
        KernelEvent::ContentBlockDelta(_)
            | KernelEvent::ThinkingDelta(_)
            | KernelEvent::ContentBlockEnd(_)
            | KernelEvent::ThinkingFinal(_)
            | KernelEvent::ToolPre(_)
            | KernelEvent::ToolPost(_)
            | KernelEvent::ToolError(_)
            | KernelEvent::ProviderRetry(_)
    )
}

fn show_call(screen: &mut Screen, name: &str, arguments: &str) {
    let width = screen.width().saturating_sub(name.len() + 3).max(20);
    let shown = terminal::cell(arguments, width);
    screen.words(&[(Tone::Tool, "→ "), (Tone::Tool, name), (Tone::Dim, &format!(" {shown}"))]);
}

fn show_result(screen: &mut Screen, result: &Value, failed: bool) {
    let text = readable(result);
    let tone = if failed { Tone::Bad } else { Tone::Dim };
    screen.excerpt(tone, &text, "  ", RESULT_LINES);
}

/// Returns the text of a tool's result: a string itself, the `text` of each item of a list, and
/// JSON for any other value.
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
