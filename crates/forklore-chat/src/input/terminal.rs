//! The terminal: its settings when the program began, and writing to it at once.

use std::io::{Write, stdin, stdout};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The settings of the terminal. None without a terminal.
pub(super) struct Terminal(Option<Termios>);

impl Terminal {
    /// The settings now.
    pub(super) fn now() -> Self {
        Self(tcgetattr(stdin()).ok())
    }

    /// Restores the settings. A terminal that is gone needs nothing.
    pub(super) fn restore(&self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}

/// Writes to the terminal at once.
pub(super) fn show(text: &str) {
    let mut out = stdout();
    // Reading notices a terminal that is gone.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
