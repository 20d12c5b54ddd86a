//! The terminal: as it was found, for whoever leaves it in the middle of a line, and what a person
//! who types sees of that.

use std::io::{Write, stdin, stdout};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// How the terminal was set; none where there is none.
pub(super) struct Terminal(Option<Termios>);

impl Terminal {
    /// How it is set now.
    pub(super) fn now() -> Self {
        Self(tcgetattr(stdin()).ok())
    }

    /// Sets it so again. A terminal that is gone needs nothing.
    pub(super) fn set(&self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}

/// Writes to the terminal at once.
pub(super) fn show(text: &str) {
    let mut out = stdout();
    // A terminal that is gone is noticed when it is read.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
