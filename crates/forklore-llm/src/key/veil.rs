//! An answer without the key: a server that repeats what it was sent, or a model that was told the
//! key by somebody, brings it neither into the log nor onto a screen.

use std::collections::VecDeque;
use std::fmt;

use forklore_agent::model::{End, EndReason, Piece};
use forklore_agent::tool::ToolCall;
use forklore_core::Data;

use super::hide::{Flow, without};

/// Takes the key out of the pieces of one answer. Without a key it gives them on as they are.
#[derive(Default)]
pub(crate) struct Veil {
    key: Option<String>,
    text: Flow,
    thinking: Flow,
}

impl fmt::Debug for Veil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Veil")
    }
}

impl Veil {
    pub(super) fn over(key: String) -> Self {
        Self { key: Some(key), ..Self::default() }
    }

    /// Takes a piece; `told` gets what can be told by now.
    pub(crate) fn pass(&mut self, piece: Piece, told: &mut VecDeque<Piece>) {
        let Some(key) = self.key.clone() else { return told.push_back(piece) };
        match piece {
            Piece::Text(text) => {
                self.end_thinking(told);
                tell(self.text.pass(&text, &key), Piece::Text, told);
            }
            Piece::Thinking(text) => {
                self.end_text(told);
                tell(self.thinking.pass(&text, &key), Piece::Thinking, told);
            }
            Piece::Usage { .. } => told.push_back(piece),
            Piece::Thought { .. } | Piece::Call(_) | Piece::End(_) => {
                self.end(told);
                told.push_back(veiled(piece, &key));
            }
        }
    }

    /// Nothing more comes: `told` gets what is left.
    pub(crate) fn end(&mut self, told: &mut VecDeque<Piece>) {
        self.end_text(told);
        self.end_thinking(told);
    }

    fn end_text(&mut self, told: &mut VecDeque<Piece>) {
        tell(self.text.rest(), Piece::Text, told);
    }

    fn end_thinking(&mut self, told: &mut VecDeque<Piece>) {
        tell(self.thinking.rest(), Piece::Thinking, told);
    }
}

fn tell(text: String, piece: fn(String) -> Piece, told: &mut VecDeque<Piece>) {
    if !text.is_empty() {
        told.push_back(piece(text));
    }
}

/// A piece that came whole.
fn veiled(piece: Piece, key: &str) -> Piece {
    match piece {
        Piece::Thought { text, opaque } => Piece::Thought {
            text: without(&text, key),
            // A thought that was changed cannot go back: its signature would not fit.
            opaque: opaque.filter(|opaque| !opaque.get().contains(key)),
        },
        Piece::Call(call) => Piece::Call(ToolCall {
            id: without(&call.id, key),
            name: without(&call.name, key),
            arguments: arguments(call.arguments, key),
        }),
        Piece::End(End { reason, usage, request_id }) => Piece::End(End {
            reason: match reason {
                EndReason::Other(reason) => EndReason::Other(without(&reason, key)),
                reason => reason,
            },
            usage,
            request_id: request_id.map(|id| without(&id, key)),
        }),
        piece => piece,
    }
}

fn arguments(arguments: Data, key: &str) -> Data {
    if !arguments.get().contains(key) {
        return arguments;
    }
    let text = without(arguments.get(), key);
    Data::parse(&text).or_else(|_| Data::of(&text)).unwrap_or_else(|_| Data::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-0123456789";

    fn passed(pieces: Vec<Piece>) -> Vec<Piece> {
        let mut veil = Veil::over(KEY.to_owned());
        let mut told = VecDeque::new();
        for piece in pieces {
            veil.pass(piece, &mut told);
        }
        veil.end(&mut told);
        told.into()
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.into())
    }

    #[test]
    fn no_piece_of_an_answer_has_the_key() {
        let data = |text: &str| Data::parse(text).unwrap();
        let call = |name: &str, arguments: &str| {
            Piece::Call(ToolCall { id: "c".into(), name: name.into(), arguments: data(arguments) })
        };
        let thought = |text: &str, opaque: Option<&str>| Piece::Thought {
            text: text.into(),
            opaque: opaque.map(data),
        };
        let usage = || Piece::Usage { usage: Default::default(), request_id: None };
        let told = passed(vec![
            Piece::Thinking("it is sk-ant".into()),
            usage(),
            Piece::Thinking("-0123456789".into()),
            thought(&format!("it is {KEY}"), Some(&format!("{{\"thinking\":\"{KEY}\"}}"))),
            thought("hm", Some("{\"signature\":\"x\"}")),
            text("it is sk-ant-01"),
            text("23456789, as sk-"),
            call("echo", &format!("{{\"a\":\"x{KEY}\",\"b\":1.0}}")),
            call("echo", "{\"b\": 1.0}"),
            text("sk-ant-0"),
            Piece::End(End {
                reason: EndReason::Other(KEY.into()),
                request_id: Some(format!("r-{KEY}")),
                ..End::default()
            }),
        ]);
        let expected = [
            Piece::Thinking("it is ".into()),
            usage(),
            Piece::Thinking("[key]".into()),
            thought("it is [key]", None),
            thought("hm", Some("{\"signature\":\"x\"}")),
            text("it is "),
            text("[key], as "),
            text("sk-"),
            call("echo", "{\"a\":\"x[key]\",\"b\":1.0}"),
            call("echo", "{\"b\": 1.0}"),
            text("sk-ant-0"),
            Piece::End(End {
                reason: EndReason::Other("[key]".into()),
                request_id: Some("r-[key]".into()),
                ..End::default()
            }),
        ];
        assert_eq!(told, expected);
    }
}
