//! Writes the help of the program, with the commands grouped by purpose.

use clap::builder::StyledStr;

/// The groups of commands in the order of the help, each with its heading and its commands.
const GROUPS: [(&str, &[&str]); 9] = [
    ("Talk to an agent", &["chat", "resume", "explore"]),
    (
        "Write",
        &[
            "new", "append", "attach", "import", "fork", "bring", "label", "rename", "detach",
            "delete", "undelete", "redact", "op",
        ],
    ),
    (
        "Read",
        &[
            "ui", "list", "show", "log", "replay", "inspect", "tree", "branches", "lineage",
            "diff", "search", "blame", "stats",
        ],
    ),
    ("Files and conversation", &["snapshot", "rewind", "undo", "worktrees", "hooks"]),
    ("Take out", &["export", "resume-in", "restore", "graph", "sparql"]),
    ("Move between stores", &["push", "pull", "clone", "handoff", "remote"]),
    ("Take care", &["verify", "anchor", "doctor", "backup", "gc", "pack"]),
    ("Serve others", &["serve", "token", "mcp", "install"]),
    ("Set up", &["config", "tier", "completions", "man", "help"]),
];

/// Returns the definition of the program with a help text that groups the commands.
pub(crate) fn grouped(program: clap::Command) -> clap::Command {
    let template = template(&program);
    program.help_template(template)
}

fn template(program: &clap::Command) -> StyledStr {
    use std::fmt::Write;

    let styles = program.get_styles();
    let (heading, literal) = (styles.get_header(), styles.get_literal());
    let mut text = StyledStr::from("{about}\n\n{usage-heading} {usage}\n");
    for (name, verbs) in GROUPS {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{heading}{name}:{heading:#}\n");
        for verb in verbs {
            let Some(about) = about(program, verb) else { continue };
            let _ = writeln!(text, "  {literal}{verb}{literal:#}{:1$}{about}", "", 13 - verb.len());
        }
    }
    let _ = write!(text, "\n{heading}Options:{heading:#}\n{{options}}{{after-help}}");
    text
}

/// Returns the description of a command, or `None` if this build does not contain the command.
fn about(program: &clap::Command, verb: &str) -> Option<String> {
    if verb == "help" {
        return Some("Print this, or the help of a command with its examples".to_owned());
    }
    Some(program.find_subcommand(verb)?.get_about()?.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_command_stands_in_one_group() {
        let program = Cli::command();
        let verbs: BTreeSet<_> = program.get_subcommands().map(clap::Command::get_name).collect();
        let grouped: Vec<_> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        let once: BTreeSet<_> = grouped.iter().copied().filter(|verb| *verb != "help").collect();
        assert_eq!(grouped.len(), once.len() + 1);
        assert!(verbs.is_subset(&once), "{verbs:?}");
        // Without a feature, a group names commands that the program does not have.
        let is_whole = cfg!(all(feature = "graph", feature = "postgres", feature = "server"));
        assert!(!is_whole || once == verbs, "{once:?}");
    }
}
