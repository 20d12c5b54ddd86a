//! Compares two sessions side by side, from where they part.

use forklore_core::units::count;
use forklore_core::{Header, SessionId};
use forklore_engine::Engine;
use forklore_engine::reading::open_calls;
use forklore_store::port::{At, LogEntry};
use maud::{Markup, html};

use crate::Pages;
use crate::answer::{Answer, Problem};
use crate::entry::{Entries, Entry};
use crate::entry_view::Writer;
use crate::fate::{self, Fate};
use crate::params::{self, Params};
use crate::shell::Shell;
use crate::shown::{self, Line};
use crate::{deeds, deeds_view};

/// The number of messages of each session on a page.
const MESSAGES: u64 = 30;

/// Returns the address that compares the two sessions that a form names.
pub(crate) fn chosen(params: &Params) -> Answer<String> {
    let chosen: Vec<_> = params.all("s").collect();
    match chosen.as_slice() {
        [] | [_] => {
            let message = format!("Choose two sessions to compare; {} are chosen.", chosen.len());
            Err(Problem::bad(message))
        }
        [a, b] => Ok(format!("/compare/{}/{}", params::session(a)?, params::session(b)?)),
        all => {
            let ids: Vec<_> = all.iter().map(|id| params::session(id)).collect::<Answer<_>>()?;
            let ids = ids.iter().map(|id| format!("s={id}")).collect::<Vec<_>>();
            Ok(format!("/runs?{}", ids.join("&")))
        }
    }
}

/// The page that compares two sessions.
pub(crate) fn page(pages: &Pages, a: &SessionId, b: &SessionId, params: &Params) -> Answer<Markup> {
    let engine = &pages.engine;
    let headers = [engine.show(a)?, engine.show(b)?];
    let common = engine.compare(a, b)?.common;
    let alone = headers.each_ref().map(|header| header.counts.index.saturating_sub(common));
    let most = alone.iter().copied().max().unwrap_or(0);
    let from = params.number("from")?.unwrap_or(0);
    if from > 0 && from >= most {
        let message = format!("These sessions differ in {} at most.", count(most, "message"));
        return Err(Problem::missing(message));
    }
    let [left, right] = &headers;
    let sides = [side(pages, left, common + from)?, side(pages, right, common + from)?];
    let deeds = match from {
        0 => Some([deeds::read(engine, left, common)?, deeds::read(engine, right, common)?]),
        _ => None,
    };
    let fates = fate::of_pair(engine, &headers);
    let shell = Shell { title: "Compare", ..Shell::default() };
    let address = format!("/compare/{a}/{b}");
    Ok(shell.page(&html! {
        h1 { "Compare" }
        (parting(left, common))
        div.sides {
            @for ((header, alone), fate) in headers.iter().zip(alone).zip(fates) {
                (heading(pages, header, alone, fate))
            }
        }
        @if let Some([a, b]) = &deeds { (deeds_view::tables([left, right], [a, b])) }
        div.sides { (pairs(&sides)) }
        nav.pager aria-label="Parts of the comparison" {
            @if from > 0 {
                @let before = from.saturating_sub(MESSAGES);
                a rel="prev" href={ (address) "?from=" (before) } data-key="N" { "← Earlier" }
            }
            @if from + MESSAGES < most {
                a rel="next" href={ (address) "?from=" (from + MESSAGES) } data-key="n" {
                    "Later →"
                }
            }
        }
    }))
}

fn parting(left: &Header, common: u64) -> Markup {
    html! {
        p.note {
            @match common.checked_sub(1) {
                None => "These sessions have no message in common.",
                Some(last) => {
                    "Both have the first " (count(common, "message")) " in common. "
                    a href={ "/s/" (left.id) "?message=" (last) } { "Read where they part" }
                },
            }
        }
    }
}

fn heading(pages: &Pages, header: &Header, alone: u64, fate: Option<Fate>) -> Markup {
    html! {
        div.side {
            h2 { a href={ "/s/" (header.id) } { (header.label) } " " (fate::badge(fate)) }
            p.facts {
                span { (Line(&shown::name(&pages.engine, header))) }
                span { (count(alone, "message")) " alone" }
                (shown::usage(&header.usage))
                (shown::ago(header.updated, pages.engine.now(), &pages.zone))
            }
        }
    }
}

/// Shows the entries in pairs at the same position.
fn pairs(sides: &[Vec<Markup>; 2]) -> Markup {
    let [left, right] = sides;
    let rows = left.len().max(right.len());
    html! {
        @if rows == 0 {
            p.empty { "Neither has a message that the other lacks." }
        }
        @for row in 0..rows {
            @for side in [left, right] {
                @match side.get(row) {
                    Some(entry) => div.side { (entry) },
                    None if row == side.len() => div.side.none { "nothing more" },
                    None => div.side {},
                }
            }
        }
    }
}

/// Returns the entries of a session from a message on, as HTML.
fn side(pages: &Pages, header: &Header, index: u64) -> Answer<Vec<Markup>> {
    let entries = messages(&pages.engine, header, index)?;
    let writer = Writer::new(pages, header, &entries)?.with_prefix();
    Ok(entries.iter().map(|entry| writer.entry(entry)).collect())
}

fn messages(engine: &Engine, header: &Header, index: u64) -> Answer<Vec<Entry>> {
    let end = header.counts.index.min(index.saturating_add(MESSAGES));
    if index >= end {
        return Ok(Vec::new());
    }
    let mut entries = Entries::of(engine, header);
    let mut events = engine.events(&header.id, At::Index(index)).peekable();
    if let Some(Ok(first)) = events.peek() {
        entries.after(&open_calls(engine, &header.id, first.seq));
    }
    for stored in events {
        let stored: LogEntry = stored?;
        if stored.event.class.is_conversation() {
            entries.add(&stored);
        }
        if stored.counts.index >= end {
            break;
        }
    }
    Ok(entries.finish())
}
