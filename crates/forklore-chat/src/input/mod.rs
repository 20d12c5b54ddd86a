//! What a person types.

mod editor;
mod no_echo;
mod offers;
mod question;
mod reply;
mod terminal;
mod typeahead;

use crate::Stop;

pub use editor::Editor;
pub use offers::Offers;
pub(crate) use reply::Reply;

/// Where lines come from.
pub trait Input {
    /// The next text, of one line or several. `offers` completes it.
    fn line(&mut self, prompt: &str, offers: Offers) -> Line;

    /// Puts lines that were typed ahead back into the prompt, where the person can change them.
    /// Otherwise the next calls of [`line`](Self::line) return them.
    fn put_back(&mut self);

    /// The answer to a question. None interrupts.
    fn ask(&mut self, question: &str) -> Option<String>;
}

/// What the person did at the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Entered a text.
    Entered(String),
    /// Pressed Ctrl-C. The history has the text that was there, if any.
    Interrupted {
        /// Whether there was a text.
        text: bool,
    },
    /// Pressed Ctrl-D, or closed the terminal.
    End,
    /// Nothing: a signal ended the conversation.
    Stopped(Stop),
}

/// Whether Enter ends the text: not inside a block of code, nor after a backslash.
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
