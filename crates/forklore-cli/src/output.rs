//! Writes all output of the program: for users or as JSON, to a terminal or a pipe.
//!
//! Stored text is untrusted. All output for users goes through a [`Page`], which escapes text. JSON
//! is escaped on a terminal, and written byte for byte to a pipe.

pub(crate) mod compared;
pub(crate) mod explored;
mod failure;
mod json;
pub(crate) mod log;
mod page;
mod pager;
pub(crate) mod problems;
mod progress;
pub(crate) mod session;
pub(crate) mod side_by_side;
mod style;
mod table;
pub(crate) mod transcript;
pub(crate) mod tree;
mod units;
pub(crate) mod waiting;
pub(crate) mod words;
mod zone;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;

use anstream::AutoStream;
use anstream::stream::RawStream;
use clap::ColorChoice;
use clap::builder::StyledStr;
use forklore::api::{HelpText, ProgramVersion};
use forklore::core::{SessionId, ShortIds};
use forklore_chat::markdown;
use forklore_chat::screen::Screen;
use forklore_host::Setting;
use serde::Serialize;
use terminal_size::terminal_size_of;

use crate::failure::{Failure, Result};
use crate::hints::Hints;
pub(crate) use forklore::core::units::{bytes, count, grouped};
pub(crate) use json::{Lines, List};
pub(crate) use page::{Look, Page};
use pager::Out;
pub(crate) use progress::Progress;
pub(crate) use style::Tone;
pub(crate) use table::{Cell, Column, Table};
pub(crate) use units::{age, cut, money, seconds, since, span};
pub(crate) use zone::Zone;

/// The width, in columns, of output that does not go to a terminal.
const PIPE_WIDTH: usize = 120;

/// The maximum width, in characters, of the column of commands in a list of hints. A longer command
/// does not widen the column.
const WIDEST_HINT: usize = 44;

/// The output options of one run of the program.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) json: bool,
    pub(crate) silent: bool,
    pub(crate) verbose: bool,
    pub(crate) color: ColorChoice,
    /// The time zone in which times are shown.
    pub(crate) zone: Zone,
    /// Whether long answers go through a pager.
    pub(crate) pages: bool,
    /// The store named on the command line, if any. Suggested commands repeat it.
    pub(crate) store: Option<String>,
}

/// The writer of a command's answers, hints, remarks and errors.
pub(crate) struct Output {
    json: bool,
    silent: bool,
    /// Whether suggested commands are printed. A conversation disables them, because it has its own
    /// commands.
    hints: bool,
    verbose: bool,
    look: Look,
    /// The display options of errors and hints. Only the color can differ from `look`, for example
    /// if only one of standard error and standard output is a terminal.
    error_look: Look,
    is_terminal: bool,
    /// Formats the commands that the output suggests. Adds `--store` to them if the user named a
    /// store on the command line.
    commands: Hints,
    /// The sessions of an imported file, except the one session that the command uses. The JSON
    /// answer lists them in its field `also`.
    also: Vec<SessionId>,
    out: Out,
    /// Whether long answers go through a pager.
    pages: bool,
    err: Box<dyn Write>,
}

impl Output {
    /// Creates the output to standard output and standard error.
    pub(crate) fn to_standard(settings: &Settings) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        Self {
            json: settings.json,
            silent: settings.silent,
            hints: true,
            verbose: settings.verbose,
            look: look(&out, settings),
            error_look: look(&err, settings),
            is_terminal: out.is_terminal(),
            commands: Hints::of(settings.store.clone()),
            also: Vec::new(),
            out: Out::Direct(Box::new(BufWriter::new(out))),
            pages: settings.pages,
            err: Box::new(err),
        }
    }

    /// Returns the formatter of suggested commands.
    pub(crate) fn commands(&self) -> &Hints {
        &self.commands
    }

    /// Returns the time zone in which times are shown.
    pub(crate) fn zone(&self) -> Zone {
        self.look.zone
    }

    /// Makes suggested commands repeat the settings of the command line.
    pub(crate) fn set(&mut self, settings: &[Setting]) {
        self.commands.set(settings);
    }

    /// Checks whether answers are JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Checks whether answers for users are colored.
    pub(crate) fn has_color(&self) -> bool {
        self.look.color
    }

    /// Checks whether hints, remarks and progress are disabled (`--quiet`).
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }

    /// Adds sessions to the field `also` of the answer, and reports their number. `sessions` are
    /// those sessions of an imported file that the command does not use.
    pub(crate) fn also(&mut self, sessions: Vec<SessionId>) {
        match sessions.len() as u64 {
            0 => {}
            more => self.remark(&format!("the file holds {}", count(more, "other session"))),
        }
        self.also.extend(sessions);
    }

    /// Prints the single answer of a command: as JSON, or as the page for users that
    /// `people` fills.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn answer<T: Serialize>(
        &mut self,
        answer: &T,
        people: impl FnOnce(&mut Page),
    ) -> Result<()> {
        self.answer_with(answer, people, None)
    }

    /// Prints the answer of a command that may have failed nevertheless, for example because its
    /// turn was interrupted. `failure` is the reason, or `None` if the command succeeded. With
    /// `--json` and a `failure`, the field `ok` is `false` and the field `error` contains the
    /// reason, next to the fields of the answer. The caller tells users the reason, and returns a
    /// failure.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn answer_with<T: Serialize>(
        &mut self,
        answer: &T,
        people: impl FnOnce(&mut Page),
        failure: Option<&Failure>,
    ) -> Result<()> {
        if !self.json {
            return self.page(people);
        }
        let error = failure.map(|failure| self.error_object(failure));
        let mut lines = Lines::new(&mut self.out, self.is_terminal);
        let written = json::envelope(&mut lines, answer, error, &self.also);
        // End the line even if the answer is incomplete, so that the error begins on a new line.
        let ended = lines.write_all(b"\n");
        Ok(written.and(ended)?)
    }

    /// Prints one of several records of an answer: as a JSON line, or as the page for users that
    /// `people` fills.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn record<T: Serialize>(
        &mut self,
        record: &T,
        people: impl FnOnce(&mut Page),
    ) -> Result<()> {
        if self.json {
            let text = serde_json::to_string(record).map_err(io::Error::from)?;
            self.json_line(&text)
        } else {
            self.page(people)
        }
    }

    /// Prints the page that `people` fills, even with `--json`.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn page(&mut self, people: impl FnOnce(&mut Page)) -> Result<()> {
        let mut page = Page::new(self.look);
        people(&mut page);
        Ok(self.out.write_all(page.as_str().as_bytes())?)
    }

    /// Returns a writer for lines of stored JSON. It writes verbatim to a pipe, and escapes on a
    /// terminal.
    pub(crate) fn lines(&mut self) -> Lines<'_> {
        Lines::new(&mut self.out, self.is_terminal)
    }

    /// Prints suggested commands, each with a description. Prints nothing with `--json` or
    /// `--quiet`, or in a conversation.
    pub(crate) fn hints(&mut self, commands: &[(&str, &str)]) {
        if self.json || self.silent || !self.hints {
            return;
        }
        // Print the answer first, because hints belong below it. Without the answer, hints are
        // useless.
        if self.out.close().is_err() {
            return;
        }
        let mut page = Page::new(self.error_look);
        let commands: Vec<_> =
            commands.iter().map(|(command, does)| (self.commands.typed(command), does)).collect();
        // A command longer than the limit does not widen the column.
        let lengths = commands.iter().map(|(command, _)| command.chars().count());
        let width = lengths.filter(|length| *length <= WIDEST_HINT).max().unwrap_or(0);
        for (command, does) in &commands {
            page.put(Tone::Dim, "  next: ").put(Tone::Strong, format!("{command:<width$}"));
            page.put(Tone::Dim, format!("  {does}")).end();
        }
        // Failing to print a hint is not an error.
        let _ = self.err.write_all(page.as_str().as_bytes());
    }

    /// Prints one suggested command with the description `does`. Prints nothing with `--json` or
    /// `--quiet`, or in a conversation.
    pub(crate) fn hint(&mut self, command: &str, does: &str) {
        self.hints(&[(command, does)]);
    }

    /// Prints a remark to standard error. Prints nothing with `--json` or `--quiet`.
    pub(crate) fn remark(&mut self, text: &str) {
        if !self.json {
            self.note(text);
        }
    }

    /// Prints a remark to standard error, also with `--json`. Prints nothing with `--quiet`.
    pub(crate) fn note(&mut self, text: &str) {
        if self.silent || self.out.close().is_err() {
            return;
        }
        let mut page = Page::new(self.error_look);
        page.put(Tone::Dim, text).end();
        let _ = self.err.write_all(page.as_str().as_bytes());
    }

    /// Checks whether the output can ask a person: standard input and standard error are a
    /// terminal, and the answer is not JSON.
    pub(crate) fn can_ask(&self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Checks whether the output can show a view that fills the terminal: standard input and
    /// standard output are a terminal, the answer is not JSON, and neither `--quiet` nor
    /// `--no-pager` is given.
    pub(crate) fn can_draw(&self) -> bool {
        self.is_terminal && io::stdin().is_terminal() && !self.json && !self.silent && self.pages
    }

    /// Asks a person a question on standard error, and returns whether the answer is yes. No answer
    /// means no.
    ///
    /// # Errors
    /// When the question cannot be written or the answer cannot be read.
    pub(crate) fn asks(&mut self, question: &str) -> Result<bool> {
        let mut page = Page::new(self.error_look);
        page.put(Tone::Warn, question).put(Tone::Plain, " [y/N] ");
        self.out.flush().map_err(Failure::Answer)?;
        self.err.write_all(page.as_str().as_bytes()).map_err(Failure::Answer)?;
        self.err.flush().map_err(Failure::Answer)?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).map_err(Failure::Answer)?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "YES"))
    }

    /// Creates the progress bar of an import. The bar is visible only if standard error is a
    /// terminal, and not with `--json` or `--quiet`.
    pub(crate) fn progress(&self) -> Progress {
        Progress::new(!self.json && !self.silent && io::stderr().is_terminal())
    }

    /// Creates the progress lines of an exploration, one for each of its `count` continuations.
    /// They are visible only if standard error is a terminal, and not with `--json` or `--quiet`.
    pub(crate) fn tries(&self, count: usize) -> explored::Tries {
        let visible = !self.json && !self.silent && io::stderr().is_terminal();
        explored::Tries::new(count, visible, terminal_width(&io::stderr()))
    }

    /// Checks whether standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Disables hints for a conversation, which has its own commands.
    pub(crate) fn converse(&mut self) {
        self.hints = false;
    }

    /// Creates the screen of a conversation on standard output.
    pub(crate) fn screen(&self) -> Screen {
        let look = markdown::Look { color: self.look.color, width: self.look.width };
        let screen = Screen::new(Box::new(io::stdout()), look);
        let width = || terminal_width(&io::stdout());
        if self.is_terminal { screen.on_terminal(width) } else { screen }
    }

    /// Reads the widths of the terminals and the current time again. All of them may change during
    /// a conversation.
    pub(crate) fn measure(&mut self) {
        let now = jiff::Timestamp::now();
        self.look = Look { width: terminal_width(&io::stdout()), now, ..self.look };
        self.error_look = Look { width: terminal_width(&io::stderr()), now, ..self.error_look };
    }

    /// Formats a session's id for users. In a conversation, returns only the beginning of the id,
    /// because there most sessions have labels.
    pub(crate) fn id(&self, id: &SessionId) -> String {
        if self.hints { id.to_string() } else { ShortIds::of([id]).get(id).to_owned() }
    }

    /// Prints `text` unchanged, so that another program can read the text. With `--json`, prints
    /// `answer` instead.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn verbatim<T: Serialize>(&mut self, answer: &T, text: &str) -> Result<()> {
        if self.json {
            return self.answer(answer, |_| {});
        }
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Prints the version, as clap formats it.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn version(&mut self, version: &StyledStr) -> Result<()> {
        let number = ProgramVersion { version: env!("CARGO_PKG_VERSION").to_owned() };
        self.verbatim(&number, &version.to_string())
    }

    /// Prints the help, as clap formats it.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn help(&mut self, help: &StyledStr) -> Result<()> {
        if self.json {
            return self.answer(&HelpText { help: help.to_string() }, |_| {});
        }
        let text = if self.look.color { help.ansi().to_string() } else { help.to_string() };
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Shows the answer in a pager if it is longer than the terminal. Does nothing with `--json` or
    /// `--no-pager`, in a conversation, or if the answer does not go to a terminal.
    pub(crate) fn page_through(&mut self) {
        if self.json || !self.pages || !self.hints || !self.is_terminal {
            return;
        }
        let Some(rows) = terminal_height(&io::stdout()) else { return };
        let out = std::mem::replace(&mut self.out, Out::Direct(Box::new(io::sink())));
        self.out = out.page(rows);
    }

    /// Writes the rest of the answer. If it is in a pager, waits until the user leaves the pager.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn close(&mut self) -> Result<()> {
        Ok(self.out.close()?)
    }

    /// Flushes everything printed so far.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn json_line(&mut self, text: &str) -> Result<()> {
        self.lines().write_all(text.as_bytes())?;
        Ok(self.lines().write_all(b"\n")?)
    }
}

/// Returns the display options of what goes to `stream`.
fn look(stream: &(impl RawStream + AsFd), settings: &Settings) -> Look {
    Look {
        color: wants_color(settings.color, stream),
        width: terminal_width(stream),
        wrap: stream.is_terminal(),
        now: jiff::Timestamp::now(),
        zone: settings.zone,
    }
}

fn wants_color(choice: ColorChoice, stream: &impl RawStream) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        // `AutoStream` respects NO_COLOR, CLICOLOR and CLICOLOR_FORCE, and disables colors on dumb
        // terminals and pipes.
        ColorChoice::Auto => AutoStream::choice(stream) != anstream::ColorChoice::Never,
    }
}

/// Returns the width, in columns, of the terminal that `stream` is connected to. For another
/// stream, returns the width in the environment variable `COLUMNS`. If neither is known, or the
/// width is less than 20, returns [`PIPE_WIDTH`].
fn terminal_width(stream: &impl AsFd) -> usize {
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    let real = terminal_size_of(stream).map(|(width, _)| usize::from(width.0));
    real.or_else(named).filter(|width| *width >= 20).unwrap_or(PIPE_WIDTH)
}

/// Returns the number of rows of the terminal that `stream` is connected to. `None` for another
/// stream.
fn terminal_height(stream: &impl AsFd) -> Option<usize> {
    terminal_size_of(stream).map(|(_, height)| usize::from(height.0))
}

#[cfg(test)]
mod tests;
