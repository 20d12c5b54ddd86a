//! The page of one event: as the reader shows it, but whole, and as it is stored.

use forklore_core::SessionId;
use forklore_core::units::bytes;
use forklore_engine::reading::open_calls;
use forklore_store::port::{At, Direction, Query};
use maud::{Markup, html};

use crate::Pages;
use crate::answer::{Answer, Problem};
use crate::entry::Entries;
use crate::entry_view::Writer;
use crate::shell::Shell;
use crate::shown::{Block, Line};

/// The size of a payload that is shown, in bytes.
const LONGEST: usize = 1 << 20;

/// The page of an event.
pub(crate) fn page(pages: &Pages, session: &SessionId, seq: u64) -> Answer<Markup> {
    let engine = &pages.engine;
    let header = engine.show(session)?;
    let missing = || Problem::missing(format!("This session has no event {seq}."));
    let query = Query { at: At::Seq(seq), direction: Direction::Forward, limit: 1, bare: false };
    let page = engine.store().read(session, &query)?;
    let stored = page.events.into_iter().find(|stored| stored.seq == seq).ok_or_else(missing)?;
    let mut entries = Entries::of(engine, &header);
    entries.after(&open_calls(engine, session, seq));
    entries.add(&stored);
    let entries = entries.finish();
    let writer = Writer::new(pages, &header, &entries)?.whole();
    let data = stored.event.data.get();
    let shown = forklore_core::summary::beginning(data, LONGEST);
    let title = format!("Event {seq}");
    let shell = Shell { title: &title, ..Shell::default() };
    Ok(shell.page(&html! {
        div.column {
            div.title-line {
                h1 { (title) }
                a href={ "/s/" (session) "?at=" (seq) "#e-" (seq) } { "In the conversation" }
            }
            p.facts {
                span { (Line(stored.event.kind.as_str())) }
                code { (Line(stored.event.id.as_str())) }
                span { (Line(stored.event.dialect.as_deref().unwrap_or("forklore"))) }
                span { (bytes(data.len() as u64)) }
            }
            @for entry in &entries { h2 { "As it is read" } (writer.entry(entry)) }
            h2 { "As it is stored" }
            pre { (Block(shown)) @if shown.len() < data.len() { "\n…" } }
        }
    }))
}
