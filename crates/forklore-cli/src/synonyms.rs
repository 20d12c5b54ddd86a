//! Other names of the commands, which people know from other programs.

/// Names of commands of other programs, each with the command of this program that its users look
/// for.
const SYNONYMS: [(&str, &str); 42] = [
    ("add", "append"),
    ("ask", "chat"),
    ("attest", "anchor"),
    ("branch", "fork"),
    ("browse", "ui"),
    ("cat", "replay"),
    ("check", "doctor"),
    ("checkout", "resume"),
    ("compare", "diff"),
    ("continue", "resume"),
    ("cp", "fork"),
    ("create", "new"),
    ("discover", "import"),
    ("dump", "backup"),
    ("duplicate", "fork"),
    ("fsck", "verify"),
    ("go", "resume"),
    ("gui", "ui"),
    ("history", "log"),
    ("info", "show"),
    ("init", "new"),
    ("join", "bring"),
    ("listen", "serve"),
    ("load", "import"),
    ("ls", "list"),
    ("merge", "bring"),
    ("mv", "rename"),
    ("name", "rename"),
    ("open", "resume"),
    ("operations", "op log"),
    ("print", "replay"),
    ("prune", "gc"),
    ("read", "replay"),
    ("remove", "delete"),
    ("revert", "rewind"),
    ("rm", "delete"),
    ("sessions", "list"),
    ("settings", "config"),
    ("title", "rename"),
    ("tui", "ui"),
    ("view", "ui"),
    ("web", "serve"),
];

/// Returns the command that does what `word` means in other programs, or `None` if `word` is not in
/// the list.
pub(crate) fn command(word: &str) -> Option<&'static str> {
    SYNONYMS.iter().find(|(synonym, _)| *synonym == word).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn synonyms_are_no_commands_and_name_one() {
        let program = Cli::command();
        for (synonym, command) in SYNONYMS {
            assert!(program.find_subcommand(synonym).is_none(), "{synonym}");
            let words: Vec<_> = command.split(' ').collect();
            let outer = program.find_subcommand(words[0]).unwrap();
            assert!(words[1..].iter().all(|it| outer.find_subcommand(it).is_some()), "{command}");
        }
        assert!(SYNONYMS.is_sorted());
        assert_eq!((command("rm"), command("delete")), (Some("delete"), None));
    }
}
