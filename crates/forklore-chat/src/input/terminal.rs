//! Saves and restores the settings of the terminal, and writes to it without buffering.

use std::io::{IsTerminal, Write, stdin, stdout};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The saved settings of the terminal. `None` if standard input is not a terminal.
pub(super) struct Terminal(Option<Termios>);

impl Terminal {
    /// Saves the current settings of the terminal.
    pub(super) fn now() -> Self {
        Self(tcgetattr(stdin()).ok())
    }

    /// Restores the saved settings. Does nothing if the terminal is closed.
    pub(super) fn restore(&self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}

/// Checks whether standard input and standard output are both terminals.
pub(crate) fn is_there() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}

/// Returns the width and the height of the terminal, in columns and rows. Returns 80 and 24 if the
/// size cannot be read.
pub(crate) fn size() -> (usize, usize) {
    let size = rustix::termios::tcgetwinsize(stdout());
    let size = size.map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    size.ok().filter(|(width, height)| *width > 0 && *height > 0).unwrap_or((80, 24))
}

/// Checks whether the cursor of the terminal cannot be moved.
pub(crate) fn is_plain() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Writes `text` unchanged to standard output and flushes.
pub(crate) fn show(text: &str) {
    let mut out = stdout();
    // A write fails if the terminal is closed. The next read reports that.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
