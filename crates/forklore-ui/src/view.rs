//! Draws the state of the interface. Reads nothing but the state.

mod canvas;
mod dialog;
mod footer;
mod pages;
mod tables;
mod title;

use ratatui::Frame;

use crate::app::App;
use crate::screen::Screen;
use canvas::View;

pub(crate) use dialog::{help_lines, item_at};

/// Draws the interface.
pub fn draw(app: &App, frame: &mut Frame<'_>) {
    let mut view = View::of(frame, app.options.color);
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
