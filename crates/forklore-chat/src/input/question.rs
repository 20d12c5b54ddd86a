//! Asks a question. Only what the user types after the question is shown counts as the answer.

use super::no_echo::NoEcho;
use super::terminal::show;

/// The maximum length, in bytes, of the user's answer to a question.
const LONGEST: usize = 40;

/// Shows a question and reads the user's answer, a line of printable ASCII. Returns `None` for
/// Ctrl-C, Ctrl-D, or a closed terminal.
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
