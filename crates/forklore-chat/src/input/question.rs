//! The answer to a question: only what is typed after it.

use super::no_echo::NoEcho;
use super::terminal::show;

/// No question has a longer answer.
const LONGEST: usize = 40;

/// Asks and reads a short line. None for Ctrl-C, Ctrl-D, or when the terminal is gone.
pub(super) fn ask(question: &str, terminal: &NoEcho) -> Option<String> {
    let mut answer = String::new();
    let mut given = false;
    show(question);
    let there = terminal.keys(|key| match key {
        b'\r' | b'\n' => {
            given = true;
            true
        }
        // Ctrl-C, Ctrl-D
        3 | 4 => true,
        8 | 0x7f => {
            if answer.pop().is_some() {
                show("\u{8} \u{8}");
            }
            false
        }
        b' '..=b'~' if answer.len() < LONGEST => {
            answer.push(char::from(key));
            show(char::from(key).encode_utf8(&mut [0; 4]));
            false
        }
        _ => false,
    });
    show("\n");
    (there && given).then_some(answer)
}
