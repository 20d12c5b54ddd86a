//! `forklore` without a command: shows the first steps.

use crate::failure::{Failure, Result};
use crate::output::{Output, Tone};

const STEPS: [(&str, &str); 6] = [
    ("forklore import ~/.claude/projects", "read the sessions of an agent you use"),
    ("forklore list", "see what is there"),
    ("forklore replay last", "read a session"),
    ("forklore fork last --at turn:2", "go on from its second turn, on a branch"),
    ("forklore tree last", "see the branches"),
    ("forklore diff last@main last", "see what they do differently"),
];

/// Shows the first steps for a new user. With `--json`, returns a usage error.
pub(super) fn run(output: &mut Output) -> Result<()> {
    if output.is_json() {
        return Err(Failure::invalid("no command was given").or_try("forklore --help"));
    }
    output.page(|page| {
        page.put(Tone::Strong, "forklore").put(Tone::Plain, " keeps the sessions of AI agents. ");
        page.put(Tone::Plain, "Fork one at any point, go on in").end();
        page.put(Tone::Plain, "each branch, see the tree and what differs; nothing is ever lost.")
            .end();
        page.end().put(Tone::Plain, "Begin here:").end();
        for (command, does) in STEPS {
            page.put(Tone::Strong, format!("  {command:<36}")).put(Tone::Dim, does).end();
        }
        page.end().put(Tone::Plain, "Or without an agent:").end();
        page.put(Tone::Strong, "  forklore new --title \"A plan\"").end();
        page.put(Tone::Strong, "  forklore append last --text \"plan A or plan B?\"").end();
        page.end().put(Tone::Plain, "All commands: ").put(Tone::Strong, "forklore --help").end();
    })
}
