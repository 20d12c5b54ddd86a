//! The progress line, which shows that an operation runs. Any other output removes the line.

use std::time::{Duration, Instant};

/// The time after which an operation shows a progress line.
const SOON: Duration = Duration::from_millis(300);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The operation whose progress is shown.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The name of the whole operation.
    all: String,
    /// The part of the operation that runs now. `None` stands for the whole operation.
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

    /// Shows `part` in the progress line from now on, or the whole operation with `None`. Restarts
    /// the timer.
    pub(super) fn part(&mut self, part: Option<&str>) {
        self.part = part.map(str::to_owned);
        self.since = Instant::now();
    }

    /// Returns the next frame of the progress line. Returns `None` during the first 300 ms of the
    /// operation or of its current part.
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
