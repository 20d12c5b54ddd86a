//! The terminal: takes it over, and gives it back as it was, however the program ends.

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

/// The terminal while the interface uses it. Dropping this value gives it back.
pub(crate) struct Screen {
    pub(crate) terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// Checks whether the program runs at a terminal on which an interface can be drawn. `term` is the
/// value of the environment variable `TERM`.
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

/// Waits until there is something to read from the terminal, at most for `wait`. Returns whether the
/// terminal is gone.
pub(crate) fn is_gone(wait: Duration) -> bool {
    let stdin = io::stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec::try_from(wait).unwrap_or_default();
    // An interrupted wait only ends earlier.
    let _ = poll(&mut polled, Some(&wait));
    polled.iter().any(|it| it.revents().intersects(PollFlags::HUP | PollFlags::ERR))
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub(crate) fn open() -> io::Result<Self> {
        PANIC_HOOK.call_once(|| {
            let hook = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                hook(panic);
            }));
        });
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let mut screen = Self { terminal };
        screen.take_over()?;
        Ok(screen)
    }

    /// Takes the terminal over again, and draws everything anew.
    ///
    /// # Errors
    /// When the terminal refuses.
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

/// Gives the terminal back as it was. Does nothing if that is done already.
pub(crate) fn give_back() {
    if !IS_CAPTURED.swap(false, Ordering::SeqCst) {
        return;
    }
    // The terminal may be gone, and then there is nothing to give back.
    let _ = execute!(
        io::stdout(),
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
}
