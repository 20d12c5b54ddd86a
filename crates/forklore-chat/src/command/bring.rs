//! `/bring`: what another branch came to, told here.

use super::{Command, Next, Takes, at_most_one, option, words};
use crate::chat::Chat;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "bring",
    usage: "SESSION [--into SESSION] [--by model]",
    does: "tell this session what another branch came to",
    takes: Takes::Session,
    options: &["--into", "--by"],
    examples: &[
        ("/bring plan-b", "tell this session of it"),
        ("/bring plan-b --by model", "summed up by the model"),
        ("/bring main --into plan-b", "tell another branch"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let mut words = words(rest)?;
    let into = option(&mut words, "--into")?;
    let by = option(&mut words, "--by")?.unwrap_or_else(|| "deterministic".to_owned());
    let Some(branch) = at_most_one(&COMMAND, words)? else {
        return Err(Error::words("/bring SESSION: /branches shows those of this family"));
    };
    let branch = chat.find(&branch)?;
    let into = match into {
        Some(into) => chat.find(&into)?,
        None => chat.header()?,
    };
    let by = format!("--summarize={by}");
    chat.verb(&["bring", branch.id.as_str(), "--into", into.id.as_str(), &by]);
    Ok(Next::Line)
}
