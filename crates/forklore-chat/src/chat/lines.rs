//! Reads the lines of a conversation, and runs the prompt or the command in each line.

use super::Chat;
use crate::command::definition::Next;
use crate::command::parse::{Parsed, parse};
use crate::command::{COMMANDS, nearest};
use crate::input::Line;
use crate::screen::Tone;
use crate::signals::Signals;
use crate::{Error, Result, Stop};

impl Chat<'_> {
    /// Reads and runs lines until the user leaves or a signal ends the conversation. Returns the
    /// signal, or `None` if the user left.
    pub fn run(&mut self) -> Option<Stop> {
        self.greet();
        let stopped = self.lines();
        self.foreground.block_on(self.conversation.close());
        if let Ok(header) = self.header() {
            let resume = format!("forklore resume {}", self.short_id(&header.id));
            self.screen.words(&[(Tone::Dim, "To go on: "), (Tone::Strong, &resume)]);
        }
        stopped
    }

    fn lines(&mut self) -> Option<Stop> {
        let mut leaving = false;
        // Listens for signals after a first Ctrl-C, because a second Ctrl-C can arrive before the
        // terminal is read again.
        let mut signals: Option<Signals> = None;
        loop {
            let prompt = format!("{}> ", self.label());
            let offers = self.offers();
            self.know_first();
            match signals.take().and_then(|mut signals| signals.arrived()) {
                Some(Stop::Interrupt) => return None,
                Some(stop) => return Some(stop),
                None => {}
            }
            match self.input.line(&prompt, offers) {
                Line::Entered(line) => {
                    leaving = false;
                    match self.line(&line) {
                        Ok(Next::Line) => {}
                        Ok(Next::End) => return None,
                        Err(error) => self.report(&error),
                    }
                }
                Line::Interrupted { text: true } => {
                    leaving = false;
                    self.screen.line(Tone::Dim, "the up arrow has what you typed");
                }
                Line::Interrupted { .. } if leaving => return None,
                Line::Interrupted { .. } => {
                    leaving = true;
                    signals = Some(self.foreground.listen());
                    self.screen.line(Tone::Dim, "Ctrl-D or /quit leaves; so does Ctrl-C again");
                }
                Line::End => return None,
                Line::Stopped(stop) => {
                    self.screen.leave_line();
                    return Some(stop);
                }
            }
        }
    }

    fn line(&mut self, line: &str) -> Result<Next> {
        match parse(line) {
            Parsed::Nothing => Ok(Next::Line),
            Parsed::Prompt(text) => {
                self.turn(Some(&text))?;
                Ok(Next::Line)
            }
            Parsed::Command(at, rest) => match COMMANDS.get(at) {
                Some(command) => (command.run)(self, rest),
                None => Ok(Next::Line),
            },
            Parsed::Unknown(name) => {
                let meant = nearest(name).map(|name| format!("did you mean /{name}? "));
                let meant = meant.unwrap_or_default();
                Err(Error::invalid(format!(
                    "there is no /{name}; {meant}/help shows what there is"
                )))
            }
        }
    }
}
