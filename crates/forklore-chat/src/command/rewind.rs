//! `/rewind`: goes back to an earlier position by forking there; the original session is unchanged.

use super::arguments::{arguments, cut};
use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::count::count;
use crate::input::Argument;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "rewind",
    usage: "[CUT]",
    help: "take the last turn back, or all behind CUT, by going on in a fork",
    argument: Argument::Cut,
    options: &[],
    examples: &[
        ("/rewind", "take the last turn back"),
        ("/rewind turn:1", "keep the first turn only"),
        ("/rewind start", "keep nothing"),
    ],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    #[arg(allow_negative_numbers = true)]
    cut: Option<String>,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { cut: at } = arguments(&COMMAND, rest)?;
    let at = at.map(|word| cut(&word)).transpose()?;
    let parent = chat.header()?;
    let forked = chat.foreground.block_on(chat.conversation.rewind(at))?;
    let label = forked.label.to_string();
    chat.screen.words(&[
        (Tone::Good, "Rewound to "),
        (Tone::Plain, &count(forked.cut.index, "message")),
        (Tone::Dim, ", now on "),
        (Tone::Label, &label),
        (Tone::Dim, &format!("; {} keeps the rest, /back returns to it", parent.label)),
    ]);
    Ok(Next::Line)
}
