//! The reader: a part of a session's conversation, with links to the parts before and after it.

use forklore_core::units::{count, grouped};
use forklore_core::{Header, Role, SessionId, SessionKind};
use forklore_page::Block;
use maud::{Markup, html};

use crate::answer::Answer;
use crate::entry::{Entry, Kind};
use crate::entry_view::Writer;
use crate::params::Params;
use crate::part::Conversation;
use crate::shell::Shell;
use crate::shown::{self, Line};
use crate::window::{self, Position, Window};
use crate::{Pages, fate, fork, rewind, turnings};

/// The length of the first words of a turn in the list of turns, in bytes.
const WORDS: usize = 60;

/// The page of a session, at the position that the query names.
pub(crate) fn page(pages: &Pages, session: &SessionId, params: &Params) -> Answer<Markup> {
    let window = read(pages, session, params)?;
    let name = shown::name(&pages.engine, &window.header);
    let conversation = conversation(pages, &window)?;
    // What comes after the events that the page knows. Without a position, all would come.
    let after = match window.header.head_seq() {
        seq @ 0.. => format!("?after={seq}"),
        _ => String::new(),
    };
    let live = format!("/api/v1/sessions/{session}/events/live{after}");
    let shell = Shell { title: &name, live: &live, ..Shell::default() };
    let turns: Vec<_> = window.entries.iter().filter(|entry| entry.starts_turn).collect();
    Ok(shell.page(&html! {
        div.reading {
            header.session {
                h1 { (Line(&name)) }
                (facts(pages, &window.header)?)
                (tools(pages, &window.header))
                (fate::notice(&pages.engine, &window.header))
                @if let Some(agent) = params.get("forked") {
                    (fork::made(pages, &window.header, agent))
                }
                (rewind::notice(pages, &window.header, params)?)
            }
            @if turns.len() > 1 {
                nav.turns aria-label="Turns on this page" {
                    h2 { "Turns on this page" }
                    ol {
                        @for entry in turns {
                            li {
                                a href={ "#e-" (entry.seq) } {
                                    span { (entry.turn) } " " (Line(&words(entry)))
                                }
                            }
                        }
                    }
                }
            }
            (section(session, &again(params, &window), &conversation))
        }
    }))
}

/// The last part of the conversation, for a page that has more than it.
pub(crate) fn last_part(
    pages: &Pages,
    session: &SessionId,
    params: &Params,
) -> Answer<Conversation> {
    let window = read(pages, session, params)?;
    let entries = conversation(pages, &window)?;
    Ok(Conversation {
        name: shown::name(&pages.engine, &window.header),
        facts: facts(pages, &window.header)?,
        entries: section(session, &again(params, &window), &entries),
    })
}

/// Reads the part of a session at the position of a query, with the states of its files.
fn read(pages: &Pages, session: &SessionId, params: &Params) -> Answer<Window> {
    let mut window = window::read(&pages.engine, session, Position::of(params)?)?;
    rewind::complete(pages, &mut window)?;
    Ok(window)
}

fn section(session: &SessionId, again: &str, conversation: &Markup) -> Markup {
    html! {
        section #fragment aria-label="Conversation"
            data-fragment={ "/fragments/s/" (session) "?" (again) }
            data-session=(session) { (conversation) }
    }
}

/// Returns the query with which the page reads the conversation again. A page of the last events
/// goes on to be that.
fn again(params: &Params, window: &Window) -> String {
    match params.get("at") {
        Some("end") => "at=end".to_owned(),
        _ => format!("from={}", window.from),
    }
}

/// The conversation alone, to replace the one on the page.
pub(crate) fn fragment(pages: &Pages, session: &SessionId, params: &Params) -> Answer<Markup> {
    conversation(pages, &read(pages, session, params)?)
}

fn conversation(pages: &Pages, window: &Window) -> Answer<Markup> {
    let Window { header, entries, from, to, end, at } = window;
    let mut writer = Writer::new(pages, header, entries)?;
    writer.at = *at;
    let first = entries.first().map_or(0, |entry| entry.ordinal);
    let last = if to == end { u64::MAX } else { entries.last().map_or(0, |it| it.ordinal) };
    let turnings = turnings::read(&pages.engine, header, first, last)?;
    // A large entry may fill the page before the event that the request names.
    let skipped = |at: u64| entries.iter().position(|entry| entry.has(at)).unwrap_or(0);
    let (mut shown, mut stop) = writer.entries(entries, &turnings, to == end);
    let mut from = *from;
    if let (Some(stopped), Some(at)) = (stop, *at)
        && stopped <= at
    {
        let rest = entries.get(skipped(at)..).unwrap_or_default();
        from = rest.first().map_or(from, |entry| entry.seq);
        (shown, stop) = writer.entries(rest, &turnings, to == end);
    }
    let to = stop.unwrap_or(*to);
    Ok(html! {
        (pager(header, from, to, *end, "Parts of the conversation"))
        @if entries.is_empty() { p.empty { "Nothing was written here." } }
        div.entries { (shown) }
        (pager(header, from, to, *end, "Parts of the conversation, at its end"))
    })
}

fn pager(header: &Header, from: u64, to: u64, end: u64, label: &str) -> Markup {
    let base = format!("/s/{}", header.id);
    html! {
        nav.pager aria-label=(label) {
            @if from > 0 {
                a href=(base) data-key="g" { "⇤ Beginning" }
                a rel="prev" href={ (base) "?before=" (from) } data-key="N" { "← Earlier" }
            }
            span.note {
                "events " (grouped(from)) "–" (grouped(to.saturating_sub(1))) " of " (grouped(end))
            }
            @if to < end {
                a rel="next" href={ (base) "?from=" (to) } data-key="n" { "Later →" }
                a href={ (base) "?at=end" } data-key="G" { "End ⇥" }
            }
        }
    }
}

fn facts(pages: &Pages, header: &Header) -> Answer<Markup> {
    let parent = header.parent_id.as_ref().and_then(|parent| pages.engine.show(parent).ok());
    let now = pages.engine.now();
    let from = match header.kind {
        SessionKind::Delegate => "delegated by",
        _ => "forked from",
    };
    Ok(html! {
        p.facts {
            (shown::running(&pages.engine, header))
            span.label title="label" { (header.label) }
            span.agent { (header.dialect.as_deref().unwrap_or("forklore")) }
            span title=(Line(header.workspace.as_str())) {
                (Line(&shown::folder(header.workspace.as_str())))
            }
            (shown::ago(header.updated, now, &pages.zone))
            span { (count(header.counts.turns, "turn")) }
            (shown::usage(&header.usage))
            @if let Some(parent) = &parent {
                @let seq = header.cut.as_ref().and_then(|cut| cut.seq).unwrap_or(0);
                span {
                    (from) " " a href={ "/s/" (parent.id) "?at=" (seq) "#e-" (seq) } {
                        (parent.label)
                    }
                    @if let Some(cut) = &header.cut { " at " (shown::cut(cut)) }
                }
            }
            @if let Some(original) = &header.copy_of {
                span { a href={ "/s/" (original.session_id) } { "a copy" } }
            }
        }
    })
}

fn tools(pages: &Pages, header: &Header) -> Markup {
    html! {
        div.tools {
            @if pages.has_chat {
                a.button.primary href={ "/s/" (header.id) "/chat" } { "Chat" }
            }
            a.button href={ "/s/" (header.id) "/fork" } data-dialog { "Fork" }
            a.button href={ "/f/" (header.id) } data-key="t" { "Family" }
            @if let Some(parent) = &header.parent_id {
                a.button href={ "/compare/" (parent) "/" (header.id) } { "Compare with its parent" }
            }
            @if header.kind == SessionKind::Branch {
                a.button href={ "/runs?of=" (header.id) } { "Compare runs" }
            }
            a.button href={ "/s/" (header.id) "/change" } { "Change" }
            form.go action={ "/s/" (header.id) "/go" } aria-label="Go to a turn or an event" {
                label { span { "Go to" }
                    input name="to" placeholder="turn, #event, id" autocomplete="off"
                        spellcheck="false" required;
                }
                button type="submit" { "Go" }
            }
            details.id { summary { "Id" } code { (header.id) } }
        }
    }
}

/// Returns the first words of a message.
fn words(entry: &Entry) -> String {
    let texts = entry.blocks.iter().filter_map(|block| match block {
        Block::Text(text) if entry.kind == Kind::Message(Role::User) => Some(text.trim()),
        _ => None,
    });
    let text = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
    let line = text.split_whitespace().take(20).collect::<Vec<_>>().join(" ");
    match forklore_core::summary::beginning(&line, WORDS) {
        "" => "…".to_owned(),
        short if short.len() < text.len() => format!("{short}…"),
        short => short.to_owned(),
    }
}
