//! What people type.

mod ahead;
mod complete;
mod editor;
mod question;
mod quiet;
mod terminal;

use crate::Stop;

pub use complete::Offered;
pub use editor::Editor;

/// Where lines come from.
pub trait Input {
    /// The next thing that is said, of one line or several. `offered` completes it.
    fn line(&mut self, prompt: &str, offered: Offered) -> Line;

    /// The answer to a question; none where there is no answer.
    fn ask(&mut self, question: &str) -> Option<String>;
}

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Something.
    Said(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or there is no terminal any more.
    End,
    /// Something ends the conversation: nothing more is typed.
    Stopped(Stop),
}

/// Whether Enter says a text: not within a block of code, nor behind a backslash.
fn is_whole(text: &str) -> bool {
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
    fences % 2 == 0 && !text.ends_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_says_what_is_whole() {
        for whole in ["", "a", "a\nb", "```\na\n```", "a \\\nb"] {
            assert!(is_whole(whole), "{whole:?}");
        }
        for begun in ["a\\", "```", "see\n```rust\nfn main() {}"] {
            assert!(!is_whole(begun), "{begun:?}");
        }
    }
}
