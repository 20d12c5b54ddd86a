//! `diff --stat`: shows in numbers what each session has alone.

use forklore::core::Usage;
use forklore::engine::{DifferenceStats, SideStats};

use crate::output::compared::Side;
use crate::output::{Cell, Column, Page, Table, Tone, count, grouped, money};

/// The maximum number of files that are listed of each session.
const FILES: usize = 30;

pub(super) fn show(page: &mut Page, stats: &DifferenceStats) {
    page.end();
    let mut table = Table::new(&[
        Column::new(""),
        Column::new("BRANCH").gives_way(),
        Column::new("MESSAGES").right(),
        Column::new("TURNS").right(),
        Column::new("CALLS").right(),
        Column::new("TOKENS").right().optional(),
        Column::new("COST").right().optional(),
        Column::new("FILES").right(),
    ]);
    table.row(row(Side::A, &stats.a));
    table.row(row(Side::B, &stats.b));
    table.show(page);
    files(page, Side::A, &stats.a.files);
    files(page, Side::B, &stats.b.files);
}

fn row(side: Side, of: &SideStats) -> Vec<Cell> {
    let Usage { cost, .. } = of.usage;
    let number = |number: u64| Cell::new(Tone::Plain, grouped(number));
    let tokens = Some(of.usage.tokens()).filter(|tokens| *tokens > 0);
    vec![
        Cell::new(side.tone(), side.name()),
        Cell::new(side.tone(), of.label.as_str()),
        number(of.messages),
        number(of.turns),
        number(of.tool_calls),
        Cell::new(Tone::Plain, tokens.map(grouped).unwrap_or_default()),
        Cell::new(Tone::Plain, if cost > 0.0 { money(cost) } else { String::new() }),
        number(of.files.len() as u64),
    ]
}

fn files(page: &mut Page, side: Side, files: &[String]) {
    if files.is_empty() {
        return;
    }
    page.end();
    for file in files.iter().take(FILES) {
        page.put(side.tone(), side.name()).put(Tone::Plain, "  ").put(Tone::Plain, file).end();
    }
    if let Some(more) = files.len().checked_sub(FILES).filter(|more| *more > 0) {
        page.put(Tone::Dim, format!("   and {}", count(more as u64, "more file"))).end();
    }
}
