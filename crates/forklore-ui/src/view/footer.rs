//! The last line: a remark, a prompt, or the keys.

use ratatui::layout::{Position, Rect};

use super::canvas::View;
use crate::app::App;
use crate::dialog::Dialog;
use crate::keys::bindings;
use crate::text::Line;
use crate::tone::Tone;

pub(super) fn draw(app: &App, view: &mut View<'_, '_>, area: Rect) {
    if let Some(Dialog::Prompt { title, hint, input, .. }) = &app.dialog {
        return prompt(view, area, title, hint, &input.parts());
    }
    if let Some(notice) = &app.notice {
        return view.line(area, 0, &Line::of(Tone::Plain, " ").then(notice.clone()));
    }
    view.line(area, 0, &keys(app, usize::from(area.width)));
}

fn prompt(
    view: &mut View<'_, '_>,
    area: Rect,
    title: &str,
    hint: &str,
    (before, after): &(String, String),
) {
    let mut head = Line::of(Tone::Strong, format!(" {title}: "));
    if head.width() + 8 > usize::from(area.width) {
        head = Line::of(Tone::Strong, ":");
    }
    // Leave out the beginning of a long text, so that the cursor remains on the screen.
    let width = usize::from(area.width).saturating_sub(head.width() + 1);
    let mut start = before.as_str();
    while Line::of(Tone::Plain, start).width() > width {
        let mut chars = start.chars();
        chars.next();
        start = chars.as_str();
    }
    let typed = head.and(Tone::Plain, start);
    let column = u16::try_from(typed.width()).unwrap_or(u16::MAX);
    let is_empty = before.is_empty() && after.is_empty();
    let rest = if is_empty { Line::of(Tone::Dim, hint) } else { Line::of(Tone::Plain, after) };
    view.line(area, 0, &typed.then(rest));
    let x = area.x.saturating_add(column).min(area.right().saturating_sub(1));
    if !area.is_empty() {
        view.frame.set_cursor_position(Position::new(x, area.y));
    }
}

/// Returns the keys of the screen that fit the width. The last two keys of the table, which show
/// all keys and leave, always follow.
fn keys(app: &App, width: usize) -> Line {
    let shown = bindings(app.scope()).filter(|binding| !binding.short.is_empty());
    let pieces: Vec<_> = shown
        .filter_map(|binding| {
            let key = binding.keys.first()?.name();
            let line = Line::of(Tone::Key, format!(" {key}"));
            Some(line.and(Tone::Dim, format!(" {} ", binding.short)))
        })
        .collect();
    let (firsts, lasts) = pieces.split_at(pieces.len().saturating_sub(2));
    let lasts_width: usize = lasts.iter().map(Line::width).sum();
    let mut line = Line::default();
    for piece in firsts {
        if line.width() + piece.width() + lasts_width > width {
            break;
        }
        line = line.then(piece.clone());
    }
    lasts.iter().fold(line, |line, piece| line.then(piece.clone()))
}
