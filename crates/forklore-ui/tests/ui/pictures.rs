//! The pictures of the interface in the documentation. They are made from what it draws; the test
//! fails if they are out of date, and writes them if `FORKLORE_WRITE_REFERENCE` is set.

use std::fmt::Write as _;
use std::path::Path;

use forklore_core::workspace::Workspace;
use forklore_core::{Label, SessionKind, Usage};
use forklore_engine::Engine;
use forklore_store::port::NewSession;
use forklore_ui::Purpose;
use ratatui::buffer::{Buffer, Cell};
use ratatui::crossterm::event::KeyCode;
use ratatui::style::{Color, Modifier};

use crate::stage::{Stage, append, id, world};

/// The size of a cell in pixels.
const CELL: (usize, usize) = (8, 18);
const BACKGROUND: &str = "#16181d";
const TEXT: &str = "#d8dbe2";

fn color(color: Color) -> Option<&'static str> {
    Some(match color {
        Color::Green => "#98c379",
        Color::Cyan => "#56b6c2",
        Color::Yellow => "#e5c07b",
        Color::Red => "#e06c75",
        Color::Magenta => "#c678dd",
        _ => return None,
    })
}

/// Returns the color of a cell's text, and the color behind it.
fn colors(cell: &Cell) -> (&'static str, Option<&'static str>) {
    let text = color(cell.fg).unwrap_or(TEXT);
    if cell.modifier.contains(Modifier::REVERSED) { (BACKGROUND, Some(text)) } else { (text, None) }
}

/// Draws a buffer as a picture: runs of cells that look the same are one piece of text.
fn svg(buffer: &Buffer) -> String {
    let (columns, rows) = (usize::from(buffer.area.width), usize::from(buffer.area.height));
    let (width, height) = ((columns + 2) * CELL.0, (rows + 1) * CELL.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
    for y in 0..buffer.area.height {
        let mut x = 0;
        while x < buffer.area.width {
            let first = &buffer[(x, y)];
            let same =
                |cell: &Cell| (colors(cell), cell.modifier) == (colors(first), first.modifier);
            let end = (x..buffer.area.width).find(|x| !same(&buffer[(*x, y)]));
            let end = end.unwrap_or(buffer.area.width);
            let text: String = (x..end).map(|x| buffer[(x, y)].symbol()).collect();
            piece(&mut svg, (usize::from(x), usize::from(y)), usize::from(end - x), &text, first);
            x = end;
        }
    }
    svg + "</svg>\n"
}

fn piece(svg: &mut String, (x, y): (usize, usize), cells: usize, text: &str, cell: &Cell) {
    let (text_color, behind) = colors(cell);
    let (left, top) = ((x + 1) * CELL.0, y * CELL.1 + CELL.1 / 2);
    let width = cells * CELL.0;
    if let Some(behind) = behind {
        let height = CELL.1;
        writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{behind}\"/>"
        )
        .unwrap();
    }
    let blank = text.len() - text.trim_start().len();
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let left = left + blank * CELL.0;
    let width = text.chars().count() * CELL.0;
    let weight = if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let dim = if cell.modifier.contains(Modifier::DIM) { " opacity=\"0.6\"" } else { "" };
    let line = if cell.modifier.contains(Modifier::UNDERLINED) {
        " text-decoration=\"underline\""
    } else {
        ""
    };
    writeln!(
        svg,
        "<text x=\"{left}\" y=\"{}\" textLength=\"{width}\" xml:space=\"preserve\" \
         fill=\"{text_color}\"{weight}{dim}{line}>{}</text>",
        top + 13,
        forklore_sanitize::html::text(text)
    )
    .unwrap();
}

fn check(name: &str, stage: &mut Stage) {
    let picture = svg(&stage.buffer());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ui").join(name);
    if std::env::var_os("FORKLORE_WRITE_REFERENCE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &picture).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == picture,
        "docs/ui/{name} is out of date; to write it anew: FORKLORE_WRITE_REFERENCE=1 cargo nextest \
         run --workspace --all-features --test ui pictures"
    );
}

/// Adds a session that an agent wrote.
fn of_agent(engine: &Engine, name: &str, agent: &str, title: &str, turns: usize) {
    let new = NewSession {
        id: id(name),
        kind: SessionKind::Root,
        label: Label::main(),
        title: Some(title.to_owned()),
        workspace: Workspace::new("/demo"),
        principal: None,
        permissions: None,
        metadata: None,
        config: None,
        dialect: Some(agent.to_owned()),
        source: None,
        copy_of: None,
        created: engine.now(),
        from: None,
        events: Vec::new(),
        usage: Usage::default(),
    };
    engine.store().create(new).unwrap();
    for _ in 0..turns {
        append(engine, name, &[("user_message", r#"{"content":"and then?"}"#)]);
    }
}

fn pictured() -> Engine {
    let engine = world();
    of_agent(&engine, "flaky", "claude", "The retry test fails on every third run", 14);
    of_agent(&engine, "docs", "codex", "Explain the store format", 6);
    of_agent(&engine, "review", "pi", "Review the parser change", 9);
    of_agent(&engine, "bump", "gemini", "Update the dependencies", 3);
    engine
}

#[test]
fn pictures_show_what_is_drawn() {
    let size = (96, 20);
    let mut stage = Stage::of(pictured(), size);
    stage.press("/").line("which parser").press(" ");
    check("sessions.svg", &mut stage);
    stage.press("t");
    check("family.svg", &mut stage);
    stage.press("gcjc");
    check("comparison.svg", &mut stage);
    let mut stage = Stage::with(pictured(), size, Purpose::Read(id("plan")));
    stage.press("gjjjjj").key(KeyCode::Enter);
    check("conversation.svg", &mut stage);
    stage.press("f");
    check("fork.svg", &mut stage);
    stage.key(KeyCode::Esc).press("s").line("winnow");
    check("search.svg", &mut stage);
}
