//! Reads single keys from the terminal.

use std::io;

use rustix::termios::{InputModes, LocalModes, SpecialCodeIndex, Termios, tcgetattr};

use super::key::Key;
use super::no_echo::{NO_KEY, TIMEOUT, set};

/// A terminal that reads single keys. While this value exists, the terminal passes on each key at
/// once and echoes no key. Ctrl-C is a key and sends no signal. Dropping the value restores the
/// terminal.
pub(crate) struct Keyboard {
    before: Termios,
}

/// What came from the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// The user pressed this key.
    Key(Key),
    /// The user pressed no key for a tenth of a second.
    Nothing,
    /// The terminal is closed.
    Closed,
}

impl Keyboard {
    /// Switches the terminal to single keys. Returns `None` if standard input is not a terminal.
    pub(crate) fn begin() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut keys = before.clone();
        let lines = LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN | LocalModes::ISIG;
        keys.local_modes.remove(lines);
        keys.input_modes.remove(InputModes::ICRNL | InputModes::IXON);
        keys.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
        keys.special_codes[SpecialCodeIndex::VMIN] = 0;
        keys.special_codes[SpecialCodeIndex::VTIME] = TIMEOUT;
        set(&keys)?;
        Some(Self { before })
    }

    /// Waits up to a tenth of a second for a key.
    #[expect(clippy::unused_self, reason = "keys come one by one only while this value exists")]
    pub(crate) fn wait(&self) -> Pressed {
        match Key::read(byte) {
            Some(key) => Pressed::Key(key),
            None if tcgetattr(io::stdin()).is_err() => Pressed::Closed,
            None => Pressed::Nothing,
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        set(&self.before);
    }
}

/// Reads one byte. Returns `None` if no byte comes within the timeout.
fn byte() -> Option<u8> {
    let mut key = [0];
    rustix::io::read(io::stdin(), &mut key).ok().filter(|read| *read > 0).map(|_| key[0])
}
