//! A cursor in a list, and the part of the list on the screen.

use std::ops::Range;

use crate::keys::Command;

/// The item under the cursor, and the first item on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) at: usize,
    pub(crate) top: usize,
}

impl Cursor {
    /// Moves the cursor as a command says, in a list of `count` items of which `shown` fit on the
    /// screen. Returns false if the command is no motion.
    pub(crate) fn motion(&mut self, command: Command, count: usize, shown: usize) -> bool {
        let (page, half) = (shown.max(1), (shown / 2).max(1));
        let back = |by: usize| self.at.saturating_sub(by);
        self.at = match command {
            Command::Down => self.at + 1,
            Command::Up => back(1),
            Command::PageDown => self.at + page,
            Command::PageUp => back(page),
            Command::HalfDown => self.at + half,
            Command::HalfUp => back(half),
            Command::First => 0,
            Command::Last => count,
            _ => return false,
        };
        self.settle(count, shown);
        true
    }

    /// Moves the cursor to an item.
    pub(crate) fn go_to(&mut self, at: usize, count: usize, shown: usize) {
        self.at = at;
        self.settle(count, shown);
    }

    /// Scrolls the list by `items`, down if positive. The cursor moves only if it would leave the
    /// screen.
    pub(crate) fn wheel(&mut self, items: isize, count: usize, shown: usize) {
        let last = count.saturating_sub(shown);
        self.top = self.top.saturating_add_signed(items).min(last);
        self.at = self.at.clamp(self.top, self.top + shown.saturating_sub(1));
        self.settle(count, shown);
    }

    /// Corrects the positions after the list or the screen has changed, so that the cursor is on an
    /// item and on the screen.
    pub(crate) fn settle(&mut self, count: usize, shown: usize) {
        let shown = shown.max(1);
        self.at = self.at.min(count.saturating_sub(1));
        self.top = self.top.min(self.at).max((self.at + 1).saturating_sub(shown));
        self.top = self.top.min(count.saturating_sub(shown));
    }

    /// Returns the indexes of the items on the screen.
    pub(crate) fn visible(self, count: usize, shown: usize) -> Range<usize> {
        self.top.min(count)..(self.top + shown).min(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_in_the_list_and_on_the_screen() {
        let mut cursor = Cursor::default();
        let after = |cursor: &mut Cursor, command| {
            assert!(cursor.motion(command, 10, 4));
            (cursor.at, cursor.visible(10, 4))
        };
        assert_eq!(after(&mut cursor, Command::Down), (1, 0..4));
        assert_eq!(after(&mut cursor, Command::PageDown), (5, 2..6));
        assert_eq!(after(&mut cursor, Command::HalfDown), (7, 4..8));
        assert_eq!(after(&mut cursor, Command::Last), (9, 6..10));
        assert_eq!(after(&mut cursor, Command::PageUp), (5, 5..9));
        assert_eq!(after(&mut cursor, Command::First), (0, 0..4));
        cursor.wheel(3, 10, 4);
        assert_eq!(cursor, Cursor { at: 3, top: 3 });
        cursor.wheel(99, 10, 4);
        assert_eq!(cursor, Cursor { at: 6, top: 6 });
        cursor.settle(2, 4);
        assert_eq!(cursor, Cursor { at: 1, top: 0 });
        cursor.settle(0, 0);
        assert_eq!(cursor.visible(0, 0), 0..0);
        assert!(!cursor.motion(Command::Fork, 10, 4));
    }
}
