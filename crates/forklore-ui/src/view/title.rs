//! Draws the first line, which names the current screen and what it shows.

use forklore_core::units::{count, grouped};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::canvas::View;
use crate::app::App;
use crate::screen::Screen;
use crate::screen::list::List;
use crate::screen::reader::Reader;
use crate::text::Line;
use crate::tone::Tone;

pub(super) fn draw(app: &App, view: &mut View<'_, '_>, area: Rect) {
    let (left, right) = match app.screen() {
        Some(Screen::List(list)) => of_list(list),
        Some(Screen::Tree(tree)) => {
            let sessions = count(tree.count() as u64, "session");
            (Line::of(Tone::Strong, "family"), Line::of(Tone::Dim, sessions))
        }
        Some(Screen::Hits(hits)) => {
            let (found, more) = hits.count();
            let more = if more { " and more" } else { "" };
            let title = Line::of(Tone::Strong, "search ").and(Tone::Found, hits.words());
            (title, Line::of(Tone::Dim, format!("{}{more}", count(found as u64, "hit"))))
        }
        Some(Screen::Reader(reader)) => of_reader(reader),
        Some(Screen::Compare(compare)) => {
            let common = compare.about().map_or(0, |about| about.common);
            let right = format!("{} in common", count(common, "message"));
            (Line::of(Tone::Strong, "comparison"), Line::of(Tone::Dim, right))
        }
        None => return,
    };
    let style = Style::new().add_modifier(Modifier::BOLD);
    view.styled(area, 0, &Line::of(Tone::Plain, " ").then(left.clone()), style);
    let free = usize::from(area.width).saturating_sub(left.width() + right.width() + 2);
    if free > 1 {
        let indent = u16::try_from(left.width() + 1 + free).unwrap_or(u16::MAX);
        let right_area = Rect {
            x: area.x.saturating_add(indent),
            width: area.width.saturating_sub(indent),
            ..area
        };
        view.line(right_area, 0, &right);
    }
}

fn of_list(list: &List) -> (Line, Line) {
    let (sessions, is_all) = list.count();
    let more = if is_all { "" } else { "+" };
    let mut right = Line::of(Tone::Dim, format!("{}{more}", grouped(sessions as u64)));
    if list.damaged() > 0 {
        right = right.and(Tone::Bad, format!("  {} damaged", list.damaged()));
    }
    let folder = list.workspace().map_or("of all folders", |folder| folder.as_str());
    let left = Line::of(Tone::Strong, list.scope().name()).and(Tone::Dim, "  ");
    (left.and(Tone::Dim, folder), right)
}

fn of_reader(reader: &Reader) -> (Line, Line) {
    let Some(row) = reader.row() else {
        return (Line::of(Tone::Strong, reader.session().as_str()), Line::default());
    };
    let left = Line::default().safe(Tone::Label, row.label.clone()).and(Tone::Plain, "  ");
    let left = left.safe(Tone::Strong, row.name());
    let mut right = Line::of(Tone::Dim, format!("{}  ", row.agent)).and(
        Tone::Dim,
        format!("{}, {}", count(row.turns, "turn"), count(row.messages, "message")),
    );
    if row.running {
        right = right.and(Tone::Warn, "  running");
    }
    (left, right)
}
