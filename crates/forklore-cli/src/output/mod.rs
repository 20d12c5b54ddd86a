//! The only place that prints: for people or as JSON, onto a terminal or into a pipe.
//!
//! Stored text is hostile. Everything for people goes through a [`Page`], which escapes it; JSON
//! is escaped where it meets a terminal, and goes into a pipe byte for byte.

pub(crate) mod explored;
mod failure;
mod json;
pub(crate) mod log;
mod page;
mod progress;
pub(crate) mod session;
mod short;
mod style;
mod table;
pub(crate) mod transcript;
pub(crate) mod tree;
mod units;

use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::AutoStream;
use clap::ColorChoice;
use clap::builder::StyledStr;
use forklore::core::SessionId;
use forklore_chat::markdown;
use forklore_chat::screen::Screen;
use serde::Serialize;

use crate::failure::Result;
use crate::hints::Hints;
pub(crate) use json::{Lines, List};
pub(crate) use page::{Look, Page};
pub(crate) use progress::Progress;
pub(crate) use short::ShortIds;
pub(crate) use style::Tone;
pub(crate) use table::{Cell, Column, Table};
pub(crate) use units::{age, bytes, count, cut, grouped, minute, since, time};

/// The columns of an answer that goes to no terminal.
const PIPE_WIDTH: usize = 120;

/// The widest command of a hint that others stand in line with.
const WIDEST_HINT: usize = 44;

/// How the caller wants to be answered.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) json: bool,
    pub(crate) silent: bool,
    pub(crate) verbose: bool,
    pub(crate) color: ColorChoice,
    /// The store that the command line named.
    pub(crate) store: Option<String>,
}

/// Where answers, hints and errors go.
pub(crate) struct Output {
    json: bool,
    silent: bool,
    /// Whether commands to type next are of use: in a conversation they are not.
    hints: bool,
    verbose: bool,
    look: Look,
    /// How errors and hints look: standard error may be a terminal where the answer's is none.
    error_look: Look,
    is_terminal: bool,
    /// What to type next, as it is typed.
    commands: Hints,
    /// Other sessions of the file that was named, part of the answer (see the contract's `also`).
    also: Vec<SessionId>,
    out: Box<dyn Write>,
    err: Box<dyn Write>,
}

impl Output {
    /// Output to standard output and standard error.
    pub(crate) fn to_standard(settings: &Settings) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let is_terminal = out.is_terminal();
        let width = terminal_width(is_terminal);
        let now = jiff::Timestamp::now();
        let look = |color| Look { color, width, wrap: is_terminal, now };
        Self {
            json: settings.json,
            silent: settings.silent,
            hints: true,
            verbose: settings.verbose,
            look: look(wants_color(settings.color, &out)),
            error_look: look(wants_color(settings.color, &err)),
            is_terminal,
            commands: Hints::of(settings.store.clone()),
            also: Vec::new(),
            out: Box::new(BufWriter::new(out)),
            err: Box::new(err),
        }
    }

    /// What to type next, as it is typed.
    pub(crate) fn commands(&self) -> &Hints {
        &self.commands
    }

    /// Whether the answer is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether nothing but the answer is wanted.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent
    }

    /// Remembers the other sessions of a file that was named.
    pub(crate) fn also(&mut self, sessions: Vec<SessionId>) {
        match sessions.len() as u64 {
            0 => {}
            more => self.remark(&format!("the file holds {}", count(more, "other session"))),
        }
        self.also.extend(sessions);
    }

    /// Prints the one answer of a command: as JSON, or as the page that `people` makes.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn answer<T: Serialize>(
        &mut self,
        answer: &T,
        people: impl FnOnce(&mut Page),
    ) -> Result<()> {
        if !self.json {
            return self.page(people);
        }
        let mut lines = Lines::new(&mut *self.out, self.is_terminal);
        let written = json::envelope(&mut lines, answer, &self.also);
        // An answer that stopped midway has its line too: the error is told on the next one.
        let ended = lines.write_all(b"\n");
        Ok(written.and(ended)?)
    }

    /// Prints one record of many: as a JSON line, or as the page that `people` makes.
    ///
    /// # Errors
    /// When it cannot be written.
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

    /// Prints a page for people.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn page(&mut self, people: impl FnOnce(&mut Page)) -> Result<()> {
        let mut page = Page::new(self.look);
        people(&mut page);
        Ok(self.out.write_all(page.as_str().as_bytes())?)
    }

    /// Where lines of stored JSON go: verbatim into a pipe, escaped onto a terminal.
    pub(crate) fn lines(&mut self) -> Lines<'_> {
        Lines::new(&mut *self.out, self.is_terminal)
    }

    /// Commands to type next, each with what it does. Never under `--json` or `--quiet`.
    pub(crate) fn hints(&mut self, commands: &[(&str, &str)]) {
        if self.json || self.silent || !self.hints {
            return;
        }
        // Hints stand below the answer they are about; without it they are of no use.
        if self.out.flush().is_err() {
            return;
        }
        let mut page = Page::new(self.error_look);
        let commands: Vec<_> =
            commands.iter().map(|(command, does)| (self.commands.typed(command), does)).collect();
        // A long command says what it does right behind it, and pads no other.
        let lengths = commands.iter().map(|(command, _)| command.chars().count());
        let width = lengths.filter(|length| *length <= WIDEST_HINT).max().unwrap_or(0);
        for (command, does) in &commands {
            page.put(Tone::Dim, "  next: ").put(Tone::Strong, format!("{command:<width$}"));
            page.put(Tone::Dim, format!("  {does}")).end();
        }
        // A lost hint is no failure.
        let _ = self.err.write_all(page.as_str().as_bytes());
    }

    /// The one command to type next.
    pub(crate) fn hint(&mut self, command: &str, does: &str) {
        self.hints(&[(command, does)]);
    }

    /// A remark beside the answer. Never under `--json` or `--quiet`.
    pub(crate) fn remark(&mut self, text: &str) {
        if self.json || self.silent || self.out.flush().is_err() {
            return;
        }
        let mut page = Page::new(self.error_look);
        page.put(Tone::Dim, text).end();
        let _ = self.err.write_all(page.as_str().as_bytes());
    }

    /// Where the progress of an import shows: on standard error, and only if it is a terminal.
    pub(crate) fn progress(&self) -> Progress {
        Progress::new(!self.json && !self.silent && io::stderr().is_terminal())
    }

    /// Where continuations show how far they are: on standard error, and only if it is a terminal.
    pub(crate) fn tries(&self, count: usize) -> explored::Tries {
        let visible = !self.json && !self.silent && io::stderr().is_terminal();
        explored::Tries::new(count, visible, terminal_width(visible))
    }

    /// Whether the answer goes to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// From now on a conversation runs: other commands are typed in it than those of hints.
    pub(crate) fn converse(&mut self) {
        self.hints = false;
    }

    /// Where a conversation is shown.
    pub(crate) fn screen(&self) -> Screen {
        let look = markdown::Look { color: self.look.color, width: self.look.width };
        let screen = Screen::new(Box::new(io::stdout()), look);
        if self.is_terminal { screen.on_terminal(|| terminal_width(true)) } else { screen }
    }

    /// The terminal may have become wider or narrower, and time has passed.
    pub(crate) fn measure(&mut self) {
        let (width, now) = (terminal_width(self.is_terminal), jiff::Timestamp::now());
        for look in [&mut self.look, &mut self.error_look] {
            (look.width, look.now) = (width, now);
        }
    }

    /// A session's id for people: whole, and in a conversation, where labels name most, its end.
    pub(crate) fn id(&self, id: &SessionId) -> String {
        if self.hints { id.to_string() } else { ShortIds::of([id]).get(id).to_owned() }
    }

    /// Prints a stored text that goes into a pipe, byte for byte; under `--json` the answer.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn stored_text<T: Serialize>(&mut self, answer: &T, text: &str) -> Result<()> {
        if self.json {
            return self.answer(answer, |_| {});
        }
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Prints help or the version, as clap made it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn help(&mut self, help: &StyledStr) -> Result<()> {
        let text = if self.look.color { help.ansi().to_string() } else { help.to_string() };
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Prints a text that the program has made itself, for another program to read: as it is, or
    /// under `--json` in `answer`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn own_text<T: Serialize>(&mut self, answer: &T, text: &str) -> Result<()> {
        if self.json {
            return self.answer(answer, |_| {});
        }
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Makes everything printed so far visible.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn json_line(&mut self, text: &str) -> Result<()> {
        self.lines().write_all(text.as_bytes())?;
        Ok(self.lines().write_all(b"\n")?)
    }
}

fn wants_color(choice: ColorChoice, stream: &impl anstream::stream::RawStream) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        // NO_COLOR, CLICOLOR and CLICOLOR_FORCE, a dumb terminal, a pipe.
        ColorChoice::Auto => AutoStream::choice(stream) != anstream::ColorChoice::Never,
    }
}

fn terminal_width(is_terminal: bool) -> usize {
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    let real = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = if is_terminal { real().or_else(named) } else { named() };
    width.filter(|width| *width >= 20).unwrap_or(PIPE_WIDTH)
}

#[cfg(test)]
mod tests;
