//! The line editor of a terminal.

use std::path::PathBuf;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, CompletionType, Config, Context, Editor as LineEditor, EventHandler, Helper, KeyCode,
    KeyEvent, Modifiers,
};

use super::{Input, Line, Offered};

/// Lines that are remembered.
const REMEMBERED: usize = 1000;

/// A terminal's line editor. What was typed is remembered in a file that only its owner may read.
pub struct Editor {
    editor: LineEditor<Words, FileHistory>,
    history: Option<PathBuf>,
}

#[derive(Default)]
struct Words {
    offered: Offered,
}

impl Editor {
    /// An editor that remembers lines in `history`, if one is named.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn new(history: Option<PathBuf>) -> std::io::Result<Self> {
        let failed = |error: ReadlineError| std::io::Error::other(error);
        let config = Config::builder()
            .max_history_size(REMEMBERED)
            .map_err(failed)?
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .build();
        let mut editor = LineEditor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(Words::default()));
        let newline = KeyEvent(KeyCode::Enter, Modifiers::ALT);
        editor.bind_sequence(newline, EventHandler::Simple(Cmd::Newline));
        if let Some(history) = &history {
            // A first time has none.
            let _ = editor.load_history(history);
        }
        Ok(Self { editor, history })
    }

    fn remember(&mut self, line: &str) {
        let Some(history) = &self.history else { return };
        if self.editor.add_history_entry(line).is_ok_and(|added| added) {
            // A line that is not remembered is no reason to stop.
            let _ = self.editor.append_history(history);
        }
    }
}

impl Input for Editor {
    fn line(&mut self, prompt: &str, offered: Offered) -> Line {
        if let Some(words) = self.editor.helper_mut() {
            words.offered = offered;
        }
        match self.editor.readline(prompt) {
            Ok(line) => {
                self.remember(&line);
                Line::Said(line.replace("\\\n", "\n"))
            }
            Err(ReadlineError::Interrupted) => Line::Interrupted,
            Err(_) => Line::End,
        }
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        if let Some(words) = self.editor.helper_mut() {
            words.offered = Offered::default();
        }
        self.editor.readline(question).ok()
    }
}

impl Helper for Words {}
impl Highlighter for Words {}

impl Hinter for Words {
    type Hint = String;
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, fitting) = self.offered.fitting(line.get(..pos).unwrap_or_default());
        let pairs = fitting
            .into_iter()
            .map(|(word, shown)| Pair { display: shown, replacement: format!("{word} ") });
        Ok((start, pairs.collect()))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let whole = is_whole(context.input());
        Ok(if whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

/// Whether Enter says a text: not within a block of code, nor behind a backslash.
fn is_whole(text: &str) -> bool {
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
    fences % 2 == 0 && !text.ends_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_says_what_is_whole() {
        for whole in ["", "a", "a\nb", "```\na\n```", "a \\\nb"] {
            assert!(is_whole(whole), "{whole:?}");
        }
        for begun in ["a\\", "```", "see\n```rust\nfn main() {}"] {
            assert!(!is_whole(begun), "{begun:?}");
        }
    }
}
