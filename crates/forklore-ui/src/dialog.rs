//! Dialogs: menus, and prompts for a line of text.

use forklore_core::{Selector, SessionId};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::request::{Change, RewindRequest};
use crate::text::Line;

/// How the interface ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The user left.
    Left,
    /// A signal with this number, or Ctrl-C, ended the interface.
    Stopped(i32),
    /// The user chose a session.
    Chosen(SessionId),
    /// The user wants to continue the conversation of this session in forklore.
    Resume(SessionId),
    /// The user wants to continue a session in another agent.
    ResumeIn {
        /// The name of the agent.
        agent: String,
        /// The session to continue.
        session: SessionId,
    },
}

/// What happens when the user chooses an item of a menu.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Close,
    Change(Change),
    Ask(Purpose),
    RewindTo(SessionId, Selector),
    PlanRewind(RewindRequest),
    Read(SessionId),
    ResumeIn(SessionId),
    Leave(Outcome),
}

/// What the text of a prompt is used for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Purpose {
    Search,
    Find,
    Turn,
    Label(SessionId),
    Title(SessionId),
    ForkLabel(SessionId, Selector),
}

/// An item of a menu.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) key: char,
    pub(crate) text: Line,
    pub(crate) reply: Reply,
}

/// A dialog over the screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Dialog {
    Help {
        top: usize,
    },
    Menu {
        title: Line,
        text: Vec<Line>,
        items: Vec<Item>,
        at: usize,
    },
    Prompt {
        title: &'static str,
        /// A description of the expected text, shown while the text is empty.
        hint: &'static str,
        input: Input,
        purpose: Purpose,
    },
}

impl Dialog {
    pub(crate) fn prompt(
        title: &'static str,
        hint: &'static str,
        text: &str,
        purpose: Purpose,
    ) -> Self {
        Self::Prompt { title, hint, input: Input::of(text), purpose }
    }
}

/// A line of text that the user edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Input {
    text: Vec<char>,
    at: usize,
}

/// The maximum number of characters of a line.
const LONGEST: usize = 1_000;

impl Input {
    fn of(text: &str) -> Self {
        let text: Vec<_> = text.chars().collect();
        Self { at: text.len(), text }
    }

    pub(crate) fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Returns the text before the cursor and the text from the cursor on.
    pub(crate) fn parts(&self) -> (String, String) {
        let (before, after) = self.text.split_at(self.at.min(self.text.len()));
        (before.iter().collect(), after.iter().collect())
    }

    /// Inserts text at the cursor. Line breaks become spaces.
    pub(crate) fn insert(&mut self, text: &str) {
        for c in text.chars() {
            let c = if c.is_whitespace() { ' ' } else { c };
            if !c.is_control() && self.text.len() < LONGEST {
                self.text.insert(self.at, c);
                self.at += 1;
            }
        }
    }

    /// Edits the text as a key says.
    pub(crate) fn edit(&mut self, key: &KeyEvent) {
        let is_ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if is_ctrl => {
                self.text.drain(..self.at);
                self.at = 0;
            }
            KeyCode::Char('w') if is_ctrl => self.remove_word(),
            KeyCode::Char('a') if is_ctrl => self.at = 0,
            KeyCode::Char('e') if is_ctrl => self.at = self.text.len(),
            KeyCode::Char(c) if !is_ctrl => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace if self.at > 0 => {
                self.at -= 1;
                self.text.remove(self.at);
            }
            KeyCode::Delete if self.at < self.text.len() => {
                self.text.remove(self.at);
            }
            KeyCode::Left => self.at = self.at.saturating_sub(1),
            KeyCode::Right => self.at = (self.at + 1).min(self.text.len()),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            _ => {}
        }
    }

    fn remove_word(&mut self) {
        let before = self.text.iter().take(self.at).rev();
        let spaces = before.clone().take_while(|c| **c == ' ').count();
        let word = before.skip(spaces).take_while(|c| **c != ' ').count();
        let from = self.at - spaces - word;
        self.text.drain(from..self.at);
        self.at = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_with_the_usual_keys() {
        let mut input = Input::of("one two");
        let press = |input: &mut Input, code, modifiers| {
            input.edit(&KeyEvent::new(code, modifiers));
            let (before, after) = input.parts();
            format!("{before}|{after}")
        };
        let (plain, ctrl) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        assert_eq!(press(&mut input, KeyCode::Char('w'), ctrl), "one |");
        assert_eq!(press(&mut input, KeyCode::Left, plain), "one| ");
        assert_eq!(press(&mut input, KeyCode::Backspace, plain), "on| ");
        assert_eq!(press(&mut input, KeyCode::Home, plain), "|on ");
        assert_eq!(press(&mut input, KeyCode::Delete, plain), "|n ");
        assert_eq!(press(&mut input, KeyCode::Char('é'), plain), "é|n ");
        input.insert("a\nb\u{1b}");
        assert_eq!(press(&mut input, KeyCode::End, plain), "éa bn |");
        assert_eq!(press(&mut input, KeyCode::Char('u'), ctrl), "|");
    }
}
