//! The line editor of a terminal.
//!
//! It reads in a thread of its own, because nothing but a key ends its waiting: so a conversation
//! that is to end at its prompt ends in order.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

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
use tokio::task::JoinHandle;

use super::terminal::Terminal;
use super::{Input, Line, Offered};
use crate::{Stop, Supplies};

/// Lines that are remembered.
const REMEMBERED: usize = 1000;

/// A terminal's line editor. What was typed is remembered in a file that only its owner may read.
pub struct Editor {
    asked: Sender<Asked>,
    heard: Receiver<Heard>,
    terminal: Terminal,
    listening: JoinHandle<()>,
    stopped: Option<Stop>,
    /// Whether the thread was left in the middle of a line.
    is_left: bool,
}

/// What the thread is to read.
enum Asked {
    Line(String, Offered),
    Answer(String),
}

/// What came of it, or what came between.
enum Heard {
    Read(Result<String, ReadlineError>),
    Stopped(Stop),
}

impl Editor {
    /// An editor that remembers lines in `history`, if one is named, and hears what ends
    /// a conversation.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn new(history: Option<PathBuf>, supplies: &Supplies) -> std::io::Result<Self> {
        let terminal = Terminal::now();
        let mut reader = Reader::new(history).map_err(std::io::Error::other)?;
        let (asked, asks) = channel();
        let (tell, heard) = channel();
        let mut interrupts = supplies.interrupts();
        let stops = tell.clone();
        let listening = supplies.runtime().spawn(async move {
            // Nobody listens any more only when the conversation is over.
            while stops.send(Heard::Stopped(interrupts.end().await)).is_ok() {}
        });
        std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            while let Ok(asked) = asks.recv() {
                if tell.send(Heard::Read(reader.read(asked))).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { asked, heard, terminal, listening, stopped: None, is_left: false })
    }

    fn read(&mut self, asked: Asked) -> Result<Result<String, ReadlineError>, Stop> {
        // One that came during a turn is heard before the terminal is touched again.
        if let Ok(Heard::Stopped(stop)) = self.heard.try_recv() {
            self.stopped = Some(stop);
        }
        if let Some(stop) = self.stopped {
            return Err(stop);
        }
        // A thread that is gone took the terminal along.
        let gone = || Ok(Err(ReadlineError::Eof));
        if self.asked.send(asked).is_err() {
            return gone();
        }
        match self.heard.recv() {
            Ok(Heard::Read(read)) => Ok(read),
            Ok(Heard::Stopped(stop)) => {
                self.stopped = Some(stop);
                // The thread goes on waiting for a key until the program is gone.
                self.is_left = true;
                self.terminal.set();
                Err(stop)
            }
            Err(_) => gone(),
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.listening.abort();
        if self.is_left {
            // It may have begun with its line only then.
            self.terminal.set();
        }
    }
}

impl Input for Editor {
    fn line(&mut self, prompt: &str, offered: Offered) -> Line {
        match self.read(Asked::Line(prompt.to_owned(), offered)) {
            Ok(Ok(line)) => Line::Said(line.replace("\\\n", "\n")),
            Ok(Err(ReadlineError::Interrupted)) => Line::Interrupted,
            Ok(Err(_)) => Line::End,
            Err(stop) => Line::Stopped(stop),
        }
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        self.read(Asked::Answer(question.to_owned())).ok()?.ok()
    }
}

/// The line editor itself.
struct Reader {
    editor: LineEditor<Words, FileHistory>,
    history: Option<PathBuf>,
}

impl Reader {
    fn new(history: Option<PathBuf>) -> rustyline::Result<Self> {
        let config = Config::builder()
            .max_history_size(REMEMBERED)?
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .build();
        let mut editor = LineEditor::with_config(config)?;
        editor.set_helper(Some(Words::default()));
        let newline = KeyEvent(KeyCode::Enter, Modifiers::ALT);
        editor.bind_sequence(newline, EventHandler::Simple(Cmd::Newline));
        if let Some(history) = &history {
            // A first time has none.
            let _ = editor.load_history(history);
        }
        Ok(Self { editor, history })
    }

    fn read(&mut self, asked: Asked) -> rustyline::Result<String> {
        match asked {
            Asked::Line(prompt, offered) => {
                self.offer(offered);
                let line = self.editor.readline(&prompt)?;
                self.remember(&line);
                Ok(line)
            }
            Asked::Answer(question) => {
                self.offer(Offered::default());
                self.editor.readline(&question)
            }
        }
    }

    fn offer(&mut self, offered: Offered) {
        if let Some(words) = self.editor.helper_mut() {
            words.offered = offered;
        }
    }

    fn remember(&mut self, line: &str) {
        let Some(history) = &self.history else { return };
        if self.editor.add_history_entry(line).is_ok_and(|added| added) {
            // A line that is not remembered is no reason to stop.
            let _ = self.editor.append_history(history);
        }
    }
}

#[derive(Default)]
struct Words {
    offered: Offered,
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
