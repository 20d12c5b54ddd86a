//! What people type.

mod complete;
mod editor;
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
