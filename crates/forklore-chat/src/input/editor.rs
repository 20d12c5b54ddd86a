//! The line editor of a terminal.
//!
//! It reads in a thread of its own, because nothing but a key ends its waiting: so a conversation
//! that is to end at its prompt ends in order.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustyline::completion::{Completer, FilenameCompleter, Pair};
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

use super::ahead::Ahead;
use super::complete::is_file;
use super::quiet::Quiet;
use super::terminal::{Terminal, show};
use super::{Input, Line, Offered, is_whole, question, quiet};
use crate::{Stop, Supplies};

/// Lines that are remembered.
const REMEMBERED: usize = 1000;

/// A terminal's line editor. What was typed is remembered in a file that only its owner may read.
/// Between two lines nothing that is typed is shown: it waits for the next one.
pub struct Editor {
    asked: Sender<Asked>,
    heard: Receiver<Heard>,
    terminal: Terminal,
    listening: JoinHandle<()>,
    stopped: Option<Stop>,
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
        Ok(Self { asked, heard, terminal, listening, stopped: None })
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
        // Between two lines the terminal is quiet, and a thread that was left may have begun with
        // its line only then.
        quiet::unmark_pastes();
        self.terminal.set();
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
    ahead: Ahead,
    quiet: Option<Quiet>,
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
        Ok(Self { editor, history, ahead: Ahead::default(), quiet: None })
    }

    fn read(&mut self, asked: Asked) -> rustyline::Result<String> {
        let (prompt, offered) = match asked {
            Asked::Line(prompt, offered) => (prompt, offered),
            Asked::Answer(question) => return self.answer(&question),
        };
        self.offer(offered);
        let line = match self.ahead.line() {
            Some(line) => {
                // As the editor would have shown it.
                show(&format!("{prompt}{}\n", forklore_sanitize::terminal::block(&line)));
                Ok(line)
            }
            None => {
                let begun = self.ahead.begun();
                // The editor sets the terminal itself, and back to what it found.
                self.quiet = None;
                self.editor.readline_with_initial(&prompt, (&begun, ""))
            }
        };
        if self.quiet.is_none() {
            self.quiet = Quiet::begin();
        }
        let line = line?;
        self.remember(&line);
        Ok(line)
    }

    fn answer(&mut self, question: &str) -> rustyline::Result<String> {
        if self.quiet.is_none() {
            self.quiet = Quiet::begin();
        }
        let Some(quiet) = &self.quiet else { return Err(ReadlineError::Eof) };
        self.ahead.take(&quiet.typed());
        question::ask(question, quiet).ok_or(ReadlineError::Interrupted)
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
    files: FilenameCompleter,
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
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if line.get(..pos).is_some_and(is_file) {
            return self.files.complete(line, pos, context);
        }
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
