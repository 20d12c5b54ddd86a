//! `/attach`: files that go along with what is said next.

use std::path::Path;

use super::{Command, Next, Takes, flag, words};
use crate::chat::Chat;
use crate::screen::Tone;
use crate::{Result, Waiting};

pub(super) const COMMAND: Command = Command {
    name: "attach",
    usage: "[FILE...] [--drop]",
    does: "send files with what you say next; without one, list those that wait",
    takes: Takes::File,
    options: &["--drop"],
    examples: &[
        ("/attach shot.png", "goes with what you say next"),
        ("/attach", "which files wait"),
        ("/attach --drop", "none goes along"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let mut files = words(rest)?;
    if flag(&mut files, "--drop") {
        chat.waiting.clear();
    }
    for file in &files {
        chat.attach(Path::new(file))?;
    }
    if chat.waiting.is_empty() {
        chat.screen.line(Tone::Dim, "no file waits; /attach FILE sends one with what you say next");
    } else if files.is_empty() {
        for waiting in chat.waiting.clone() {
            chat.screen.words(&[(Tone::Strong, &waiting.name), (Tone::Dim, &described(&waiting))]);
        }
    }
    Ok(Next::Line)
}

impl Chat<'_> {
    /// Sends a file with what is said next.
    ///
    /// # Errors
    /// When it is no file, or the store does not keep it.
    pub fn attach(&mut self, path: &Path) -> Result<()> {
        let waiting = Waiting::keep(&self.engine(), path)?;
        let text = format!("{} goes with what you say next", described(&waiting));
        self.screen.words(&[(Tone::Strong, &waiting.name), (Tone::Plain, &text)]);
        let takes = self.session.equipment().model.takes();
        if let Some(problem) = waiting.problem(&takes) {
            self.screen.line(Tone::Warn, &problem);
        }
        self.waiting.push(waiting);
        Ok(())
    }
}

fn described(waiting: &Waiting) -> String {
    let bytes = waiting.bytes();
    let size =
        if bytes < 10_000 { format!("{bytes} bytes") } else { format!("{} kB", bytes / 1000) };
    format!(" ({}, {size})", waiting.media_type)
}
