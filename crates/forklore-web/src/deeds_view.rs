//! Shows which files two sessions changed, and which tools they called, side by side.

use std::collections::{BTreeMap, BTreeSet};

use forklore_core::Header;
use maud::{Markup, Render, html};

use crate::deeds::{Calls, Deeds, Lines};
use crate::shown::Line;

/// The largest number of rows of a table.
const ROWS: usize = 60;

impl Render for Lines {
    fn render(&self) -> Markup {
        html! {
            @if self.added > 0 || self.removed == 0 { span.added { "+" (self.added) } }
            @if self.removed > 0 { " " span.removed { "−" (self.removed) } }
        }
    }
}

impl Render for Calls {
    fn render(&self) -> Markup {
        html! {
            (self.all)
            @if self.failed > 0 { " " span.bad { "(" (self.failed) " failed)" } }
        }
    }
}

/// Shows the files and tools of two sessions. Nothing if neither changed a file nor called a tool.
pub(crate) fn tables(headers: [&Header; 2], deeds: [&Deeds; 2]) -> Markup {
    let [left, right] = deeds;
    html! {
        @if left.has_more || right.has_more {
            p.note { "Only the beginning of a long session is counted." }
        }
        div.charts {
            (table("Files", "File", headers, [&left.files, &right.files]))
            (table("Tool calls", "Tool", headers, [&left.tools, &right.tools]))
        }
    }
}

fn table<T: Render>(
    title: &str,
    first: &str,
    headers: [&Header; 2],
    sides: [&BTreeMap<String, T>; 2],
) -> Markup {
    let names: BTreeSet<_> = sides.iter().flat_map(|side| side.keys()).collect();
    html! {
        @if !names.is_empty() {
            section aria-label=(title) {
                h2 { (title) }
                table.table {
                    thead {
                        tr {
                            th scope="col" { (first) }
                            @for header in headers { th.number scope="col" { (header.label) } }
                        }
                    }
                    tbody {
                        @for name in names.iter().take(ROWS) {
                            tr {
                                td { code { (Line(name)) } }
                                @for side in sides {
                                    td.number {
                                        @match side.get(*name) {
                                            Some(value) => (value),
                                            None => "–",
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                @if names.len() > ROWS { p.note { (names.len() - ROWS) " more" } }
            }
        }
    }
}
