//! Other names of the commands, which people know from other programs.

/// Words that are no commands, each with the command that does what it means elsewhere.
const SYNONYMS: [(&str, &str); 33] = [
    ("add", "append"),
    ("ask", "chat"),
    ("branch", "fork"),
    ("cat", "replay"),
    ("check", "doctor"),
    ("checkout", "resume"),
    ("clone", "fork"),
    ("compare", "diff"),
    ("continue", "resume"),
    ("cp", "fork"),
    ("create", "new"),
    ("discover", "import"),
    ("duplicate", "fork"),
    ("fsck", "verify"),
    ("go", "resume"),
    ("history", "log"),
    ("info", "show"),
    ("init", "new"),
    ("join", "bring"),
    ("load", "import"),
    ("ls", "list"),
    ("merge", "bring"),
    ("mv", "rename"),
    ("name", "rename"),
    ("open", "resume"),
    ("print", "replay"),
    ("prune", "gc"),
    ("read", "replay"),
    ("remove", "delete"),
    ("rm", "delete"),
    ("sessions", "list"),
    ("title", "rename"),
    ("undo", "op"),
];

/// Returns the command that does what `word` means in other programs.
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
            assert!(program.find_subcommand(command).is_some(), "{command}");
        }
        assert!(SYNONYMS.is_sorted());
        assert_eq!((command("rm"), command("delete")), (Some("delete"), None));
    }
}
