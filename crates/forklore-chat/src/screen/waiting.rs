//! The progress line: it shows that an operation runs, and disappears when there is other output.

use std::time::{Duration, Instant};

/// Operations that are shorter than this show no progress line.
const SOON: Duration = Duration::from_millis(300);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The operation that the user waits for.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The name of the whole operation.
    all: String,
    /// The part that runs now.
    part: Option<String>,
    since: Instant,
    /// Whether the progress line is on the screen.
    pub(super) drawn: bool,
    frame: usize,
}

impl Waiting {
    pub(super) fn of(all: &str) -> Self {
        let all = all.to_owned();
        Self { all, part: None, since: Instant::now(), drawn: false, frame: 0 }
    }

    /// Waits for `part` from now on, or with `None` for the whole operation again.
    pub(super) fn part(&mut self, part: Option<&str>) {
        self.part = part.map(str::to_owned);
        self.since = Instant::now();
    }

    /// Returns the progress line, or `None` during the first moments of the wait.
    pub(super) fn line(&mut self) -> Option<String> {
        let waited = self.since.elapsed();
        if waited < SOON {
            return None;
        }
        self.drawn = true;
        self.frame = (self.frame + 1) % FRAMES.len();
        let frame = FRAMES.get(self.frame).copied().unwrap_or_default();
        let what = self.part.as_deref().unwrap_or(&self.all);
        Some(format!("{frame} {what}, {} s; Ctrl-C interrupts", waited.as_secs()))
    }
}
