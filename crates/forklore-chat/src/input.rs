//! Reads the lines and answers that the user types.

mod editor;
mod key;
mod keyboard;
mod no_echo;
mod offers;
mod picker;
mod question;
mod reply;
pub(crate) mod terminal;
mod typeahead;

use crate::Stop;

pub use editor::Editor;
pub(crate) use key::Key;
pub(crate) use keyboard::{Keyboard, Pressed};
pub use offers::{Argument, OfferedCommand, Offers};
pub(crate) use reply::Reply;

/// A source of input lines.
pub trait Input {
    /// Reads the next input, of one or more lines. `offers` has the names that completion offers.
    fn line(&mut self, prompt: &str, offers: Offers) -> Line;

    /// Puts lines that the user typed before the prompt appeared into the next prompt, for editing.
    /// Without this call, the next calls of [`line`](Self::line) return these lines.
    fn put_back(&mut self);

    /// Puts `text` into the next prompt, for editing.
    fn begin(&mut self, text: &str);

    /// Lets the user choose one of `lines`, and returns its index. The line with the index `chosen`
    /// is marked first. Returns `None` if the user chooses none.
    fn choose(&mut self, title: &str, lines: &[String], chosen: usize) -> Option<usize>;

    /// Asks a question and returns the answer, or `None` if the user interrupts.
    fn ask(&mut self, question: &str) -> Option<String>;
}

/// The result of [`Input::line`]: what the user did at the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The user entered this text, of one or more lines.
    Entered(String),
    /// The user pressed Ctrl-C. The discarded text, if any, is in the history.
    Interrupted {
        /// Whether the prompt had text, which Ctrl-C discarded.
        text: bool,
    },
    /// The user pressed Ctrl-D or closed the terminal.
    End,
    /// A signal ended the conversation.
    Stopped(Stop),
}

/// Checks whether `text` is complete, so that Enter ends the input. Inside an open code block or
/// after a final backslash, Enter adds a line instead.
fn is_whole(text: &str) -> bool {
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
    fences % 2 == 0 && !text.ends_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_ends_a_text_outside_of_blocks_of_code() {
        for whole in ["", "a", "a\nb", "```\na\n```", "a \\\nb"] {
            assert!(is_whole(whole), "{whole:?}");
        }
        for begun in ["a\\", "```", "see\n```rust\nfn main() {}"] {
            assert!(!is_whole(begun), "{begun:?}");
        }
    }
}
