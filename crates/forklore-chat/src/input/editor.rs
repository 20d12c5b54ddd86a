//! The line editor of a terminal.
//!
//! The editor reads on its own thread, because a read blocks until a key is pressed. So a signal
//! can end a conversation cleanly while the prompt waits for input.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Context, Editor as LineEditor,
    EventContext, EventHandler, Helper, KeyCode, KeyEvent, Modifiers,
};
use tokio::task::JoinHandle;

use super::no_echo::NoEcho;
use super::terminal::{Terminal, show};
use super::typeahead::Typeahead;
use super::{Input, Line, Offers, is_whole, no_echo, picker, question};
use crate::{Foreground, Stop};

/// The maximum number of entries in the history.
const HISTORY: usize = 1000;
/// The line that Esc, pressed twice at an empty prompt, enters.
const REWIND: &str = "/rewind";

/// A line editor on a terminal, with a history file that only its owner may read. While there is no
/// prompt, the terminal echoes nothing, and the text that the user types goes into the next line.
pub struct Editor {
    requests: Sender<Request>,
    events: Receiver<Event>,
    terminal: Terminal,
    listening: JoinHandle<()>,
    stopped: Option<Stop>,
    /// Whether the last Ctrl-C at the prompt discarded some text. The reading thread sets it.
    interrupted_text: Arc<AtomicBool>,
}

/// A request to the thread that reads the terminal.
enum Request {
    Line(String, Offers),
    Answer(String),
    /// Lets the user choose one of the lines. Sends back the index as text.
    Choice {
        title: String,
        lines: Vec<String>,
        chosen: usize,
    },
    /// Puts this text into the next prompt. Sends nothing back.
    Begin(String),
    /// Puts all text that the user typed while there was no prompt into the next prompt. Does not
    /// wait for more text, and sends nothing back.
    PutBack,
}

/// What ended a read of the terminal: the result from the reading thread, or a signal.
enum Event {
    Read(Result<String, ReadlineError>),
    Stopped(Stop),
}

impl Editor {
    /// Creates an editor that listens for the signals that end a conversation. If `history` names a
    /// file, the editor loads its history from the file and appends each line.
    ///
    /// # Errors
    /// When the terminal cannot be used, or the thread that reads it cannot be started.
    pub fn new(history: Option<PathBuf>, foreground: &Foreground) -> std::io::Result<Self> {
        let terminal = Terminal::now();
        let mut reader = Reader::new(history).map_err(std::io::Error::other)?;
        let interrupted_text = reader.had_text.clone();
        let (requests, requested) = channel();
        let (send, events) = channel();
        let mut signals = foreground.signals();
        let stops = send.clone();
        let listening = foreground.spawn(async move {
            // Sending fails only at the end of the conversation, when the receiver is dropped.
            while stops.send(Event::Stopped(signals.end().await)).is_ok() {}
        });
        std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            while let Ok(request) = requested.recv() {
                let read = match request {
                    Request::Line(prompt, offers) => reader.line(&prompt, offers),
                    Request::Answer(question) => reader.answer(&question),
                    Request::Choice { title, lines, chosen } => {
                        reader.choose(&title, &lines, chosen)
                    }
                    Request::Begin(text) => {
                        reader.typeahead.begin(&text);
                        continue;
                    }
                    Request::PutBack => {
                        reader.put_back();
                        continue;
                    }
                };
                if send.send(Event::Read(read)).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { requests, events, terminal, listening, stopped: None, interrupted_text })
    }

    fn read(&mut self, request: Request) -> Result<Result<String, ReadlineError>, Stop> {
        // Handle a signal that arrived during a turn before reading the terminal again.
        if let Ok(Event::Stopped(stop)) = self.events.try_recv() {
            self.stopped = Some(stop);
        }
        if let Some(stop) = self.stopped {
            return Err(stop);
        }
        // The reading thread ends only if the terminal is closed.
        let gone = || Ok(Err(ReadlineError::Eof));
        if self.requests.send(request).is_err() {
            return gone();
        }
        match self.events.recv() {
            Ok(Event::Read(read)) => Ok(read),
            Ok(Event::Stopped(stop)) => {
                self.stopped = Some(stop);
                // The reading thread is blocked until a key is pressed or the program ends. So this
                // thread restores the terminal.
                self.terminal.restore();
                Err(stop)
            }
            Err(_) => gone(),
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.listening.abort();
        // The reading thread may have changed the terminal after `read` called `restore`.
        no_echo::unmark_pastes();
        self.terminal.restore();
    }
}

impl Input for Editor {
    fn line(&mut self, prompt: &str, offers: Offers) -> Line {
        match self.read(Request::Line(prompt.to_owned(), offers)) {
            Ok(Ok(line)) => Line::Entered(line.replace("\\\n", "\n")),
            Ok(Err(ReadlineError::Interrupted)) => {
                let text = self.interrupted_text.swap(false, Ordering::Relaxed);
                Line::Interrupted { text }
            }
            Ok(Err(_)) => Line::End,
            Err(stop) => Line::Stopped(stop),
        }
    }

    fn put_back(&mut self) {
        // Sending fails only if the thread has ended, and then the lines that the user typed before
        // the prompt are lost.
        let _ = self.requests.send(Request::PutBack);
    }

    fn begin(&mut self, text: &str) {
        // Sending fails only if the thread has ended, and then there is no next prompt.
        let _ = self.requests.send(Request::Begin(text.to_owned()));
    }

    fn choose(&mut self, title: &str, lines: &[String], chosen: usize) -> Option<usize> {
        let (title, lines) = (title.to_owned(), lines.to_vec());
        self.read(Request::Choice { title, lines, chosen }).ok()?.ok()?.parse().ok()
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        self.read(Request::Answer(question.to_owned())).ok()?.ok()
    }
}

/// The editor and its state, owned by the thread that reads the terminal.
struct Reader {
    editor: LineEditor<Words, FileHistory>,
    history: Option<PathBuf>,
    typeahead: Typeahead,
    no_echo: Option<NoEcho>,
    /// The text at the prompt when Ctrl-C was last pressed.
    interrupted: InterruptedText,
    had_text: Arc<AtomicBool>,
    rewinds: TwoEscapes,
}

impl Reader {
    fn new(history: Option<PathBuf>) -> rustyline::Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY)?
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .build();
        let mut editor = LineEditor::with_config(config)?;
        editor.set_helper(Some(Words::default()));
        let interrupted = InterruptedText::default();
        let at_interrupt = EventHandler::Conditional(Box::new(interrupted.clone()));
        editor.bind_sequence(KeyEvent(KeyCode::Char('C'), Modifiers::CTRL), at_interrupt);
        let rewinds = TwoEscapes::default();
        let at_escape = EventHandler::Conditional(Box::new(rewinds.clone()));
        // The line editor reports this key when Esc is pressed twice.
        editor.bind_sequence(KeyEvent(KeyCode::Esc, Modifiers::NONE), at_escape);
        let newline = KeyEvent(KeyCode::Enter, Modifiers::ALT);
        editor.bind_sequence(newline, EventHandler::Simple(Cmd::Newline));
        if let Some(history) = &history {
            // Loading fails if the file does not exist, as in the first conversation.
            let _ = editor.load_history(history);
        }
        Ok(Self {
            editor,
            history,
            typeahead: Typeahead::default(),
            no_echo: None,
            interrupted,
            had_text: Arc::default(),
            rewinds,
        })
    }

    fn line(&mut self, prompt: &str, offers: Offers) -> rustyline::Result<String> {
        self.offer(offers);
        let line = match self.typeahead.line() {
            Some(line) => {
                // Show a line that was typed before the prompt as the editor would have shown it.
                show(&format!("{prompt}{}\n", forklore_sanitize::terminal::block(&line)));
                Ok(line)
            }
            None => {
                let begun = self.typeahead.begun();
                // Restore the terminal first, because the line editor sets up and restores the
                // terminal itself.
                self.no_echo = None;
                self.editor.readline_with_initial(prompt, (&begun, ""))
            }
        };
        if self.no_echo.is_none() {
            self.no_echo = NoEcho::begin();
        }
        if matches!(line, Err(ReadlineError::Interrupted)) {
            let text = std::mem::take(&mut *self.interrupted.lock());
            if !text.trim().is_empty() {
                self.had_text.store(true, Ordering::Relaxed);
                self.add_to_history(&text);
            }
        }
        let line = line?;
        if self.rewinds.0.swap(false, Ordering::Relaxed) {
            return Ok(REWIND.to_owned());
        }
        self.add_to_history(&line);
        Ok(line)
    }

    /// Reads what the user typed while no prompt was shown, and puts it into the next prompt.
    fn put_back(&mut self) {
        if let Some(no_echo) = &self.no_echo {
            self.typeahead.add(&no_echo.typed());
        }
        self.typeahead.put_back();
    }

    fn answer(&mut self, question: &str) -> rustyline::Result<String> {
        let no_echo = self.silent()?;
        question::ask(question, no_echo).ok_or(ReadlineError::Interrupted)
    }

    fn choose(
        &mut self,
        title: &str,
        lines: &[String],
        chosen: usize,
    ) -> rustyline::Result<String> {
        let picked = picker::pick(title, lines, chosen, self.silent()?);
        picked.map(|at| at.to_string()).ok_or(ReadlineError::Interrupted)
    }

    /// Switches off echo, if it is on, and buffers what the user has typed so far, so that the next
    /// question does not read it as the answer.
    fn silent(&mut self) -> rustyline::Result<&NoEcho> {
        if self.no_echo.is_none() {
            self.no_echo = NoEcho::begin();
        }
        let no_echo = self.no_echo.as_ref().ok_or(ReadlineError::Eof)?;
        self.typeahead.add(&no_echo.typed());
        Ok(no_echo)
    }

    fn offer(&mut self, offers: Offers) {
        if let Some(completer) = self.editor.helper_mut() {
            completer.offers = offers;
        }
    }

    fn add_to_history(&mut self, line: &str) {
        let Some(history) = &self.history else { return };
        if self.editor.add_history_entry(line).is_ok_and(|added| added) {
            // If the history file cannot be written, only this line is missing from the file.
            let _ = self.editor.append_history(history);
        }
    }
}

/// The text at the prompt when Ctrl-C was pressed. The line editor itself discards that text.
#[derive(Clone, Default)]
struct InterruptedText(Arc<Mutex<String>>);

impl InterruptedText {
    fn lock(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConditionalEventHandler for InterruptedText {
    fn handle(&self, _: &rustyline::Event, _: u16, _: bool, at: &EventContext<'_>) -> Option<Cmd> {
        at.line().clone_into(&mut self.lock());
        Some(Cmd::Interrupt)
    }
}

/// Whether Esc was pressed twice at an empty prompt. The prompt then returns the line [`REWIND`].
#[derive(Clone, Default)]
struct TwoEscapes(Arc<AtomicBool>);

impl ConditionalEventHandler for TwoEscapes {
    fn handle(&self, _: &rustyline::Event, _: u16, _: bool, at: &EventContext<'_>) -> Option<Cmd> {
        if !at.line().is_empty() {
            return Some(Cmd::Noop);
        }
        self.0.store(true, Ordering::Relaxed);
        Some(Cmd::AcceptLine)
    }
}

#[derive(Default)]
struct Words {
    offers: Offers,
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
        if line.get(..pos).is_some_and(|line| self.offers.completes_file(line)) {
            return self.files.complete(line, pos, context);
        }
        let (start, fitting) = self.offers.fitting(line.get(..pos).unwrap_or_default());
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
