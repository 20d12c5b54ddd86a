//! Draws the tables: lists of sessions, trees and hits.

use forklore_core::SessionKind;
use jiff::Zoned;
use ratatui::layout::Rect;

use super::canvas::View;
use crate::age::age;
use crate::app::App;
use crate::areas::Areas;
use crate::keys::Scope;
use crate::model::{Found, Row};
use crate::screen::hits::{HEIGHT, Hits};
use crate::screen::list::{List, ShownRow};
use crate::screen::tree::Tree;
use crate::text::Line;
use crate::tone::Tone;

/// A column beside the name of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Label,
    Agent,
    Turns,
    Updated,
    From,
    Folder,
}

impl Column {
    fn heading(self, is_trash: bool) -> &'static str {
        match self {
            Self::Label => "LABEL",
            Self::Agent => "AGENT",
            Self::Turns => "TURNS",
            Self::Updated if is_trash => "DELETED",
            Self::Updated => "UPDATED",
            Self::From => "FROM",
            Self::Folder => "FOLDER",
        }
    }

    fn width(self) -> usize {
        match self {
            Self::Label => 16,
            Self::Agent => 8,
            Self::Turns => 5,
            Self::Updated => 11,
            Self::From => 12,
            Self::Folder => 28,
        }
    }

    /// Returns the minimum width of a screen that shows the column.
    fn needs(self) -> usize {
        match self {
            Self::Updated => 36,
            Self::Turns => 48,
            Self::Agent => 58,
            Self::From => 70,
            Self::Label => 80,
            Self::Folder => 110,
        }
    }

    fn text(self, row: &Row, now: &Zoned) -> Line {
        let cell = match self {
            Self::Label => return Line::default().safe(label_tone(row), row.label.clone()),
            Self::Agent => return Line::default().safe(Tone::Dim, row.agent.clone()),
            Self::From => return Line::default().safe(Tone::Dim, row.cut.clone()),
            Self::Folder => return Line::default().safe(Tone::Dim, row.folder.clone()),
            Self::Turns => format!("{:>5}", row.turns),
            Self::Updated if row.running => return Line::of(Tone::Warn, "running"),
            Self::Updated => age(now, row.deleted.unwrap_or(row.updated)),
        };
        Line::of(Tone::Dim, cell)
    }
}

fn label_tone(row: &Row) -> Tone {
    match row.kind {
        _ if row.deleted.is_some() => Tone::Bad,
        SessionKind::Delegate => Tone::Delegate,
        SessionKind::Root | SessionKind::Branch => Tone::Label,
    }
}

/// The columns that fit a screen, and the width of the name before them.
struct Columns {
    shown: Vec<Column>,
    name: usize,
    width: usize,
}

impl Columns {
    fn of(columns: &[Column], width: u16) -> Self {
        let width = usize::from(width);
        let fits = columns.iter().copied().filter(|column| column.needs() <= width);
        let shown: Vec<_> = fits.collect();
        let used: usize = shown.iter().map(|column| column.width() + 2).sum();
        Self { shown, name: width.saturating_sub(used), width }
    }

    fn heading(&self, view: &mut View<'_, '_>, area: Rect, name: &str, is_trash: bool) {
        let cells = self.shown.iter().map(|column| Line::of(Tone::Dim, column.heading(is_trash)));
        self.draw(view, area, 0, &Line::of(Tone::Dim, name), cells);
    }

    fn draw(
        &self,
        view: &mut View<'_, '_>,
        area: Rect,
        row: u16,
        name: &Line,
        cells: impl Iterator<Item = Line>,
    ) {
        let name_width = u16::try_from(self.name.min(self.width)).unwrap_or(u16::MAX);
        view.line(Rect { width: name_width.min(area.width), ..area }, row, name);
        let mut x = area.x.saturating_add(name_width);
        for (column, cell) in self.shown.iter().zip(cells) {
            let width = u16::try_from(column.width()).unwrap_or(u16::MAX);
            view.line(Rect { x: x.saturating_add(2), width, ..area }, row, &cell);
            x = x.saturating_add(width + 2);
        }
    }
}

pub(super) fn list(app: &App, list: &List, view: &mut View<'_, '_>, areas: &Areas) {
    let everywhere = list.workspace().is_none();
    let mut wanted = vec![Column::Label, Column::Agent, Column::Turns, Column::Updated];
    if everywhere {
        wanted.push(Column::Folder);
    }
    let columns = Columns::of(&wanted, areas.text.width);
    columns.heading(view, areas.heading, "SESSION", list.scope() == Scope::Trash);
    let height = usize::from(areas.text.height);
    let now = app.now();
    let mut is_empty = true;
    for (row, shown) in (0_u16..).zip(list.visible(height)) {
        is_empty = false;
        let cells = columns.shown.iter().map(|column| column.text(shown.row, &now));
        let marked = app.marked.as_ref().is_some_and(|(marked, _)| *marked == shown.row.id);
        let name = list_name(&shown, marked, columns.shown.contains(&Column::Label));
        columns.draw(view, areas.text, row, &name, cells);
        if shown.is_current {
            view.mark(areas.gutter, row);
            view.mark(areas.text, row);
        }
    }
    if is_empty {
        let text = match (list.is_loading(), list.scope()) {
            (true, _) => "reading ...",
            (false, Scope::Trash) => "nothing is deleted here",
            (false, _) if everywhere => "no sessions yet",
            (false, _) => "no sessions in this folder; a shows those of all folders",
        };
        view.line(areas.text, 0, &Line::of(Tone::Dim, text));
    }
}

fn list_name(shown: &ShownRow<'_>, is_marked: bool, has_label: bool) -> Line {
    let mut line = Line::of(Tone::Plain, if shown.is_member { "  └ " } else { "" });
    if is_marked {
        line = line.and(Tone::Warn, "* ");
    }
    if shown.further > 0 {
        line = line.and(Tone::Label, format!("+{} ", shown.further));
    }
    named(line, shown.row, has_label)
}

/// Adds the name of a session: its title, its first words, or its label.
fn named(line: Line, row: &Row, has_label: bool) -> Line {
    let name = row.name();
    let tone = match (&row.title, row.deleted) {
        (_, Some(_)) => Tone::Bad,
        (Some(_), None) => Tone::Plain,
        (None, None) => Tone::Dim,
    };
    if name.is_empty() && !has_label {
        return line.safe(label_tone(row), row.label.clone());
    }
    line.safe(tone, name)
}

pub(super) fn tree(app: &App, tree: &Tree, view: &mut View<'_, '_>, areas: &Areas) {
    let wanted = [Column::From, Column::Agent, Column::Turns, Column::Updated];
    let columns = Columns::of(&wanted, areas.text.width);
    columns.heading(view, areas.heading, "BRANCH", false);
    let height = usize::from(areas.text.height);
    let now = app.now();
    for (row, (guide, session, is_current)) in (0_u16..).zip(tree.visible(height)) {
        let cells = columns.shown.iter().map(|column| column.text(session, &now));
        let marked = app.marked.as_ref().is_some_and(|(marked, _)| *marked == session.id);
        let mut name = Line::of(Tone::Dim, guide).and(Tone::Warn, if marked { "* " } else { "" });
        name = name.safe(label_tone(session), session.label.clone()).and(Tone::Plain, "  ");
        if !session.note.is_empty() {
            name = name.safe(Tone::Warn, session.note.clone()).and(Tone::Plain, "  ");
        }
        columns.draw(view, areas.text, row, &named(name, session, true), cells);
        if is_current {
            view.mark(areas.gutter, row);
            view.mark(areas.text, row);
        }
    }
    if tree.is_loading() {
        view.line(areas.text, 0, &Line::of(Tone::Dim, "reading ..."));
    }
}

pub(super) fn hits(app: &App, hits: &Hits, view: &mut View<'_, '_>, areas: &Areas) {
    if let Some(state) = hits.state() {
        return view.line(areas.text, 0, &Line::default().safe(Tone::Dim, state.clone()));
    }
    let height = usize::from(areas.text.height);
    let now = app.now();
    for (at, (hit, is_current)) in (0_u16..).zip(hits.visible(height)) {
        let row = at.saturating_mul(u16::try_from(HEIGHT).unwrap_or(2));
        view.line(areas.text, row, &hit_heading(hit, hits.is_everywhere(), &now));
        let snippet = crate::text::wrapped(
            &hit.snippet,
            Tone::Plain,
            &hit.marks.iter().map(|range| (range.clone(), Tone::Found)).collect::<Vec<_>>(),
            2,
            usize::MAX,
        );
        if let Some(line) = snippet.first() {
            view.line(areas.text, row + 1, line);
        }
        if is_current {
            view.mark(areas.gutter, row);
            view.mark(areas.gutter, row + 1);
            view.mark(areas.text, row);
        }
    }
}

fn hit_heading(hit: &Found, has_folder: bool, now: &Zoned) -> Line {
    let mut line = Line::default()
        .safe(Tone::Label, hit.label.clone())
        .and(Tone::Plain, "  ")
        .safe(Tone::Dim, hit.agent.clone())
        .and(Tone::Plain, "  ")
        .safe(Tone::Tool, hit.what.clone())
        .and(Tone::Dim, format!("  {}", age(now, hit.ts)));
    if hit.others > 0 {
        line = line.and(Tone::Dim, format!("  in {} branches", hit.others + 1));
    }
    if has_folder {
        line = line.and(Tone::Dim, "  ").safe(Tone::Dim, hit.folder.clone());
    }
    line.and(Tone::Dim, "  ").safe(Tone::Dim, hit.title.clone())
}
