//! Draws lines into a frame.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line as Spans, Span};

use crate::text::Line;

/// The frame to draw into.
pub(super) struct View<'a, 'b> {
    pub(super) frame: &'a mut Frame<'b>,
    color: bool,
}

impl<'a, 'b> View<'a, 'b> {
    pub(super) fn of(frame: &'a mut Frame<'b>, color: bool) -> Self {
        Self { frame, color }
    }

    /// Draws a line at a row of an area. What does not fit is cut.
    pub(super) fn line(&mut self, area: Rect, row: u16, line: &Line) {
        self.styled(area, row, line, Style::new());
    }

    /// Draws a line as [`line`](Self::line) does, with an additional style.
    pub(super) fn styled(&mut self, area: Rect, row: u16, line: &Line, style: Style) {
        let area = row_of(area, row).intersection(self.frame.area());
        if area.is_empty() {
            return;
        }
        let spans = line
            .pieces()
            .iter()
            .map(|(tone, text)| Span::styled(text.as_str(), tone.style(self.color).patch(style)));
        self.frame.render_widget(Spans::from_iter(spans), area);
    }

    /// Marks a row as the one of the cursor.
    pub(super) fn mark(&mut self, area: Rect, row: u16) {
        let area = row_of(area, row).intersection(self.frame.area());
        self.frame.buffer_mut().set_style(area, Style::new().add_modifier(Modifier::REVERSED));
    }
}

/// Returns one row of an area; empty if the area has no such row.
pub(super) fn row_of(area: Rect, row: u16) -> Rect {
    let height = u16::from(row < area.height);
    Rect { y: area.y.saturating_add(row), height, ..area }
}
