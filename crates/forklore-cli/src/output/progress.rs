//! Shows the progress of an import, of reading sessions for a search, or of copying sessions into
//! another store.

use forklore::core::units::count;
use forklore::engine::TransferProgress;
use forklore::import::Progressed;
use forklore_sanitize::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar for all files of an import, or for all sessions to read or copy. Dropping this
/// value removes the bar.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(visible: bool) -> Self {
        if !visible {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template =
            "{bar:24} {bytes:>9} of {total_bytes:9} {bytes_per_sec:>12} {eta:>4} left  {msg}";
        Self(bar.with_style(style(template)))
    }

    /// Shows the progress of the import and the name of the current file.
    pub(crate) fn show(&self, progressed: &Progressed<'_>) {
        if self.0.is_hidden() {
            return;
        }
        let all = &progressed.all;
        let name = progressed.path.file_name().unwrap_or_default().to_string_lossy();
        let name = terminal::cell(&name, 30);
        self.0.set_length(all.bytes);
        self.0.set_position(all.bytes_done);
        self.0.set_message(match all.files {
            1 => name.into_owned(),
            files => format!("file {} of {files}: {name}", all.files_done + 1),
        });
    }
}

impl Progress {
    /// Shows what is being done.
    pub(crate) fn says(&self, message: &'static str) {
        self.0.set_message(message);
    }

    /// Shows how many families of sessions were compared, and how many events were copied.
    pub(crate) fn families(&self, progress: &TransferProgress) {
        if self.0.is_hidden() {
            return;
        }
        self.0.set_style(style("{bar:24} family {pos} of {len}  {msg}"));
        self.0.set_length(progress.families);
        self.0.set_position(progress.families_begun);
        self.0.set_message(count(progress.events, "event"));
    }

    /// Shows that `done` of `all` bytes were read, with a message about the work.
    pub(crate) fn bytes(&self, done: u64, all: u64, message: &'static str) {
        self.0.set_length(all.max(done));
        self.0.set_position(done);
        self.0.set_message(message);
    }
}

/// Returns the style of a bar with this template, or the usual style if the template is not valid.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
