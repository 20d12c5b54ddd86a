//! `/help`: what one can type.

use super::{COMMANDS, Command, Next, Takes};
use crate::Result;
use crate::chat::Chat;
use crate::screen::Tone;

const REST: &str = "\
CUT is turn:N, message:N, index:N, seq:N, event:ID, start or end; N alone is message:N (/turns).
SESSION is a label of this family, @label, an id or its end, or last.
Alt-Enter, or a backslash before Enter, begins a new line. Ctrl-C interrupts, Ctrl-D leaves.
Nothing that was said is ever changed or lost: to take something back is to fork.";

pub(super) const COMMAND: Command =
    Command { name: "help", usage: "", does: "show this", takes: Takes::Text, options: &[], run };

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    for command in COMMANDS {
        let name = format!("/{} {}", command.name, command.usage);
        if name.len() > 30 {
            chat.screen.line(Tone::Strong, &name);
            chat.screen.line(Tone::Plain, &format!("{:31}{}", "", command.does));
        } else {
            chat.screen
                .words(&[(Tone::Strong, &format!("{name:<31}")), (Tone::Plain, command.does)]);
        }
    }
    chat.screen.block(Tone::Dim, REST, "");
    Ok(Next::Line)
}
