//! Shows the list of sessions.

use forklore_core::units::count;
use forklore_engine::Engine;
use maud::{Markup, html};

use crate::answer::Answer;
use crate::list::{self, Family, List, Wanted};
use crate::params::Params;
use crate::shell::Shell;
use crate::shown::{self, Line};
use crate::{Pages, search};

/// The page with the list of sessions, or with the hits of a search.
pub(crate) fn page(pages: &Pages, params: &Params) -> Answer<Markup> {
    let wanted = Wanted::of(params)?;
    let query = params.get("q");
    let (title, found) = match query {
        Some(query) => ("Search", search::hits(pages, query, &wanted, params)?),
        None => ("Sessions", families(pages, &list::read(&pages.engine, &wanted)?, params)),
    };
    let live = if query.is_none() { "/api/v1/events" } else { "" };
    let shell =
        Shell { title, current: "/", query: query.unwrap_or_default(), live, ..Shell::default() };
    Ok(shell.page(&html! {
        div.column {
            div.title-line {
                h1 { (title) }
                @if pages.has_chat { a.button.primary href="/chat/new" { "New chat" } }
                (filters(&pages.engine, &wanted, query))
            }
            section #fragment aria-label=(title)
                data-fragment=[query.is_none().then(|| fragment_url(params))] { (found) }
        }
    }))
}

/// The list alone, to replace the one on the page.
pub(crate) fn fragment(pages: &Pages, params: &Params) -> Answer<Markup> {
    let list = list::read(&pages.engine, &Wanted::of(params)?)?;
    Ok(families(pages, &list, params))
}

fn fragment_url(params: &Params) -> String {
    format!("/fragments/sessions{}", params.with("part", "list"))
}

fn filters(engine: &Engine, wanted: &Wanted, query: Option<&str>) -> Markup {
    let names = engine.agent_formats().0.iter().map(|format| format.name());
    let mut agents: Vec<_> = names.chain(["forklore"]).collect();
    agents.sort_unstable();
    let folder = wanted.folder.as_deref().unwrap_or_default();
    html! {
        form.filters action="/" aria-label="Filter" {
            @if let Some(query) = query { input type="hidden" name="q" value=(Line(query)); }
            label { span { "Agent" }
                select name="agent" {
                    option value="" { "all" }
                    @for agent in agents {
                        option value=(agent) selected[wanted.agent.as_deref() == Some(agent)] {
                            (agent)
                        }
                    }
                }
            }
            label { span { "Folder" }
                input name="workspace" value=(Line(folder)) placeholder="part of its path"
                    spellcheck="false" autocomplete="off";
            }
            button type="submit" { "Filter" }
            @if wanted.agent.is_some() || wanted.folder.is_some() {
                a href={ "/" @if let Some(query) = query { "?q=" (shown::encoded(query)) } } {
                    "Show all"
                }
            }
        }
    }
}

fn families(pages: &Pages, list: &List, params: &Params) -> Markup {
    html! {
        @if list.damaged > 0 {
            p.note.bad { (count(list.damaged as u64, "session")) " cannot be read." }
        }
        @if list.families.is_empty() {
            p.empty {
                @match list.next {
                    Some(_) => "None of the latest sessions is one of these. Older ones may be.",
                    None => "No session is here.",
                }
            }
        } @else {
            ul.rows {
                @for family in &list.families { li.row data-row { (row(pages, family)) } }
            }
        }
        nav.pager aria-label="Pages of the list" {
            @if params.get("after").is_some() {
                a href=(params.with("after", "")) data-key="G-first" { "← The latest" }
            }
            @if let Some(next) = &list.next {
                a rel="next" href=(params.with("after", next)) data-key="n" { "Older →" }
            }
        }
    }
}

fn row(pages: &Pages, family: &Family) -> Markup {
    let Family { latest, name, is_running, others, has_more } = family;
    let now = pages.engine.now();
    let branches = others.len();
    html! {
        a.name href={ "/s/" (latest.id) @if *is_running { "?at=end" } } data-open { (Line(name)) }
        @if *is_running { " " span.badge.running { "running" } }
        p.facts {
            span.agent { (latest.dialect.as_deref().unwrap_or("forklore")) }
            span.label title="label" { (latest.label) }
            span title=(Line(latest.workspace.as_str())) {
                (Line(&shown::folder(latest.workspace.as_str())))
            }
            (shown::ago(latest.updated, now, &pages.zone))
            span { (count(latest.counts.turns, "turn")) }
            (shown::usage(&latest.usage))
        }
        @if branches > 0 {
            details.family {
                summary { (branches) @if *has_more { "+" } " more in this family" }
                ul {
                    @for other in others.iter().take(5) {
                        li {
                            a href={ "/s/" (other.id) } { (other.label) }
                            " " (shown::ago(other.updated, now, &pages.zone))
                        }
                    }
                }
                p { a href={ "/f/" (latest.root_id) } { "The whole family" } }
            }
        }
    }
}
