//! Size limits of one answer of a model. They are far above the size of real answers. If an answer
//! exceeds a limit, the kernel stops reading the answer and reports an error.
//!
//! The events of an answer must fit into the limits of 16 MiB per event and 64 MiB per batch
//! (docs/semantics.md, Limits), even if JSON escapes every byte to six bytes.

use std::fmt;

use forklore_core::limits;

use crate::model::StreamEvent;

/// Maximum length in bytes of all text in an answer, not counting reasoning. The longest answers of
/// today's models have a quarter of this length.
pub const TEXT_BYTES: usize = 2 << 20;
/// Maximum length in bytes of all readable reasoning in an answer.
pub const THINKING_BYTES: usize = 1 << 20;
/// Maximum length in bytes of all opaque data in an answer, as JSON. Opaque data, such as a
/// signature, belongs to reasoning, and later requests must return it to the provider.
pub const OPAQUE_BYTES: usize = 8 << 20;
/// Maximum length in bytes of the arguments of all calls in an answer.
pub const ARGUMENTS_BYTES: usize = 2 << 20;
/// Maximum length in bytes of a tool's name in a call, and of a call's id.
pub const NAME_BYTES: usize = 1 << 10;
/// Maximum number of tool calls in an answer.
pub const CALLS: usize = 128;
/// Maximum number of blocks in one answer of the model. A block is a continuous text, a continuous
/// reasoning, or a tool call.
pub const BLOCKS: usize = 1_000;

/// Maximum length in bytes of one byte after JSON has escaped it.
const ESCAPED: usize = 6;
// Each event fits into the limit of one event, and all events fit into one batch.
const _: () = assert!(TEXT_BYTES * ESCAPED < limits::EVENT_BYTES);
const _: () = assert!(ARGUMENTS_BYTES * ESCAPED < limits::EVENT_BYTES);
const _: () = assert!(THINKING_BYTES * ESCAPED + OPAQUE_BYTES < limits::EVENT_BYTES);
const _: () = assert!(BLOCKS < limits::BATCH_EVENTS);
const _: () = assert!(
    (TEXT_BYTES + THINKING_BYTES + ARGUMENTS_BYTES + 2 * CALLS * NAME_BYTES) * ESCAPED
        + OPAQUE_BYTES
        < limits::BATCH_BYTES
);

/// The size limit that an answer exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMuch {
    /// More text than [`TEXT_BYTES`] bytes.
    Text,
    /// More readable reasoning than [`THINKING_BYTES`] bytes.
    Thinking,
    /// More than [`OPAQUE_BYTES`] bytes of opaque data.
    Opaque,
    /// More call arguments than [`ARGUMENTS_BYTES`] bytes.
    Arguments,
    /// A tool's name or a call's id that is longer than [`NAME_BYTES`] bytes.
    Name,
    /// More calls than [`CALLS`].
    Calls,
    /// More blocks than [`BLOCKS`].
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

/// Measures the size of an answer while the answer arrives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measure {
    text: usize,
    /// The number of bytes of streamed reasoning so far. `thoughts` counts the bytes of the
    /// complete reasoning blocks, which repeat the streamed text.
    thinking: usize,
    thoughts: usize,
    opaque: usize,
    arguments: usize,
    calls: usize,
}

impl Measure {
    /// Adds a piece of the answer to the counts. If the answer then exceeds a limit, the error
    /// contains the limit and a number of bytes. For a piece of text, this number is how many bytes
    /// of the piece still fit. For any other piece, the number is 0.
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
