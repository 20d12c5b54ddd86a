//! Redacts the API key in a streamed response. If a server or a model repeats the key, the key
//! reaches neither the log nor a screen.

use std::collections::VecDeque;
use std::fmt;

use forklore_agent::model::{End, EndReason, StreamEvent};
use forklore_agent::tool::ToolCall;
use forklore_core::Data;

use super::redact::{Flow, redact_key};

/// A redactor of the key for the events of one response. Without a key, it passes the events on
/// unchanged.
#[derive(Default)]
pub(crate) struct StreamRedactor {
    key: Option<String>,
    text: Flow,
    thinking: Flow,
}

impl fmt::Debug for StreamRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamRedactor")
    }
}

impl StreamRedactor {
    pub(super) fn new(key: String) -> Self {
        Self { key: Some(key), ..Self::default() }
    }

    /// Redacts the key in an event, and pushes the events that are ready to `out`.
    pub(crate) fn pass(&mut self, piece: StreamEvent, out: &mut VecDeque<StreamEvent>) {
        let Some(key) = self.key.clone() else { return out.push_back(piece) };
        match piece {
            StreamEvent::Text(text) => {
                self.end_thinking(out);
                push(self.text.pass(&text, &key), StreamEvent::Text, out);
            }
            StreamEvent::Thinking(text) => {
                self.end_text(out);
                push(self.thinking.pass(&text, &key), StreamEvent::Thinking, out);
            }
            StreamEvent::Usage { .. } => out.push_back(piece),
            StreamEvent::Thought { .. } | StreamEvent::Call(_) | StreamEvent::End(_) => {
                self.end(out);
                out.push_back(redacted(piece, &key));
            }
        }
    }

    /// Ends the response. Pushes to `out` the text that was held back because it could be the start
    /// of the key.
    pub(crate) fn end(&mut self, out: &mut VecDeque<StreamEvent>) {
        self.end_text(out);
        self.end_thinking(out);
    }

    fn end_text(&mut self, out: &mut VecDeque<StreamEvent>) {
        push(self.text.rest(), StreamEvent::Text, out);
    }

    fn end_thinking(&mut self, out: &mut VecDeque<StreamEvent>) {
        push(self.thinking.rest(), StreamEvent::Thinking, out);
    }
}

fn push(text: String, piece: fn(String) -> StreamEvent, out: &mut VecDeque<StreamEvent>) {
    if !text.is_empty() {
        out.push_back(piece(text));
    }
}

/// Redacts the key in one stream event. Does not find a key that continues in the next event.
fn redacted(piece: StreamEvent, key: &str) -> StreamEvent {
    match piece {
        StreamEvent::Thought { text, opaque } => StreamEvent::Thought {
            text: redact_key(&text, key),
            // Drop provider data with the key: the signature would not match a redacted thought,
            // and the provider would refuse it.
            opaque: opaque.filter(|opaque| !opaque.get().contains(key)),
        },
        StreamEvent::Call(call) => StreamEvent::Call(ToolCall {
            id: redact_key(&call.id, key),
            name: redact_key(&call.name, key),
            arguments: arguments(call.arguments, key),
        }),
        StreamEvent::End(End { reason, usage, request_id }) => StreamEvent::End(End {
            reason: match reason {
                EndReason::Other(reason) => EndReason::Other(redact_key(&reason, key)),
                reason => reason,
            },
            usage,
            request_id: request_id.map(|id| redact_key(&id, key)),
        }),
        piece => piece,
    }
}

fn arguments(arguments: Data, key: &str) -> Data {
    if !arguments.get().contains(key) {
        return arguments;
    }
    let text = redact_key(arguments.get(), key);
    Data::parse(&text).or_else(|_| Data::of(&text)).unwrap_or_else(|_| Data::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-0123456789";

    fn passed(pieces: Vec<StreamEvent>) -> Vec<StreamEvent> {
        let mut redactor = StreamRedactor::new(KEY.to_owned());
        let mut out = VecDeque::new();
        for piece in pieces {
            redactor.pass(piece, &mut out);
        }
        redactor.end(&mut out);
        out.into()
    }

    fn text(text: &str) -> StreamEvent {
        StreamEvent::Text(text.into())
    }

    #[test]
    fn no_piece_of_an_answer_has_the_key() {
        let data = |text: &str| Data::parse(text).unwrap();
        let call = |name: &str, arguments: &str| {
            StreamEvent::Call(ToolCall {
                id: "c".into(),
                name: name.into(),
                arguments: data(arguments),
            })
        };
        let thought = |text: &str, opaque: Option<&str>| StreamEvent::Thought {
            text: text.into(),
            opaque: opaque.map(data),
        };
        let usage = || StreamEvent::Usage { usage: Default::default(), request_id: None };
        let out = passed(vec![
            StreamEvent::Thinking("it is sk-ant".into()),
            usage(),
            StreamEvent::Thinking("-0123456789".into()),
            thought(&format!("it is {KEY}"), Some(&format!("{{\"thinking\":\"{KEY}\"}}"))),
            thought("hm", Some("{\"signature\":\"x\"}")),
            text("it is sk-ant-01"),
            text("23456789, as sk-"),
            call("echo", &format!("{{\"a\":\"x{KEY}\",\"b\":1.0}}")),
            call("echo", "{\"b\": 1.0}"),
            text("sk-ant-0"),
            StreamEvent::End(End {
                reason: EndReason::Other(KEY.into()),
                request_id: Some(format!("r-{KEY}")),
                ..End::default()
            }),
        ]);
        let expected = [
            StreamEvent::Thinking("it is ".into()),
            usage(),
            StreamEvent::Thinking("[key]".into()),
            thought("it is [key]", None),
            thought("hm", Some("{\"signature\":\"x\"}")),
            text("it is "),
            text("[key], as "),
            text("sk-"),
            call("echo", "{\"a\":\"x[key]\",\"b\":1.0}"),
            call("echo", "{\"b\": 1.0}"),
            text("sk-ant-0"),
            StreamEvent::End(End {
                reason: EndReason::Other("[key]".into()),
                request_id: Some("r-[key]".into()),
                ..End::default()
            }),
        ];
        assert_eq!(out, expected);
    }
}
