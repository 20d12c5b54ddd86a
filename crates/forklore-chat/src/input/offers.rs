//! Completion of a line: the names of commands, and their arguments.

/// The commands that completion offers, and the names that it offers as their arguments.
#[derive(Clone, Debug, Default)]
pub struct Offers {
    /// The slash commands, in the order in which completion lists them.
    pub commands: Vec<OfferedCommand>,
    /// The labels (`@label`) and ids of sessions that completion offers. The labels are from the
    /// current session's family (all sessions with one root), the ids from the conversation's
    /// folder.
    pub sessions: Vec<String>,
    /// Cuts of the current session, as selectors such as `turn:2`.
    pub cuts: Vec<String>,
    /// The names of the configured models.
    pub models: Vec<String>,
    /// The names of the agents in whose format a session can be exported.
    pub formats: Vec<String>,
}

/// A slash command that completion offers.
#[derive(Clone, Copy, Debug)]
pub struct OfferedCommand {
    /// The name of the command, without the slash.
    pub name: &'static str,
    /// The one-line description of the command.
    pub help: &'static str,
    /// The kind of the command's argument.
    pub argument: Argument,
    /// The options that the command accepts, each with its leading dashes.
    pub options: &'static [&'static str],
}

/// The kind of argument that a command takes, for completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The command takes no argument or any text, so nothing is completed.
    Text,
    /// A session: its label or id.
    Session,
    /// A cut of the current session.
    Cut,
    /// The name of a configured model.
    Model,
    /// The path of a file.
    File,
    /// The name of another command.
    Command,
}

impl Offers {
    /// Returns the byte offset at which the last word of `line` begins, and the completions of that
    /// word. Each completion is paired with the text that the list of completions shows. A line
    /// that is not a command has no completions.
    pub(super) fn fitting(&self, line: &str) -> (usize, Vec<(String, String)>) {
        let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let typed = line.get(start..).unwrap_or_default();
        if !line.starts_with('/') {
            return (line.len(), Vec::new());
        }
        let fits = |word: &str| {
            word.starts_with(typed) || word.strip_prefix('@').is_some_and(|l| l.starts_with(typed))
        };
        if start == 0 {
            let commands = self.commands.iter().map(|command| {
                let name = format!("/{}", command.name);
                let shown = format!("{name:<12} {}", command.help);
                (name, shown)
            });
            return (0, commands.filter(|(name, _)| fits(name)).collect());
        }
        let words = self.words(line);
        let fitting = words.into_iter().filter(|word| fits(word) && is_plain(word));
        (start, fitting.map(|word| (word.clone(), word)).collect())
    }

    fn words(&self, line: &str) -> Vec<String> {
        let Some(command) = self.command_of(line) else { return Vec::new() };
        match word_before(line) {
            Some("--into") => return self.sessions.clone(),
            Some("--at") => return self.cuts.clone(),
            Some("--to") => return self.formats.clone(),
            Some("--models") => return self.models.clone(),
            _ => {}
        }
        let mut words: Vec<String> =
            command.options.iter().map(|option| (*option).to_owned()).collect();
        let offered: &[String] = match command.argument {
            Argument::Session => &self.sessions,
            Argument::Cut => &self.cuts,
            Argument::Model => &self.models,
            Argument::Command => {
                words.extend(self.commands.iter().map(|command| command.name.to_owned()));
                &[]
            }
            Argument::Text | Argument::File => &[],
        };
        words.extend_from_slice(offered);
        words
    }

    /// Checks whether the last word of `line` is an argument that takes a file name.
    pub(super) fn completes_file(&self, line: &str) -> bool {
        let Some(command) = self.command_of(line) else { return false };
        let word = line.rsplit(char::is_whitespace).next().unwrap_or_default();
        match word_before(line) {
            Some("--prompts") => true,
            Some(before) if before.starts_with("--") => false,
            _ => match command.argument {
                Argument::File => !word.starts_with('-'),
                Argument::Session => word.contains('/'),
                _ => false,
            },
        }
    }

    /// Returns the command that `line` begins with. Returns `None` if no white space follows the
    /// command's name yet.
    fn command_of(&self, line: &str) -> Option<&OfferedCommand> {
        let (name, _) = line.strip_prefix('/')?.split_once(char::is_whitespace)?;
        self.commands.iter().find(|command| command.name == name)
    }
}

/// Returns the word before the word that is being completed. The completed word is the last word of
/// `line`, or an empty word if `line` ends with white space.
fn word_before(line: &str) -> Option<&str> {
    let whole = line.ends_with(char::is_whitespace);
    line.split_whitespace().rev().nth(usize::from(!whole))
}

/// Checks that a word has only plain characters. Completion copies stored text into a line that the
/// user enters, so words with other characters are not offered.
fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || "@-_.:=".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::COMMANDS;
    use crate::command::definition::Command;

    fn offers() -> Offers {
        Offers {
            commands: COMMANDS.iter().map(Command::offer).collect(),
            sessions: vec!["@main".into(), "@plan-b".into(), "@bad\u{202e}".into()],
            cuts: vec!["turn:1".into(), "turn:2".into(), "end".into()],
            models: vec!["local".into()],
            formats: vec!["claude".into()],
        }
    }

    fn fitting(line: &str) -> Vec<String> {
        offers().fitting(line).1.into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn commands_and_their_arguments_are_offered() {
        assert_eq!(fitting("/fo"), ["/fork"]);
        assert_eq!(fitting("/switch @"), ["@main", "@plan-b"]);
        assert_eq!(fitting("/switch pl"), ["@plan-b"]);
        assert_eq!(fitting("/fork t"), ["turn:1", "turn:2"]);
        assert_eq!(fitting("/fork turn:1 --s"), ["--stay"]);
        assert_eq!(fitting("/bring @plan-b --into @m"), ["@main"]);
        assert_eq!(fitting("/model "), ["local"]);
        assert_eq!(fitting("/export x.jsonl --to c"), ["claude"]);
        assert_eq!(fitting("/help rew"), ["rewind"]);
        assert_eq!(fitting("what /fo"), Vec::<String>::new());
    }

    #[test]
    fn files_complete_where_a_command_takes_one() {
        for line in [
            "/export ",
            "/export ta",
            "/explore --prompts wa",
            "/export --to pi ta",
            "/resume ./ta",
        ] {
            assert!(offers().completes_file(line), "{line}");
        }
        for line in [
            "/export",
            "/export --t",
            "/export x --to ",
            "/fork x",
            "/explore wa",
            "/resume ta",
            "ta",
        ] {
            assert!(!offers().completes_file(line), "{line}");
        }
    }
}
