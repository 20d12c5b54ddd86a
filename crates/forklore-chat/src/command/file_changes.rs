//! Shows what happens to files that are taken back.

use forklore_host::{FilesRestored, NamedPath};

use crate::chat::Chat;
use crate::count::count;
use crate::screen::Tone;

/// The most paths that are shown.
const SHOWN: usize = 12;

/// Shows which files would change.
pub(super) fn plan(chat: &mut Chat<'_>, files: &FilesRestored) {
    let text =
        format!("Would be taken back: {}, {}", number(files.written, "written"), removed(files));
    chat.screen.line(Tone::Strong, &text);
    list(chat, &files.changes);
}

/// Shows what happened to files.
pub(super) fn report_files(chat: &mut Chat<'_>, files: &FilesRestored) {
    let done = format!("{}, {}", number(files.written, "written"), removed(files));
    chat.screen.words(&[(Tone::Good, "Took the files back: "), (Tone::Plain, &done)]);
    if !files.skipped.is_empty() {
        chat.screen.line(Tone::Warn, "skipped:");
        list(chat, &files.skipped);
    }
}

fn number(files: u64, what: &str) -> String {
    format!("{} {what}", count(files, "file"))
}

fn removed(files: &FilesRestored) -> String {
    format!("{} removed", files.removed)
}

fn list(chat: &mut Chat<'_>, paths: &[NamedPath]) {
    for named in paths.iter().take(SHOWN) {
        let reason = format!("  {}", named.reason.replace('_', " "));
        chat.screen.words(&[(Tone::Plain, "  "), (Tone::Plain, &named.path), (Tone::Dim, &reason)]);
    }
    if let Some(more) = paths.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        chat.screen.line(Tone::Dim, &format!("  ... and {more} more"));
    }
}
