//! The tree of a family: its forks and sub-agents.

use forklore_core::SessionId;

use crate::cursor::Cursor;
use crate::found::Needle;
use crate::keys::Command;
use crate::model::Row;
use crate::request::{Answer, Request};

/// The maximum depth at which a tree is drawn with lines. A deeper session shows its depth instead.
const DRAWN: usize = 12;

/// The tree of the family of a session.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    session: SessionId,
    rows: Vec<(String, Row)>,
    cursor: Cursor,
    is_stale: bool,
    is_loading: bool,
    has_loaded: bool,
}

impl Tree {
    pub(crate) fn of(session: SessionId) -> Self {
        let cursor = Cursor::default();
        Self {
            session,
            rows: Vec::new(),
            cursor,
            is_stale: true,
            is_loading: false,
            has_loaded: false,
        }
    }

    pub(crate) fn is_loading(&self) -> bool {
        !self.has_loaded
    }

    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the rows on the screen, each with the lines of the tree before it, and whether the
    /// cursor is on it.
    pub(crate) fn visible(&self, height: usize) -> impl Iterator<Item = (&str, &Row, bool)> {
        let range = self.cursor.visible(self.rows.len(), height);
        let rows = self.rows.iter().enumerate().skip(range.start).take(range.len());
        rows.map(|(at, (lines, row))| (lines.as_str(), row, at == self.cursor.at))
    }

    pub(crate) fn current(&self) -> Option<&Row> {
        self.rows.get(self.cursor.at).map(|(_, row)| row)
    }

    pub(crate) fn motion(&mut self, command: Command, height: usize) -> bool {
        self.cursor.motion(command, self.rows.len(), height)
    }

    pub(crate) fn wheel(&mut self, rows: isize, height: usize) {
        self.cursor.wheel(rows, self.rows.len(), height);
    }

    pub(crate) fn click(&mut self, row: usize, height: usize) -> bool {
        let (before, at) = (self.cursor.at, self.cursor.top + row);
        if at < self.rows.len() {
            self.cursor.go_to(at, self.rows.len(), height);
        }
        before == at
    }

    pub(crate) fn resize(&mut self, height: usize) {
        self.cursor.settle(self.rows.len(), height);
    }

    pub(crate) fn find(&mut self, needle: &Needle, backward: bool, height: usize) -> bool {
        let is_it = |(_, row): &(String, Row)| {
            let texts = [&row.name(), &row.label, &row.agent];
            texts.iter().any(|text| !needle.ranges(text.as_str()).is_empty())
        };
        let found = self.rows.iter().enumerate().filter(|(_, row)| is_it(row)).map(|(at, _)| at);
        let found: Vec<_> = found.collect();
        let at = self.cursor.at;
        let found = if backward {
            found.iter().rev().find(|found| **found < at).or(found.last())
        } else {
            found.iter().find(|found| **found > at).or(found.first())
        };
        let found = found.copied();
        if let Some(at) = found {
            self.cursor.go_to(at, self.rows.len(), height);
        }
        found.is_some()
    }

    /// Marks the tree as out of date if it contains the session, or if it may contain the session
    /// because the session is new.
    pub(crate) fn changed(&mut self, is_new: bool, session: &SessionId) {
        let is_here = || self.rows.iter().any(|(_, row)| row.id == *session);
        self.is_stale = self.is_stale || is_new || is_here();
    }

    pub(crate) fn wants(&mut self) -> Option<Request> {
        if self.is_loading || !self.is_stale {
            return None;
        }
        (self.is_loading, self.is_stale) = (true, false);
        Some(Request::Tree(self.session.clone()))
    }

    pub(crate) fn receive(&mut self, answer: &Answer, height: usize) {
        match answer {
            Answer::Tree { rows, .. } => {
                (self.is_loading, self.has_loaded) = (false, true);
                let on = self.current().map_or(&self.session, |row| &row.id).clone();
                let lines = guides(rows);
                self.rows = lines.into_iter().zip(rows.iter().cloned()).collect();
                let at = self.rows.iter().position(|(_, row)| row.id == on);
                self.cursor.at = at.unwrap_or(self.cursor.at);
                // Request the tree by its root from now on, so that the tree remains when the
                // session for which it was opened is deleted.
                if let Some(root) = self.rows.first().filter(|(_, row)| row.deleted.is_none()) {
                    self.session = root.1.id.clone();
                }
            }
            Answer::Failed(_) => (self.is_loading, self.has_loaded) = (false, true),
            _ => {}
        }
        self.cursor.settle(self.rows.len(), height);
    }
}

/// Returns the lines that are drawn before each row of a tree in pre-order.
fn guides(rows: &[Row]) -> Vec<String> {
    // The loop goes backward. For each depth: whether a further sibling follows.
    let mut follows: Vec<bool> = Vec::new();
    let mut guides = Vec::with_capacity(rows.len());
    for row in rows.iter().rev() {
        follows.truncate(row.depth + 1);
        follows.resize(row.depth + 1, false);
        guides.push(guide(row.depth, &follows));
        if let Some(own) = follows.last_mut() {
            *own = true;
        }
    }
    guides.reverse();
    guides
}

fn guide(depth: usize, follows: &[bool]) -> String {
    if depth == 0 {
        return String::new();
    }
    if depth > DRAWN {
        return format!("{}({depth}) ", "   ".repeat(DRAWN));
    }
    let line = |at: usize| follows.get(at).copied().unwrap_or_default();
    let above: String = (1..depth).map(|at| if line(at) { "│  " } else { "   " }).collect();
    above + if line(depth) { "├─ " } else { "└─ " }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::plain_row;

    #[test]
    fn branches_are_drawn_with_lines() {
        let depths = [0, 1, 2, 2, 1, 2, 0, 13];
        let rows: Vec<_> =
            depths.iter().map(|depth| Row { depth: *depth, ..plain_row("s") }).collect();
        let drawn: Vec<_> = guides(&rows).into_iter().map(|line| line + "s").collect();
        let deep = format!("{}(13) s", "   ".repeat(12));
        let expected = ["s", "├─ s", "│  ├─ s", "│  └─ s", "└─ s", "   └─ s", "s", deep.as_str()];
        assert_eq!(drawn, expected);
    }
}
