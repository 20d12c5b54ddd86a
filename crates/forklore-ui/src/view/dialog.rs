//! Draws dialogs over the screen.

use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, Clear};

use super::canvas::View;
use crate::app::App;
use crate::dialog::{Dialog, Item};
use crate::keys::{MOUSE, Scope, bindings};
use crate::text::Line;
use crate::tone::Tone;

pub(super) fn draw(app: &App, dialog: &Dialog, view: &mut View<'_, '_>) {
    match dialog {
        Dialog::Prompt { .. } => {}
        Dialog::Help { top } => {
            let lines = help_lines(app.scope());
            let area = centered(app.size, widest(&lines), lines.len());
            let title = format!(" Keys: {} ", app.scope().name());
            let inner = frame(view, area, &title);
            let most = lines.len().saturating_sub(usize::from(inner.height));
            for (row, line) in (0_u16..inner.height).zip(lines.iter().skip((*top).min(most))) {
                view.line(inner, row, line);
            }
        }
        Dialog::Menu { title, text, items, at } => {
            let inner = frame(view, menu_area(title, text, items, app.size), "");
            let lines = std::iter::once(title).chain(text).cloned();
            let keys = items.iter().map(item_line);
            let lines: Vec<_> = lines.chain(keys).collect();
            let first = first_line(lines.len(), text.len() + 1 + at, inner);
            for (row, line) in (0_u16..inner.height).zip(lines.iter().skip(first)) {
                view.line(inner, row, line);
            }
            let current = u16::try_from((text.len() + 1 + at).saturating_sub(first)).unwrap_or(0);
            let marked = super::canvas::row_of(inner, current).intersection(view.frame.area());
            let style = Style::new().add_modifier(Modifier::REVERSED);
            view.frame.buffer_mut().set_style(marked, style);
        }
    }
}

/// Returns the first line of a menu to show, so that the current item is on the screen.
fn first_line(lines: usize, current: usize, inner: Rect) -> usize {
    let height = usize::from(inner.height);
    if lines <= height { 0 } else { (current + 1).saturating_sub(height) }
}

fn item_line(item: &Item) -> Line {
    Line::of(Tone::Key, format!("{} ", item.key)).then(item.text.clone())
}

fn menu_area(title: &Line, text: &[Line], items: &[Item], size: (u16, u16)) -> Rect {
    let keys: Vec<_> = items.iter().map(item_line).collect();
    let width = widest(text).max(title.width()).max(widest(&keys));
    centered(size, width, text.len() + 1 + items.len())
}

fn widest(lines: &[Line]) -> usize {
    lines.iter().map(Line::width).max().unwrap_or(0)
}

/// Returns an area in the middle of the terminal for text of this size, with a frame around it.
fn centered((columns, rows): (u16, u16), width: usize, height: usize) -> Rect {
    let fit = |size: usize, most: u16| u16::try_from(size).unwrap_or(u16::MAX).min(most);
    let (width, height) = (fit(width + 4, columns), fit(height + 2, rows));
    Rect::new((columns - width) / 2, (rows - height) / 2, width, height)
}

/// Draws an empty frame, and returns the area in it.
fn frame(view: &mut View<'_, '_>, area: Rect, title: &str) -> Rect {
    let area = area.intersection(view.frame.area());
    view.frame.render_widget(Clear, area);
    let block = Block::bordered().title(title);
    let inner = block.inner(area);
    view.frame.render_widget(block, area);
    let indent = u16::from(inner.width > 4);
    Rect { x: inner.x + indent, width: inner.width - indent, ..inner }
}

/// Returns the index of the menu's item at a position of the terminal, or `None` if there is no
/// item.
pub(crate) fn item_at(dialog: &Dialog, size: (u16, u16), at: Position) -> Option<usize> {
    let Dialog::Menu { title, text, items, at: current } = dialog else { return None };
    let area = menu_area(title, text, items, size);
    let inner = Block::bordered().inner(area);
    if !inner.contains(at) {
        return None;
    }
    let lines = text.len() + 1 + items.len();
    let line = usize::from(at.y - inner.y) + first_line(lines, text.len() + 1 + current, inner);
    line.checked_sub(text.len() + 1)
}

/// Returns the lines of the help of a screen, from the table of keys.
pub(crate) fn help_lines(scope: Scope) -> Vec<Line> {
    let keys = bindings(scope).map(|binding| {
        let names: Vec<_> = binding.keys.iter().map(|key| key.name()).collect();
        (names.join(" "), binding.does)
    });
    let mouse = MOUSE.iter().map(|(what, does)| ((*what).to_owned(), *does));
    let system = [("Ctrl-C", "leave at once"), ("Ctrl-Z", "stop; fg continues")];
    let system = system.iter().map(|(key, does)| ((*key).to_owned(), *does));
    keys.chain(system)
        .chain(mouse)
        .map(|(keys, does)| Line::of(Tone::Key, format!("{keys:<14} ")).and(Tone::Plain, does))
        .collect()
}
