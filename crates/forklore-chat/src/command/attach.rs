//! `/attach`: sends files with the next prompt.

use std::path::{Path, PathBuf};

use forklore_host::PendingAttachment;

use super::arguments::arguments;
use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::input::Argument;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "attach",
    usage: "[FILE...] [--drop]",
    help: "send files with what you say next; without one, list those that wait",
    argument: Argument::File,
    options: &["--drop"],
    examples: &[
        ("/attach shot.png", "goes with what you say next"),
        ("/attach", "which files wait"),
        ("/attach --drop", "none goes along"),
    ],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    files: Vec<PathBuf>,
    #[arg(long)]
    drop: bool,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { files, drop } = arguments(&COMMAND, rest)?;
    if drop {
        chat.conversation.drop_attachments();
    }
    for file in &files {
        chat.attach(file)?;
    }
    let attachments = chat.conversation.attachments();
    if attachments.is_empty() {
        chat.screen.line(Tone::Dim, "no file waits; /attach FILE sends one with what you say next");
    } else if files.is_empty() {
        for file in attachments {
            chat.screen.words(&[(Tone::Strong, &file.name), (Tone::Dim, &described(&file))]);
        }
    }
    Ok(Next::Line)
}

impl Chat<'_> {
    /// Attaches a file to the next prompt.
    ///
    /// # Errors
    /// When `path` does not name a regular file, or the store refuses the file.
    pub fn attach(&mut self, path: &Path) -> Result<()> {
        let file = self.foreground.block_on(self.conversation.attach(path))?;
        let text = format!("{} goes with what you say next", described(&file));
        self.screen.words(&[(Tone::Strong, &file.name), (Tone::Plain, &text)]);
        let takes = self.conversation.session().equipment().model.takes();
        if let Some(problem) = file.problem(&takes) {
            self.screen.line(Tone::Warn, &problem);
        }
        Ok(())
    }
}

fn described(file: &PendingAttachment) -> String {
    let bytes = file.bytes();
    let size =
        if bytes < 10_000 { format!("{bytes} bytes") } else { format!("{} kB", bytes / 1000) };
    format!(" ({}, {size})", file.media_type)
}
