//! How much one answer of a model may be. No model says so much; whatever does is no answer, and
//! nothing more of it is read.
//!
//! What an answer becomes has to fit into events of 16 MiB and a batch of 64 MiB (SPEC 17), also
//! where each of its bytes has to be escaped, which makes six of it.

use std::fmt;

use forklore_core::limits;

use crate::model::StreamEvent;

/// The text for people, all of it, in bytes: four times what the longest answers have.
pub const TEXT_BYTES: usize = 2 << 20;
/// What the model thinks aloud, all of it, in bytes.
pub const THINKING_BYTES: usize = 1 << 20;
/// What its provider wants back with its thoughts, all of it, in bytes of JSON.
pub const OPAQUE_BYTES: usize = 8 << 20;
/// The arguments of its calls, all of them, in bytes.
pub const ARGUMENTS_BYTES: usize = 2 << 20;
/// The name of a tool that is called, and likewise the id of a call, in bytes.
pub const NAME_BYTES: usize = 1 << 10;
/// Its calls.
pub const CALLS: usize = 128;
/// Its blocks: texts, thoughts and calls.
pub const BLOCKS: usize = 1_000;

/// How many bytes one can become where it is escaped.
const ESCAPED: usize = 6;
// Each event can be stored, and all of them at once.
const _: () = assert!(TEXT_BYTES * ESCAPED < limits::EVENT_BYTES);
const _: () = assert!(ARGUMENTS_BYTES * ESCAPED < limits::EVENT_BYTES);
const _: () = assert!(THINKING_BYTES * ESCAPED + OPAQUE_BYTES < limits::EVENT_BYTES);
const _: () = assert!(BLOCKS < limits::BATCH_EVENTS);
const _: () = assert!(
    (TEXT_BYTES + THINKING_BYTES + ARGUMENTS_BYTES + 2 * CALLS * NAME_BYTES) * ESCAPED
        + OPAQUE_BYTES
        < limits::BATCH_BYTES
);

/// What an answer has too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMuch {
    /// Text: more than [`TEXT_BYTES`].
    Text,
    /// Thinking: more than [`THINKING_BYTES`].
    Thinking,
    /// What is to go back with thoughts: more than [`OPAQUE_BYTES`].
    Opaque,
    /// Arguments: more than [`ARGUMENTS_BYTES`].
    Arguments,
    /// A name or an id: longer than [`NAME_BYTES`].
    Name,
    /// Calls: more than [`CALLS`].
    Calls,
    /// Blocks: more than [`BLOCKS`].
    Blocks,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer is longer than any should be: it has more than ")?;
        match self {
            Self::Text => write!(f, "{} MiB of text", TEXT_BYTES >> 20),
            Self::Thinking => write!(f, "{} MiB of thinking", THINKING_BYTES >> 20),
            Self::Opaque => write!(f, "{} MiB beside its thinking", OPAQUE_BYTES >> 20),
            Self::Arguments => write!(f, "{} MiB of arguments", ARGUMENTS_BYTES >> 20),
            Self::Name => write!(f, "{NAME_BYTES} bytes in a call's name"),
            Self::Calls => write!(f, "{CALLS} calls"),
            Self::Blocks => write!(f, "{BLOCKS} blocks"),
        }
    }
}

/// How much of an answer has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measure {
    text: usize,
    /// What was thought aloud, and what whole thoughts repeat of it.
    thinking: usize,
    thoughts: usize,
    opaque: usize,
    arguments: usize,
    calls: usize,
}

impl Measure {
    /// Counts a piece. Of a text that does not fit, `Err` has how many of its bytes do.
    pub(crate) fn take(&mut self, piece: &StreamEvent) -> Result<(), (TooMuch, usize)> {
        match piece {
            StreamEvent::Text(text) => {
                let fitting = TEXT_BYTES.saturating_sub(self.text);
                add(&mut self.text, text.len(), TEXT_BYTES, TooMuch::Text)
                    .map_err(|too_much| (too_much, fitting))
            }
            other => self.take_other(other).map_err(|too_much| (too_much, 0)),
        }
    }

    fn take_other(&mut self, piece: &StreamEvent) -> Result<(), TooMuch> {
        match piece {
            StreamEvent::Thinking(text) => {
                add(&mut self.thinking, text.len(), THINKING_BYTES, TooMuch::Thinking)
            }
            StreamEvent::Thought { text, opaque } => {
                let opaque = opaque.as_ref().map_or(0, |opaque| opaque.get().len());
                add(&mut self.thoughts, text.len(), THINKING_BYTES, TooMuch::Thinking)?;
                add(&mut self.opaque, opaque, OPAQUE_BYTES, TooMuch::Opaque)
            }
            StreamEvent::Call(call) => {
                add(&mut 0, call.name.len().max(call.id.len()), NAME_BYTES, TooMuch::Name)?;
                add(&mut self.calls, 1, CALLS, TooMuch::Calls)?;
                let arguments = call.arguments.get().len();
                add(&mut self.arguments, arguments, ARGUMENTS_BYTES, TooMuch::Arguments)
            }
            StreamEvent::Text(_) | StreamEvent::Usage { .. } | StreamEvent::End(_) => Ok(()),
        }
    }
}

fn add(so_far: &mut usize, more: usize, most: usize, what: TooMuch) -> Result<(), TooMuch> {
    *so_far = so_far.saturating_add(more);
    if *so_far > most { Err(what) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use forklore_core::Data;

    use super::*;
    use crate::tool::ToolCall;

    fn call(name: usize, arguments: usize) -> StreamEvent {
        let arguments = Data::of(&"x".repeat(arguments)).unwrap();
        StreamEvent::Call(ToolCall { id: "c".into(), name: "n".repeat(name), arguments })
    }

    #[test]
    fn what_is_too_much_is_named() {
        let text = |bytes| StreamEvent::Text("x".repeat(bytes));
        let thinking = |bytes| StreamEvent::Thinking("x".repeat(bytes));
        let mut measure = Measure::default();
        assert_eq!(measure.take(&text(TEXT_BYTES - 1)), Ok(()));
        assert_eq!(measure.take(&thinking(THINKING_BYTES)), Ok(()));
        assert_eq!(measure.take(&call(9, ARGUMENTS_BYTES - 2)), Ok(()));
        assert_eq!(measure.take(&text(7)), Err((TooMuch::Text, 1)));
        assert_eq!(measure.take(&thinking(1)), Err((TooMuch::Thinking, 0)));
        assert_eq!(measure.take(&call(9, 1)), Err((TooMuch::Arguments, 0)));
        assert_eq!(measure.take(&call(NAME_BYTES + 1, 1)), Err((TooMuch::Name, 0)));
        let mut measure = Measure::default();
        for _ in 0..CALLS {
            assert_eq!(measure.take(&call(9, 1)), Ok(()));
        }
        assert_eq!(measure.take(&call(9, 1)), Err((TooMuch::Calls, 0)));
        let text = TooMuch::Text.to_string();
        assert_eq!(text, "the answer is longer than any should be: it has more than 2 MiB of text");
    }
}
