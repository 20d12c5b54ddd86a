//! How far an import is.

use forklore::engine::Progressed;
use forklore_guard::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for the file being read; it is gone when the import is done.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(visible: bool) -> Self {
        if !visible {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = "{bar:24} {bytes:>9} of {total_bytes:9} {bytes_per_sec:>12}  {msg}";
        Self(match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    /// Shows how far the import of a file is.
    pub(crate) fn show(&self, progressed: &Progressed<'_>) {
        if self.0.is_hidden() {
            return;
        }
        let name = progressed.path.file_name().unwrap_or_default().to_string_lossy();
        self.0.set_length(progressed.total);
        self.0.set_position(progressed.done);
        self.0.set_message(terminal::cell(&name, 30).into_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
