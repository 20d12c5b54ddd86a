//! The mode of the terminal between two lines: input is not echoed, and is buffered for the next
//! line.

use std::io;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use super::terminal::show;

/// The value in a terminal's settings (`c_cc`) that assigns no key to a control function.
pub(super) const NO_KEY: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };
/// The timeout of a read in [`NoEcho::keys`], in tenths of a second.
pub(super) const TIMEOUT: u8 = 1;

/// A terminal without echo. While this value exists, the terminal echoes nothing and buffers input
/// unchanged, including pasted text of many lines. Ctrl-C still sends a signal. Dropping the value
/// restores the terminal.
pub(super) struct NoEcho {
    before: Termios,
    silent: Termios,
}

impl NoEcho {
    /// Switches off echo and line editing of the terminal. Returns `None` if standard input is not
    /// a terminal.
    pub(super) fn begin() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN);
        // With NOFLSH, Ctrl-C does not discard the buffered input.
        silent.local_modes.insert(LocalModes::ISIG | LocalModes::NOFLSH);
        silent.input_modes.remove(InputModes::ICRNL | InputModes::IXON);
        // If the keys of VSUSP and VQUIT stopped the program now, the shell would get a terminal
        // without echo. So these keys are buffered for the line editor, which restores the terminal
        // before it stops.
        silent.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
        silent.special_codes[SpecialCodeIndex::VQUIT] = NO_KEY;
        silent.special_codes[SpecialCodeIndex::VMIN] = 0;
        silent.special_codes[SpecialCodeIndex::VTIME] = 0;
        set(&silent)?;
        show("\u{1b}[?2004h");
        Some(Self { before, silent })
    }

    /// Returns the buffered input that was not read yet, without waiting.
    pub(super) fn typed(&self) -> Vec<u8> {
        let mut typed = Vec::new();
        let mut bytes = [0; 1024];
        while let Some(read) = rustix::io::read(io::stdin(), &mut bytes).ok().filter(|n| *n > 0) {
            typed.extend(bytes.iter().take(read));
        }
        typed
    }

    /// Passes each byte of terminal input to `take` until `take` returns true. Ctrl-C sends no
    /// signal; its byte is passed, too. Returns false if the terminal is closed first.
    pub(super) fn keys(&self, mut take: impl FnMut(u8) -> bool) -> bool {
        let mut waits = self.silent.clone();
        waits.local_modes.remove(LocalModes::ISIG);
        waits.special_codes[SpecialCodeIndex::VTIME] = TIMEOUT;
        let done = set(&waits).is_some()
            && loop {
                let mut key = [0];
                match rustix::io::read(io::stdin(), &mut key) {
                    Ok(0) if tcgetattr(io::stdin()).is_ok() => {}
                    Err(rustix::io::Errno::INTR) => {}
                    Ok(0) | Err(_) => break false,
                    Ok(_) if take(key[0]) => break true,
                    Ok(_) => {}
                }
            };
        set(&self.silent);
        done
    }
}

impl Drop for NoEcho {
    fn drop(&mut self) {
        unmark_pastes();
        set(&self.before);
    }
}

pub(super) fn set(termios: &Termios) -> Option<()> {
    tcsetattr(io::stdin(), OptionalActions::Now, termios).ok()
}

/// Switches off bracketed paste, in which a terminal marks pasted text.
pub(super) fn unmark_pastes() {
    show("\u{1b}[?2004l");
}
