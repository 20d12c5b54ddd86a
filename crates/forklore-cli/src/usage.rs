//! Errors of the command line: what was typed, what it may be, and the command corrected.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};
use forklore_sanitize::shell::quoted;

use crate::failure::Failure;
use crate::synonyms;

/// The least similarity, from 0 to 1, of a word that replaces the typed word in a suggestion.
const SIMILAR: f64 = 0.6;
/// The maximum number of characters of typed text that an error repeats.
const REPEATED: usize = 60;

/// Converts a usage error to a failure that quotes what was typed. `words` is the command line, and
/// `program` its definition.
pub(crate) fn failure(error: &clap::Error, words: &[OsString], program: &clap::Command) -> Failure {
    let typed = Typed::of(words, program);
    let specific = match error.kind() {
        ClapKind::InvalidSubcommand => typed.unknown_command(error),
        ClapKind::UnknownArgument => typed.unknown_argument(error),
        ClapKind::InvalidValue => typed.unknown_value(error),
        ClapKind::MissingRequiredArgument => typed.missing(error),
        ClapKind::MissingSubcommand | ClapKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            typed.missing_command()
        }
        _ => None,
    };
    let help = format!("{} --help", typed.name);
    specific.unwrap_or_else(|| Failure::invalid(message(error))).or_try(help)
}

/// Returns the error for the value `typed`, which is none of `words`. If one of `words` is similar,
/// suggests the command line of this run with that word in the place of `typed`.
pub(crate) fn no_such<'a>(
    message: impl Into<String>,
    typed: &str,
    words: impl IntoIterator<Item = &'a str>,
) -> Failure {
    match similar(typed, words) {
        Some(right) => rather(message, typed, right),
        None => Failure::invalid(message),
    }
}

/// Returns an error that suggests the command line of this run with `right` in the place of `typed`.
pub(crate) fn rather(message: impl Into<String>, typed: &str, right: &str) -> Failure {
    let line: Vec<OsString> = std::env::args_os().collect();
    Failure::invalid(message).or_try(corrected(&line, typed, right))
}

/// Quotes text that was typed, for an error message. A hostile or long text is not repeated
/// (docs/semantics.md, Envelope).
pub(crate) fn typed(text: &str) -> String {
    let is_plain = text.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    if is_plain && text.len() <= REPEATED { format!("`{text}`") } else { "`...`".to_owned() }
}

/// A command line that could not be parsed.
struct Typed<'a> {
    words: &'a [OsString],
    program: &'a clap::Command,
    /// The command, which may be an inner one, such as that of `config check`.
    command: &'a clap::Command,
    /// The command as it is typed, such as `forklore config check`.
    name: String,
}

impl<'a> Typed<'a> {
    fn of(words: &'a [OsString], program: &'a clap::Command) -> Self {
        let mut typed = Self { words, program, command: program, name: "forklore".to_owned() };
        for word in words.iter().skip(1) {
            if let Some(inner) = typed.command.find_subcommand(word) {
                typed.command = inner;
                typed.name = format!("{} {}", typed.name, inner.get_name());
            }
        }
        typed
    }

    fn unknown_command(&self, error: &clap::Error) -> Option<Failure> {
        let word = text(error, ContextKind::InvalidSubcommand)?;
        let is_outer = std::ptr::eq(self.command, self.program);
        if let Some(command) = synonyms::command(word).filter(|_| is_outer) {
            let message = format!("forklore has no command `{word}`, but `{command}` does that");
            return Some(Failure::invalid(message).or_try(corrected(self.words, word, command)));
        }
        let message = format!("{} has no command {}", self.name, typed(word));
        let commands = self.command.get_subcommands().map(clap::Command::get_name);
        Some(self.no_such(message, word, commands))
    }

    fn unknown_argument(&self, error: &clap::Error) -> Option<Failure> {
        let word = text(error, ContextKind::InvalidArg)?;
        let (name, quoted) = (&self.name, typed(word));
        if !word.starts_with('-') {
            let message = format!("{name} takes nothing more, but {quoted} follows");
            return Some(Failure::invalid(message));
        }
        let own = self.command.get_arguments();
        let global = self.program.get_arguments().filter(|arg| arg.is_global_set());
        let options = own.chain(global).filter_map(clap::Arg::get_long);
        let options: Vec<_> = options.map(|option| format!("--{option}")).collect();
        let message = format!("{name} has no option {quoted}");
        Some(self.no_such(message, word, options.iter().map(String::as_str)))
    }

    fn unknown_value(&self, error: &clap::Error) -> Option<Failure> {
        let value = text(error, ContextKind::InvalidValue)?;
        let Some(ContextValue::Strings(possible)) = error.get(ContextKind::ValidValue) else {
            return None;
        };
        let (last, others) = possible.split_last()?;
        let argument = text(error, ContextKind::InvalidArg)?.replace(['<', '>', '[', ']'], "");
        let possible_words = match others {
            [] => last.clone(),
            others => format!("{} or {last}", others.join(", ")),
        };
        let message = if value.is_empty() {
            format!("{argument} needs a value: {possible_words}")
        } else {
            format!("{argument} takes {possible_words}, not {}", typed(value))
        };
        Some(self.no_such(message, value, possible.iter().map(String::as_str)))
    }

    fn missing(&self, error: &clap::Error) -> Option<Failure> {
        let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
            return None;
        };
        let missing: Vec<_> = missing.iter().map(|it| it.replace(['<', '>'], "")).collect();
        let failure = Failure::invalid(format!("{} needs {}", self.name, missing.join(" and ")));
        Some(failure.or_try(format!("{} {}", line(self.words), missing.join(" "))))
    }

    fn missing_command(&self) -> Option<Failure> {
        let commands: Vec<_> =
            self.command.get_subcommands().map(clap::Command::get_name).collect();
        let first = commands.first()?;
        let failure =
            Failure::invalid(format!("{} needs a command: {}", self.name, commands.join(", ")));
        Some(failure.or_try(format!("{} {first}", line(self.words))))
    }

    /// Returns an error that suggests the command line with the word that is similar to `typed`.
    fn no_such<'w>(
        &self,
        message: String,
        typed: &str,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Failure {
        let failure = Failure::invalid(message);
        match similar(typed, words) {
            Some(right) => failure.or_try(corrected(self.words, typed, right)),
            None => failure,
        }
    }
}

/// Returns clap's message and tips, without its usage block. `...` replaces a value that is not
/// plain ASCII text, because it may be hostile.
fn message(error: &clap::Error) -> String {
    let mut text = error.render().to_string();
    for (_, value) in error.context() {
        if let ContextValue::String(value) = value
            && !value.chars().all(|c| c == ' ' || c.is_ascii_graphic())
        {
            text = text.replace(value.as_str(), "...");
        }
    }
    let lines = text
        .trim_start_matches("error: ")
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        // Drop clap's tip to pass a flag as a value: it does not help with a mistyped flag.
        .filter(|line| !line.is_empty() && !line.starts_with("tip: to pass"));
    lines.collect::<Vec<_>>().join(" ")
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns the word that is most similar to `typed`. Returns `None` if none is similar enough to be
/// meant. A word that is equal to `typed` was refused, so it is not meant.
fn similar<'a>(typed: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |word: &str| strsim::normalized_damerau_levenshtein(typed, word);
    let others = words.into_iter().filter(|word| *word != typed);
    let words = others.map(|word| (likeness(word), word));
    let (likeness, word) = words.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness >= SIMILAR).then_some(word)
}

/// Returns the command line with `right` in the place of the word `typed`, which may also be the
/// value in `--option=value`. Spaces in `right` separate words.
fn corrected(words: &[OsString], typed: &str, right: &str) -> String {
    let value = format!("={typed}");
    let mut right = Some(right);
    let mut corrected = Vec::with_capacity(words.len() + 1);
    for (at, word) in words.iter().enumerate() {
        let text = word.to_string_lossy();
        let option = text.strip_suffix(&value);
        let is_meant = at > 0 && (*text == *typed || option.is_some());
        match right.filter(|_| is_meant) {
            None => corrected.push(word.clone()),
            Some(found) => {
                right = None;
                match option {
                    Some(option) => corrected.push(format!("{option}={found}").into()),
                    None => corrected.extend(found.split(' ').map(OsString::from)),
                }
            }
        }
    }
    line(&corrected)
}

/// Returns the command line as the user would type it.
fn line(words: &[OsString]) -> String {
    let words = words.iter().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("forklore".into()).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_meant_is_suggested() {
        let meant = |typed, words: &[&'static str]| similar(typed, words.iter().copied());
        assert_eq!(meant("trun", &["start", "turn", "end"]), Some("turn"));
        assert_eq!(meant("--lable", &["--at", "--label"]), Some("--label"));
        assert_eq!(meant("clude", &["codex", "claude"]), Some("claude"));
        assert_eq!(meant("foo", &["root", "branch", "delegate"]), None);
        assert_eq!(meant("rm", &["resume-in", "gc"]), None);
        assert_eq!(meant("x", &[]), None);
    }

    #[test]
    fn a_word_or_a_value_is_corrected() {
        let words = ["forklore", "fork", "a b", "--at=trun:1"].map(OsString::from);
        assert_eq!(corrected(&words, "trun:1", "turn:1"), "forklore fork 'a b' --at=turn:1");
        let words = ["forklore", "lsit", "--all"].map(OsString::from);
        assert_eq!(corrected(&words, "lsit", "list"), "forklore list --all");
        let words = ["forklore", "undo", "3"].map(OsString::from);
        assert_eq!(corrected(&words, "undo", "op undo"), "forklore op undo 3");
    }

    #[test]
    fn what_may_be_hostile_is_not_repeated() {
        assert_eq!(typed("trun:1"), "`trun:1`");
        assert_eq!(typed("\u{1b}[31m"), "`...`");
        assert_eq!(typed(&"x".repeat(100)), "`...`");
    }
}
