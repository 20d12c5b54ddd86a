//! Takes over the terminal, and restores it, however the program ends.

use std::io::{self, IsTerminal, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Whether the terminal is taken over now.
static IS_CAPTURED: AtomicBool = AtomicBool::new(false);
static PANIC_HOOK: Once = Once::new();

/// The terminal while the interface uses it. Dropping this value restores the terminal.
pub(crate) struct Screen {
    pub(crate) terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// Returns why the interface cannot be drawn on the terminal of this program, or `None` if it can.
/// `term` is the value of the environment variable `TERM`.
pub(crate) fn refusal(term: Option<&str>) -> Option<&'static str> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Some("input and output are not both a terminal");
    }
    match term {
        None | Some("") => Some("TERM does not name the terminal"),
        Some("dumb") => Some("a dumb terminal cannot show it"),
        Some(_) => None,
    }
}

/// Waits, for at most `wait`, until there is something to read from the terminal. Returns whether
/// the terminal is gone.
pub(crate) fn is_gone(wait: Duration) -> bool {
    let stdin = io::stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec::try_from(wait).unwrap_or_default();
    // If a signal interrupts the wait, the wait only ends earlier.
    let _ = poll(&mut polled, Some(&wait));
    polled.iter().any(|it| it.revents().intersects(PollFlags::HUP | PollFlags::ERR))
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// When the settings of the terminal cannot be changed.
    pub(crate) fn open() -> io::Result<Self> {
        give_back_on_panic();
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let mut screen = Self { terminal };
        screen.take_over()?;
        Ok(screen)
    }

    /// Takes the terminal over, for the first time or again, and clears it. The next frame then
    /// draws everything.
    ///
    /// # Errors
    /// When the settings of the terminal cannot be changed.
    pub(crate) fn take_over(&mut self) -> io::Result<()> {
        IS_CAPTURED.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableMouseCapture,
            EnableBracketedPaste,
            cursor::Hide
        )?;
        self.terminal.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Makes a panic of any thread give the terminal back before the panic is reported, so that the user
/// can read the report.
fn give_back_on_panic() {
    PANIC_HOOK.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            hook(panic);
        }));
    });
}

/// Restores the terminal. Does nothing if the terminal is not taken over.
pub(crate) fn give_back() {
    if !IS_CAPTURED.swap(false, Ordering::SeqCst) {
        return;
    }
    // These calls fail if the terminal is gone. Then there is nothing to restore.
    let _ = execute!(
        io::stdout(),
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_any_thread_gives_the_terminal_back_before_it_is_reported() {
        static WAS_CAPTURED: AtomicBool = AtomicBool::new(true);
        std::panic::set_hook(Box::new(|_| {
            WAS_CAPTURED.store(IS_CAPTURED.load(Ordering::SeqCst), Ordering::SeqCst);
        }));
        give_back_on_panic();
        IS_CAPTURED.store(true, Ordering::SeqCst);
        let ended = std::thread::spawn(|| panic!("the interface broke")).join();
        let _ = std::panic::take_hook();
        assert!(ended.is_err());
        assert!(!WAS_CAPTURED.load(Ordering::SeqCst) && !IS_CAPTURED.load(Ordering::SeqCst));
    }
}
