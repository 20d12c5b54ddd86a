//! Handles the keys in dialogs, and the user's answers.

use forklore_core::Label;
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::App;
use crate::dialog::{Dialog, Purpose, Reply};
use crate::keys;
use crate::request::{Change, Position, Request};
use crate::screen::hits::Hits;
use crate::screen::list::List;
use crate::screen::reader::Reader;
use crate::screen::{Screen, Spot};
use crate::tone::Tone;

impl App {
    pub(super) fn dialog_key(&mut self, key: &KeyEvent) {
        let Some(dialog) = self.dialog.take() else { return };
        match dialog {
            Dialog::Help { top } => self.help_key(top, key),
            Dialog::Menu { title, text, items, at } => {
                let last = items.len().saturating_sub(1);
                let reply = |at: usize| items.get(at).map(|item| item.reply.clone());
                let typed = match key.code {
                    KeyCode::Char(c) => items.iter().position(|item| item.key == c),
                    _ => None,
                };
                let at = match (typed, key.code) {
                    (Some(at), _) => return self.reply(reply(at)),
                    (None, KeyCode::Enter) => return self.reply(reply(at)),
                    (None, KeyCode::Esc | KeyCode::Char('q')) => return,
                    (None, KeyCode::Down | KeyCode::Tab | KeyCode::Char('j')) => (at + 1).min(last),
                    (None, KeyCode::Up | KeyCode::BackTab | KeyCode::Char('k')) => {
                        at.saturating_sub(1)
                    }
                    _ => at,
                };
                self.dialog = Some(Dialog::Menu { title, text, items, at });
            }
            Dialog::Prompt { title, hint, mut input, purpose } => match key.code {
                KeyCode::Esc => {}
                KeyCode::Enter => self.answered(purpose, input.text().trim()),
                _ => {
                    input.edit(key);
                    self.dialog = Some(Dialog::Prompt { title, hint, input, purpose });
                }
            },
        }
    }

    fn help_key(&mut self, top: usize, key: &KeyEvent) {
        let command = keys::command(self.scope(), key);
        let page = usize::from(self.size.1).saturating_sub(4).max(1);
        let top = match command {
            Some(keys::Command::Down) => top + 1,
            Some(keys::Command::Up) => top.saturating_sub(1),
            Some(keys::Command::PageDown | keys::Command::HalfDown) => top + page,
            Some(keys::Command::PageUp | keys::Command::HalfUp) => top.saturating_sub(page),
            Some(keys::Command::First) => 0,
            Some(keys::Command::Last) => usize::MAX,
            _ => return,
        };
        let most = crate::view::help_lines(self.scope()).len().saturating_sub(1);
        self.dialog = Some(Dialog::Help { top: top.min(most) });
    }

    pub(super) fn reply(&mut self, reply: Option<Reply>) {
        self.dialog = None;
        match reply {
            None | Some(Reply::Close) => {}
            Some(Reply::Change(change)) => self.request(Request::Change(change)),
            Some(Reply::Leave(outcome)) => self.leave(outcome),
            Some(Reply::RewindTo(session, at)) => self.ask_what_to_rewind(&session, &at),
            Some(Reply::PlanRewind(request)) => self.plan_rewind(request),
            Some(Reply::Read(session)) => {
                self.push(Screen::Reader(Box::new(Reader::of(
                    session,
                    Position::End,
                    self.options.zone.clone(),
                ))));
            }
            Some(Reply::ResumeIn(session)) => {
                self.resume_in(&Spot { session, row: None, at: None });
            }
            Some(Reply::Ask(purpose)) => {
                let hint = "letters, digits, -, _ and .; empty: a new one is made";
                self.dialog = Some(Dialog::prompt("label of the fork", hint, "", purpose));
            }
        }
    }

    /// Does what `purpose` says with the text that the user entered in a prompt.
    fn answered(&mut self, purpose: Purpose, text: &str) {
        match purpose {
            Purpose::Search if !text.is_empty() => {
                let workspace = self.screens.iter().find_map(|(_, screen)| match screen {
                    Screen::List(list) => Some(List::workspace(list).cloned()),
                    _ => None,
                });
                let hits = Hits::of(text.to_owned(), workspace.flatten());
                self.push(Screen::Hits(hits));
            }
            Purpose::Search => {}
            Purpose::Find => {
                text.clone_into(&mut self.needle);
                let size = self.body();
                if text.is_empty() {
                    if let Some(Screen::Reader(reader)) = self.screen_mut() {
                        reader.find("", false, size);
                    }
                } else {
                    self.find(false);
                }
            }
            Purpose::Turn => match (text.parse(), self.screen_mut()) {
                (Ok(turn), Some(Screen::Reader(reader))) => reader.go_to_turn(turn),
                _ => self.remark(Tone::Warn, format!("not the number of a turn: {text}")),
            },
            Purpose::Title(session) => {
                self.request(Request::Change(Change::Rename(session, text.to_owned())));
            }
            Purpose::Label(session) => {
                if let Some(label) = self.label(text) {
                    self.request(Request::Change(Change::Label(session, label)));
                }
            }
            Purpose::ForkLabel(session, at) => {
                let label = if text.is_empty() { None } else { self.label(text) };
                if label.is_some() || text.is_empty() {
                    self.request(Request::Change(Change::Fork { session, at, label }));
                }
            }
        }
    }

    fn label(&mut self, text: &str) -> Option<Label> {
        match text.parse() {
            Ok(label) => Some(label),
            Err(error) => {
                self.remark(Tone::Bad, format!("not a label: {error}"));
                None
            }
        }
    }
}
