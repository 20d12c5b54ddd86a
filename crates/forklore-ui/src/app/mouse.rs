//! Handles the mouse.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::App;
use crate::dialog::Dialog;
use crate::keys::{Command, Scope};

/// The number of lines by which a step of the wheel scrolls.
const LINES: isize = 3;

impl App {
    pub(super) fn mouse(&mut self, mouse: &MouseEvent) {
        let size = self.body();
        let lines = match mouse.kind {
            MouseEventKind::ScrollDown => LINES,
            MouseEventKind::ScrollUp => -LINES,
            MouseEventKind::Down(MouseButton::Left) => {
                return self.click(Position::new(mouse.column, mouse.row));
            }
            _ => return,
        };
        if let Some(Dialog::Help { top }) = &mut self.dialog {
            let most =
                crate::view::help_lines(self.screens.last().map_or(Scope::List, |it| it.1.scope()));
            *top = top.saturating_add_signed(lines).min(most.len().saturating_sub(1));
        } else if self.dialog.is_none()
            && let Some(screen) = self.screen_mut()
        {
            screen.wheel(lines, size);
        }
    }

    fn click(&mut self, at: Position) {
        self.notice = None;
        if let Some(dialog) = &mut self.dialog {
            let row = crate::view::item_at(dialog, self.size, at);
            match (dialog, row) {
                // As on a screen, the first click moves the cursor, and the second one acts.
                (Dialog::Menu { at: cursor, .. }, Some(row)) if *cursor != row => *cursor = row,
                (Dialog::Menu { items, .. }, Some(row)) => {
                    let reply = items.get(row).map(|item| item.reply.clone());
                    self.reply(reply);
                }
                (Dialog::Help { .. }, _) => self.dialog = None,
                _ => {}
            }
            return;
        }
        let (areas, size) = (self.areas(), self.body());
        if !areas.text.contains(at) && !areas.gutter.contains(at) {
            return;
        }
        let row = usize::from(at.y.saturating_sub(areas.text.y));
        let again = self.screen_mut().is_some_and(|screen| screen.click(row, size));
        if again {
            let is_text = matches!(self.scope(), Scope::Reader | Scope::Compare);
            self.command(if is_text { Command::Unfold } else { Command::Open });
        }
    }
}
