//! The terminal between two lines: what is typed then is not shown, and waits for the next line.

use std::io;

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use super::terminal::show;

/// A key that is none, in the settings of a terminal.
const NO_KEY: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };
/// Tenths of a second after which a read that waits gives nothing.
const PATIENCE: u8 = 1;

/// While it lives, the terminal shows nothing of what is typed and keeps it as it was typed, also a
/// text of many lines that is pasted. Ctrl-C is a signal all the same. However it ends, the
/// terminal is as before.
pub(super) struct Quiet {
    before: Termios,
    quiet: Termios,
}

impl Quiet {
    /// Begins; none where there is no terminal.
    pub(super) fn begin() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN);
        // What was typed survives Ctrl-C.
        quiet.local_modes.insert(LocalModes::ISIG | LocalModes::NOFLSH);
        quiet.input_modes.remove(InputModes::ICRNL | InputModes::IXON);
        // Whoever is stopped or killed now would leave this terminal as it is to the shell: these
        // keys wait for the line editor, which knows them.
        quiet.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
        quiet.special_codes[SpecialCodeIndex::VQUIT] = NO_KEY;
        quiet.special_codes[SpecialCodeIndex::VMIN] = 0;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        set(&quiet)?;
        show("\u{1b}[?2004h");
        Some(Self { before, quiet })
    }

    /// What was typed and nobody has read.
    pub(super) fn typed(&self) -> Vec<u8> {
        let mut typed = Vec::new();
        let mut bytes = [0; 1024];
        while let Some(read) = rustix::io::read(io::stdin(), &mut bytes).ok().filter(|n| *n > 0) {
            typed.extend(bytes.iter().take(read));
        }
        typed
    }

    /// Reads key by key until `take` has enough, Ctrl-C among the keys; false when the terminal is
    /// gone before.
    pub(super) fn keys(&self, mut take: impl FnMut(u8) -> bool) -> bool {
        let mut waits = self.quiet.clone();
        waits.local_modes.remove(LocalModes::ISIG);
        waits.special_codes[SpecialCodeIndex::VTIME] = PATIENCE;
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
        set(&self.quiet);
        done
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        unmark_pastes();
        set(&self.before);
    }
}

fn set(termios: &Termios) -> Option<()> {
    tcsetattr(io::stdin(), OptionalActions::Now, termios).ok()
}

/// From now on a text that is pasted is like one that is typed.
pub(super) fn unmark_pastes() {
    show("\u{1b}[?2004l");
}
