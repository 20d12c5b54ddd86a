//! Draws the pages: conversations and comparisons.

use ratatui::layout::Rect;

use super::canvas::View;
use crate::areas::Areas;
use crate::screen::compare::Compare;
use crate::screen::reader::Reader;
use crate::scroll::At;
use crate::text::Line;
use crate::tone::Tone;

pub(super) fn reader(reader: &Reader, view: &mut View<'_, '_>, areas: &Areas) {
    let height = usize::from(areas.text.height);
    lines(view, areas, reader.visible(height), reader.cursor());
    bar(reader, view, areas.bar);
    let state = match (reader.is_gone(), reader.failure()) {
        (true, _) => Some(Line::of(Tone::Bad, "this session was deleted; Esc goes back")),
        (false, Some(why)) => Some(Line::default().safe(Tone::Bad, why.clone())),
        (false, None) if reader.is_loading() => Some(Line::of(Tone::Dim, "reading ...")),
        (false, None) if reader.head().is_none() => Some(Line::of(Tone::Dim, "nothing yet")),
        (false, None) => None,
    };
    let state = state.or_else(|| {
        let text = reader.finding()?;
        Some(Line::of(Tone::Warn, format!("searching for {text} ... Esc stops")))
    });
    banner(view, areas.text, state.as_ref());
}

pub(super) fn compare(compare: &Compare, view: &mut View<'_, '_>, areas: &Areas) {
    if let Some(about) = compare.about() {
        let [a, b] = &about.sessions;
        let half = areas.heading.width.saturating_sub(3) / 2;
        let right = Rect {
            x: areas.heading.x.saturating_add(half + 3),
            width: areas.heading.width.saturating_sub(half + 3),
            ..areas.heading
        };
        let sides = [(a, Tone::ChangedA, about.alone[0]), (b, Tone::ChangedB, about.alone[1])];
        let left = Rect { width: half, ..areas.heading };
        for ((row, tone, alone), area) in sides.into_iter().zip([left, right]) {
            let alone = format!("  {alone} alone  ");
            let line = Line::default().safe(tone, row.label.clone()).and(Tone::Dim, alone);
            view.line(area, 0, &line.safe(Tone::Plain, row.name()));
        }
    }
    let height = usize::from(areas.text.height);
    lines(view, areas, compare.visible(height), compare.cursor());
    let state = match (compare.is_gone(), compare.failure(), compare.about()) {
        (true, ..) => Some(Line::of(Tone::Bad, "a session was deleted; Esc goes back")),
        (false, Some(why), _) => Some(Line::default().safe(Tone::Bad, why.clone())),
        (false, None, None) => Some(Line::of(Tone::Dim, "reading ...")),
        (false, None, Some(about)) if about.alone == [0, 0] => {
            Some(Line::of(Tone::Dim, "no message differs"))
        }
        (false, None, Some(_)) => None,
    };
    banner(view, areas.text, state.as_ref());
}

/// Draws a remark over the last line of the text.
fn banner(view: &mut View<'_, '_>, area: Rect, state: Option<&Line>) {
    if let Some(line) = state {
        let row = area.height.saturating_sub(1);
        let gap = " ".repeat(usize::from(area.width).saturating_sub(line.width()));
        view.line(area, row, &line.clone().and(Tone::Plain, gap));
    }
}

fn lines<'a>(
    view: &mut View<'_, '_>,
    areas: &Areas,
    lines: impl Iterator<Item = (At, &'a Line)>,
    cursor: At,
) {
    for (row, (at, line)) in (0_u16..).zip(lines) {
        view.line(areas.text, row, line);
        if at.block == cursor.block {
            let mark = if at.line == cursor.line { "▶" } else { "│" };
            view.line(areas.gutter, row, &Line::of(Tone::Key, mark));
        }
    }
}

/// Draws the position of the cursor in the session.
fn bar(reader: &Reader, view: &mut View<'_, '_>, area: Rect) {
    let (Some(head), Some(entry)) = (reader.head(), reader.current()) else { return };
    if area.height == 0 || head == 0 {
        return;
    }
    let last = u64::from(area.height - 1);
    let at = entry.seq.min(head).saturating_mul(last) / head;
    for row in 0..area.height {
        let mark = if u64::from(row) == at { "█" } else { "│" };
        view.line(area, row, &Line::of(Tone::Dim, mark));
    }
}
