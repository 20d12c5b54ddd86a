//! The page of a family: its branches as lanes, and a choice of two to compare.

use std::fmt::Write as _;

use forklore_core::tree::{Mark, Placed};
use forklore_core::units::{count, grouped};
use forklore_core::{Header, SessionId, SessionKind};
use maud::{Markup, html};

use crate::answer::{Answer, Problem};
use crate::families::Tree;
use crate::fate::{self, Fates};
use crate::lanes::{self, Layout};
use crate::params::Params;
use crate::shell::{self, Shell};
use crate::shown::{self, Line};
use crate::{App, Pages};

/// The number of sessions on a page.
const ROWS: usize = 120;
/// The height of a row and the width of a column in the drawing.
const ROW: i64 = 40;
const COLUMN: i64 = 20;
/// The part of a `rem` that a unit of the drawing is. A row is 2.5 rem high in the style sheet.
const UNIT: f64 = 2.5 / 40.0;

/// The page of the family of a session.
pub(crate) fn page(app: &App, session: &SessionId, params: &Params) -> Answer<Markup> {
    let live = shell::live(&app.pages.engine)?;
    let shell = Shell { title: "Family", live: &live, ..Shell::default() };
    let content = part(app, session, params)?;
    Ok(shell.page(&html! {
        div.column {
            div.title-line {
                h1 { "Family" }
                a href={ "/s/" (session) } { "Back to the session" }
            }
            p.note {
                "Each row is a session. Choose two to compare: by their boxes, by clicks with the shift "
                "key, or by the key " kbd { "x" } "."
            }
            section #fragment aria-label="Family" data-fragment={
                "/fragments/f/" (session) (params.with("part", "family"))
            } { (content) }
        }
    }))
}

/// The graph alone, to replace the one on the page.
pub(crate) fn part(app: &App, session: &SessionId, params: &Params) -> Answer<Markup> {
    let pages = &app.pages;
    let root = pages.engine.show(session)?.root_id;
    let tree = app.families.read(&pages.engine, &root)?;
    let nodes = &tree.rows;
    let own = nodes.iter().position(|node| node.id == *session).unwrap_or(0);
    let from = match params.number("from")? {
        Some(from) => usize::try_from(from).unwrap_or(usize::MAX),
        None => own / ROWS * ROWS,
    };
    if from >= nodes.len() {
        let message = format!("This family has {}.", count(nodes.len() as u64, "session"));
        return Err(Problem::missing(message));
    }
    let depths: Vec<_> = nodes.iter().map(|node| node.depth).collect();
    let layout = lanes::layout(&depths, from, ROWS);
    let shown = nodes.iter().skip(from).take(ROWS);
    let rows: Vec<_> = shown.collect();
    let fates = Fates::of(nodes.iter().filter_map(|node| tree.header(node)));
    let pager = |label| pager(session, from, nodes.len(), label);
    Ok(html! {
        @if tree.problems > 0 {
            p.note.bad { (count(tree.problems as u64, "session")) " cannot be read." }
        }
        (pager("Parts of the family"))
        form action="/compare" {
            div.graph {
                (drawing(&tree, &rows, &layout))
                ol start=(from + 1) {
                    @for node in &rows { (row(pages, &tree, node, session, &fates)) }
                }
            }
            div.buttons { button type="submit" { "Compare the chosen" } }
        }
        @if nodes.len() > ROWS { (pager("Parts of the family, at its end")) }
    })
}

fn pager(session: &SessionId, from: usize, all: usize, label: &str) -> Markup {
    let address = |from: usize| format!("/f/{session}?from={from}");
    let last = (all - 1) / ROWS * ROWS;
    html! {
        nav.pager aria-label=(label) {
            @if from > 0 {
                a href=(address(0)) data-key="g" { "⇤ Beginning" }
                a rel="prev" href=(address(from.saturating_sub(ROWS))) data-key="N" { "← Before" }
            }
            span.note {
                "sessions " (grouped(from as u64 + 1)) "–" (grouped(all.min(from + ROWS) as u64))
                " of " (grouped(all as u64))
            }
            @if from + ROWS < all {
                a rel="next" href=(address(from + ROWS)) data-key="n" { "After →" }
                a href=(address(last)) data-key="G" { "End ⇥" }
            }
        }
    }
}

fn row(pages: &Pages, tree: &Tree, node: &Placed, own: &SessionId, fates: &Fates) -> Markup {
    let id = &node.id;
    let Some(header) = tree.header(node) else {
        let why = if tree.damaged.contains(id) { "cannot be read" } else { "is missing" };
        return html! { li data-row { code { (id) } span.soft.bad { (why) } } };
    };
    let is_deleted = header.deleted.is_some();
    let marks = [
        (is_deleted, "deleted"),
        (node.mark == Some(Mark::Cycle), "in a cycle"),
        (header.kind == SessionKind::Delegate, "delegate"),
        (header.copy_of.is_some(), "copy"),
        (pages.engine.has_summary(header), "with a summary"),
    ];
    // What was deleted has no title, and its words are not read.
    let title = if is_deleted { String::new() } else { title(pages, header) };
    html! {
        li.is-self[id == own] data-row data-branch {
            @if !is_deleted {
                input type="checkbox" name="s" value=(id) aria-label={
                    "Choose " (header.label) " to compare"
                };
            }
            a.label href={ "/s/" (id) } data-open aria-current=[(id == own).then_some("true")] {
                (header.label)
            }
            @if pages.engine.is_leased(header) { span.badge.running { "running" } }
            (fate::badge(fates.get(header)))
            @for mark in marks.iter().filter(|(is, _)| *is) { span.badge { (mark.1) } }
            span.title title=(Line(&title)) { (Line(&title)) }
            @if let Some(cut) = &header.cut {
                @if header.kind == SessionKind::Branch { span.soft { "from " (shown::cut(cut)) } }
            }
            span.soft { (count(header.own_events, "event")) }
            span.soft { (shown::ago(header.updated, pages.engine.now(), &pages.zone)) }
        }
    }
}

/// Returns the title of a session, or else the first words that a person typed in it.
fn title(pages: &Pages, header: &Header) -> String {
    let title = header.title.clone().filter(|title| !title.trim().is_empty());
    title.or_else(|| pages.engine.described(header).first_words).unwrap_or_default()
}

/// Draws the lanes of the rows.
fn drawing(tree: &Tree, rows: &[&Placed], layout: &Layout) -> Markup {
    let x = |column: usize| i64::try_from(column).unwrap_or(0) * COLUMN + COLUMN / 2;
    let y = |row: i64| row * ROW + ROW / 2;
    let count = i64::try_from(rows.len()).unwrap_or(0);
    let (width, height) = (x(layout.width) - COLUMN / 2, count * ROW);
    let rem = |units: i64| format!("{}rem", f64::from(i32::try_from(units).unwrap_or(0)) * UNIT);
    html! {
        svg width=(rem(width)) height=(rem(height)) viewBox={ "0 0 " (width) " " (height) }
            preserveAspectRatio="xMinYMin slice" aria-hidden="true" {
            @for lane in &layout.lanes { path.lane d=(path(lane, &x, &y, count)) {} }
            @for (row, (node, column)) in (0..).zip(rows.iter().zip(&layout.columns)) {
                circle.dot.(dot(tree, node)) cx=(x(*column)) cy=(y(row)) r="5" {}
            }
        }
    }
}

/// Returns the path of a lane: down from the parent, and then to the child. The parts outside of the
/// drawing are left out.
fn path(lane: &lanes::Lane, x: &dyn Fn(usize) -> i64, y: &dyn Fn(i64) -> i64, rows: i64) -> String {
    let (parent, child) = (x(lane.from_column), x(lane.to_column));
    let top = if lane.from < 0 { 0 } else { y(lane.from) };
    let mut path = format!("M{parent} {top}");
    if lane.to >= rows {
        let _ = write!(path, "V{}", rows * ROW);
    } else {
        let (end, radius) = (y(lane.to), COLUMN / 2);
        let corner = (end - radius).max(0);
        let _ = write!(path, "V{corner}Q{parent} {end} {} {end}H{child}", parent + radius);
    }
    path
}

fn dot(tree: &Tree, node: &Placed) -> &'static str {
    match tree.header(node) {
        None => "gone",
        Some(header) if header.deleted.is_some() => "gone",
        Some(header) if header.kind == SessionKind::Delegate => "delegate",
        Some(header) if header.copy_of.is_some() => "copy",
        Some(_) => "branch",
    }
}
