//! `/fork`: forks this session. By default the conversation continues in the fork.

use forklore_engine::IdStyle;
use forklore_host::BranchOptions;

use super::arguments::{arguments, cut};
use super::definition::{Command, Next};
use crate::Result;
use crate::chat::Chat;
use crate::count::count;
use crate::input::Argument;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "fork",
    usage: "[CUT] [--label NAME] [--id-style STYLE] [--stay]",
    help: "go on in another branch, from here or from an earlier place",
    argument: Argument::Cut,
    options: &["--label", "--id-style", "--stay"],
    examples: &[
        ("/fork", "from here, on a branch with a name of its own"),
        ("/fork 3 --label plan-b", "behind message 3"),
        ("/fork turn:2", "behind the second turn"),
        ("/fork -1 --stay", "make a branch, and stay here"),
        ("/fork --id-style ak-coder", "with an id in the form of the agent ak-coder"),
    ],
    run,
};

#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    #[arg(allow_negative_numbers = true)]
    cut: Option<String>,
    #[arg(long)]
    label: Option<String>,
    #[arg(long, default_value = "uuid")]
    id_style: IdStyle,
    #[arg(long)]
    stay: bool,
}

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let Arguments { cut: at, label, id_style, stay } = arguments(&COMMAND, rest)?;
    let at = at.map(|word| cut(&word)).transpose()?;
    let named = |source| forklore_engine::Error::Name { what: "label", source };
    let label = label.map(|label| label.parse().map_err(named)).transpose()?;
    let parent = chat.header()?;
    let forking = chat.conversation.fork(BranchOptions { at, label, id_style, stay });
    let forked = chat.foreground.block_on(forking)?;
    let (label, messages) = (forked.label.to_string(), count(forked.cut.index, "message"));
    if stay {
        chat.screen.words(&[
            (Tone::Good, "Forked to "),
            (Tone::Label, &label),
            (Tone::Dim, &format!(", behind {messages}; /switch {label} goes there")),
        ]);
        return Ok(Next::Line);
    }
    chat.screen.words(&[
        (Tone::Good, "Now on "),
        (Tone::Label, &label),
        (Tone::Dim, &format!(", behind {messages} of {}; /back returns", parent.label)),
    ]);
    Ok(Next::Line)
}
