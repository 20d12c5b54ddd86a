//! Divides the terminal into a title, headings, the screen's text and a footer.

use ratatui::layout::Rect;

use crate::keys::Scope;

/// The parts of the terminal. Each part is empty if there is not enough space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Areas {
    pub(crate) title: Rect,
    /// The row with the headings of the columns.
    pub(crate) heading: Rect,
    /// The column in which the cursor is marked.
    pub(crate) gutter: Rect,
    pub(crate) text: Rect,
    /// The column that shows which part of the text is on the screen.
    pub(crate) bar: Rect,
    pub(crate) footer: Rect,
}

impl Areas {
    pub(crate) fn of((columns, rows): (u16, u16), scope: Option<Scope>) -> Self {
        let is_table =
            matches!(scope, Some(Scope::List | Scope::Trash | Scope::Picker | Scope::Tree));
        let title = u16::from(rows >= 3);
        let footer = u16::from(rows >= 2);
        let heading = u16::from((is_table || scope == Some(Scope::Compare)) && rows >= 6);
        let top = title + heading;
        let height = rows.saturating_sub(top + footer);
        let gutter = u16::from(columns >= 4);
        let has_bar = scope == Some(Scope::Reader) && columns >= 20;
        let bar = u16::from(has_bar);
        let width = columns.saturating_sub(gutter + bar);
        Self {
            title: Rect::new(0, 0, columns, title),
            heading: Rect::new(gutter, title, columns - gutter, heading),
            gutter: Rect::new(0, top, gutter, height),
            text: Rect::new(gutter, top, width, height),
            bar: Rect::new(gutter + width, top, bar, height),
            footer: Rect::new(0, rows.saturating_sub(footer), columns, footer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fill_the_terminal_at_every_size() {
        for columns in 0..30 {
            for rows in 0..10 {
                let areas = Areas::of((columns, rows), Some(Scope::Reader));
                let Areas { title, heading, gutter, text, bar, footer } = areas;
                assert_eq!(title.height + heading.height + text.height + footer.height, rows);
                assert_eq!(gutter.width + text.width + bar.width, columns);
            }
        }
    }
}
