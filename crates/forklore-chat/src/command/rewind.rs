//! `/rewind`: back to an earlier place, as a fork: what is left stays where it is.

use forklore_core::Selector;
use forklore_engine::Fork;

use super::fork::count;
use super::{Command, Next, Takes, at_most_one, cut, words};
use crate::chat::Chat;
use crate::screen::Tone;
use crate::{Error, Result};

pub(super) const COMMAND: Command = Command {
    name: "rewind",
    usage: "[CUT]",
    does: "take the last turn back, or all behind CUT, by going on in a fork",
    takes: Takes::Cut,
    options: &[],
    examples: &[
        ("/rewind", "take the last turn back"),
        ("/rewind turn:1", "keep the first turn only"),
        ("/rewind start", "keep nothing"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let word = at_most_one(&COMMAND, words(rest)?)?;
    let parent = chat.header()?;
    let at = match word {
        Some(word) => cut(&word)?,
        None => match parent.counts.turns {
            0 => return Err(Error::words("nothing was said yet")),
            1 => Selector::Start,
            _ => Selector::Turn(-2),
        },
    };
    let branched = chat.fork(Fork::of(parent.id).at(at))?;
    let (label, messages) = (branched.forked.label.to_string(), branched.forked.cut.index);
    chat.go_to(branched.child)?;
    chat.screen.words(&[
        (Tone::Good, "Rewound to "),
        (Tone::Plain, &count(messages, "message")),
        (Tone::Dim, ", now on "),
        (Tone::Label, &label),
        (Tone::Dim, &format!("; {} keeps the rest, /back returns to it", parent.label)),
    ]);
    Ok(Next::Line)
}
