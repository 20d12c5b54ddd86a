//! `/fork`: another continuation, and on in it.

use forklore_engine::Fork;

use super::{Command, Next, Takes, at_most_one, cut, flag, option, words};
use crate::Result;
use crate::chat::Chat;
use crate::screen::Tone;

pub(super) const COMMAND: Command = Command {
    name: "fork",
    usage: "[CUT] [--label NAME] [--stay]",
    does: "go on in another branch, from here or from an earlier place",
    takes: Takes::Cut,
    options: &["--label", "--stay"],
    examples: &[
        ("/fork", "from here, on a branch with a name of its own"),
        ("/fork 3 --label plan-b", "behind message 3"),
        ("/fork turn:2", "behind the second turn"),
        ("/fork -1 --stay", "make a branch, and stay here"),
    ],
    run,
};

fn run(chat: &mut Chat<'_>, rest: &str) -> Result<Next> {
    let mut words = words(rest)?;
    let stay = flag(&mut words, "--stay");
    let label = option(&mut words, "--label")?;
    let label = label.map(|label| {
        label.parse().map_err(|source| forklore_engine::Error::Name { what: "label", source })
    });
    let at = at_most_one(&COMMAND, words)?.map(|word| cut(&word)).transpose()?;
    let parent = chat.header()?;
    let request = Fork { at, label: label.transpose()?, ..Fork::of(parent.id) };
    let branched = chat.fork(request)?;
    let (label, messages) = (branched.forked.label.to_string(), branched.forked.cut.index);
    if stay {
        chat.screen.words(&[
            (Tone::Good, "Forked to "),
            (Tone::Label, &label),
            (
                Tone::Dim,
                &format!(", behind {}; /switch {label} goes there", count(messages, "message")),
            ),
        ]);
        return Ok(Next::Line);
    }
    chat.go_to(branched.child)?;
    chat.screen.words(&[
        (Tone::Good, "Now on "),
        (Tone::Label, &label),
        (
            Tone::Dim,
            &format!(", behind {} of {}; /back returns", count(messages, "message"), parent.label),
        ),
    ]);
    Ok(Next::Line)
}

pub(crate) fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
