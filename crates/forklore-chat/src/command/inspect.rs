//! `/inspect`: shows the request that the model would receive.

use super::definition::{Command, Next};
use crate::chat::Chat;
use crate::input::Argument;
use crate::{Result, View};

pub(super) const COMMAND: Command = Command {
    name: "inspect",
    usage: "",
    help: "show what the model would receive now",
    argument: Argument::Text,
    options: &[],
    examples: &[("/inspect", "with summaries applied; the numbers are those of /turns and /fork")],
    run,
};

fn run(chat: &mut Chat<'_>, _: &str) -> Result<Next> {
    let here = chat.header()?;
    chat.view(View::Inspect(here));
    Ok(Next::Line)
}
