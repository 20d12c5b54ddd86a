//! Draws the state of the interface. Reads nothing but the state.

mod dialog;
mod footer;
mod pages;
mod tables;
mod title;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line as Spans, Span};

use crate::app::App;
use crate::screen::Screen;
use crate::text::Line;

pub(crate) use dialog::{help_lines, item_at};

/// Draws the interface.
pub fn draw(app: &App, frame: &mut Frame<'_>) {
    let mut view = View { frame, color: app.options.color };
    let areas = app.areas();
    title::draw(app, &mut view, areas.title);
    match app.screen() {
        Some(Screen::List(list)) => tables::list(app, list, &mut view, &areas),
        Some(Screen::Tree(tree)) => tables::tree(app, tree, &mut view, &areas),
        Some(Screen::Hits(hits)) => tables::hits(app, hits, &mut view, &areas),
        Some(Screen::Reader(reader)) => pages::reader(reader, &mut view, &areas),
        Some(Screen::Compare(compare)) => pages::compare(compare, &mut view, &areas),
        None => {}
    }
    footer::draw(app, &mut view, areas.footer);
    if let Some(shown) = &app.dialog {
        dialog::draw(app, shown, &mut view);
    }
}

/// The frame to draw into.
struct View<'a, 'b> {
    frame: &'a mut Frame<'b>,
    color: bool,
}

impl View<'_, '_> {
    /// Draws a line at a row of an area. What does not fit is cut.
    fn line(&mut self, area: Rect, row: u16, line: &Line) {
        self.styled(area, row, line, Style::new());
    }

    /// Draws a line with a further style.
    fn styled(&mut self, area: Rect, row: u16, line: &Line, style: Style) {
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
    fn mark(&mut self, area: Rect, row: u16) {
        let area = row_of(area, row).intersection(self.frame.area());
        self.frame.buffer_mut().set_style(area, Style::new().add_modifier(Modifier::REVERSED));
    }
}

/// Returns one row of an area; empty if the area has no such row.
fn row_of(area: Rect, row: u16) -> Rect {
    let height = u16::from(row < area.height);
    Rect { y: area.y.saturating_add(row), height, ..area }
}
