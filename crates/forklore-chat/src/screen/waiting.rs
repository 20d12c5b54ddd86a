//! The sign of life while nothing else is shown: a line that vanishes when there is.

use std::time::{Duration, Instant};

/// A shorter wait needs no sign.
const SOON: Duration = Duration::from_millis(300);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What the person waits for.
#[derive(Debug)]
pub(super) struct Waiting {
    /// The whole of it.
    all: String,
    /// The part that runs now.
    part: Option<String>,
    since: Instant,
    /// Whether the line is on the screen.
    pub(super) drawn: bool,
    frame: usize,
}

impl Waiting {
    pub(super) fn of(all: &str) -> Self {
        let all = all.to_owned();
        Self { all, part: None, since: Instant::now(), drawn: false, frame: 0 }
    }

    /// Waits for this part from now on, or with none for the whole again.
    pub(super) fn part(&mut self, part: Option<&str>) {
        self.part = part.map(str::to_owned);
        self.since = Instant::now();
    }

    /// The line now, after a short wait.
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
