//! Shows the answers of an exploration side by side, so that the user can keep one.

mod layout;

use forklore_host::explore::Row;

use crate::input::terminal::{is_plain, is_there, show, size};
use crate::input::{Key, Keyboard, Pressed};
use crate::signals::Signals;
use crate::{Result, Stop};
use layout::Layout;

/// What the user decided about the answers of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The index of the row that the user keeps.
    pub row: usize,
    /// Whether the user keeps this row alone, so that the others go into the trash.
    pub alone: bool,
}

/// Shows the rows until the user keeps one or closes the view. Returns `None` if the user keeps
/// none, if no row has a session, or if standard input or output is not a terminal in which a view
/// can be drawn.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped) when a signal arrives.
pub(crate) fn show_answers(
    rows: &[Row],
    best: Option<usize>,
    signals: &mut Signals,
) -> Result<Option<Selected>> {
    let any = rows.iter().any(|row| row.session_id.is_some());
    if !is_there() || is_plain() || !any {
        return Ok(None);
    }
    let Some(keyboard) = Keyboard::begin() else { return Ok(None) };
    let _view = OtherScreen::begin();
    let mut layout = Layout::of(rows, best);
    let mut drawn = None;
    loop {
        if let Some(stop) = signals.arrived().filter(|stop| *stop != Stop::Interrupt) {
            return Err(crate::Error::Stopped(stop));
        }
        let now = size();
        if drawn != Some(now) {
            show(&layout.frame(now.0, now.1));
            drawn = Some(now);
        }
        match keyboard.wait() {
            Pressed::Nothing => {}
            Pressed::Closed | Pressed::Key(Key::Escape | Key::Leave | Key::Char('q')) => {
                return Ok(None);
            }
            Pressed::Key(key @ (Key::Enter | Key::Char('x'))) => {
                let row = layout.chosen;
                if rows.get(row).is_some_and(|row| row.session_id.is_some()) {
                    return Ok(Some(Selected { row, alone: key != Key::Enter }));
                }
            }
            Pressed::Key(key) => {
                layout.go(key);
                drawn = None;
            }
        }
    }
}

/// The alternate screen of the terminal. The main screen keeps its content, and dropping this value
/// returns to the main screen.
struct OtherScreen;

impl OtherScreen {
    fn begin() -> Self {
        show("\u{1b}[?1049h\u{1b}[?25l");
        Self
    }
}

impl Drop for OtherScreen {
    fn drop(&mut self) {
        show("\u{1b}[?25h\u{1b}[?1049l");
    }
}
