//! Shows the list of sessions.

use forklore_core::SessionKind;
use forklore_core::units::count;
use forklore_engine::Engine;
use maud::{Markup, html};

use crate::answer::Answer;
use crate::fate::{self, Fate, Fates};
use crate::list::{self, Family, List, Wanted};
use crate::params::{Params, session};
use crate::shell::{self, Shell};
use crate::shown::{self, Line};
use crate::{Pages, change, search};

/// The times that the filter offers.
const TIMES: [(&str, &str); 5] = [
    ("", "any"),
    ("1d", "the last day"),
    ("7d", "the last 7 days"),
    ("30d", "the last 30 days"),
    ("365d", "the last year"),
];

/// The page with the list of sessions, or with the hits of a search.
pub(crate) fn page(pages: &Pages, params: &Params) -> Answer<Markup> {
    let wanted = Wanted::of(params, pages.engine.now())?;
    let query = params.get("q");
    let live = match query {
        None => shell::live(&pages.engine)?,
        Some(_) => String::new(),
    };
    let (title, found) = match query {
        Some(query) => ("Search", search::hits(pages, query, &wanted, params)?),
        None => ("Sessions", families(pages, &list::read(&pages.engine, &wanted)?, params)),
    };
    let query_text = query.unwrap_or_default();
    let shell = Shell { title, current: "/", query: query_text, live: &live, ..Shell::default() };
    let deleted = params.get("deleted").map(session).transpose()?;
    Ok(shell.page(&html! {
        div.column {
            @if let Some(deleted) = &deleted { (change::deleted(pages, deleted)?) }
            div.title-line {
                h1 { (title) }
                @if pages.has_chat { a.button.primary href="/chat/new" { "New chat" } }
                (filters(&pages.engine, &wanted, params, query))
            }
            section #fragment aria-label=(title)
                data-fragment=(fragment_url(params)) { (found) }
        }
    }))
}

/// The list or the hits alone, to replace those on the page.
pub(crate) fn fragment(pages: &Pages, params: &Params) -> Answer<Markup> {
    let wanted = Wanted::of(params, pages.engine.now())?;
    if let Some(query) = params.get("q") {
        return search::hits(pages, query, &wanted, params);
    }
    let list = list::read(&pages.engine, &wanted)?;
    Ok(families(pages, &list, params))
}

fn fragment_url(params: &Params) -> String {
    format!("/fragments/sessions{}", params.with("deleted", ""))
}

fn filters(engine: &Engine, wanted: &Wanted, params: &Params, query: Option<&str>) -> Markup {
    let names = engine.agent_formats().0.iter().map(|format| format.name());
    let mut agents: Vec<_> = names.chain(["forklore"]).collect();
    agents.sort_unstable();
    let folder = wanted.folder.as_deref().unwrap_or_default();
    let model = wanted.model.as_deref().unwrap_or_default();
    let since = params.get("since").unwrap_or_default();
    let own_time = (!TIMES.iter().any(|(value, _)| *value == since)).then_some((since, since));
    let has_filter =
        ["agent", "workspace", "model", "since"].iter().any(|it| params.get(it).is_some());
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
            label { span { "Model" }
                input name="model" value=(Line(model)) placeholder="part of its name"
                    spellcheck="false" autocomplete="off";
            }
            label { span { "Time" }
                select name="since" {
                    @for (value, text) in TIMES.into_iter().chain(own_time) {
                        option value=(Line(value)) selected[value == since] { (Line(text)) }
                    }
                }
            }
            button type="submit" { "Filter" }
            @if has_filter {
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
    let Family { latest, name, others, has_more, .. } = family;
    let now = pages.engine.now();
    let branches = others.len();
    let is_running = pages.engine.is_leased(latest);
    let mut together = latest.usage;
    others.iter().for_each(|other| together += other.usage);
    let running = others.iter().filter(|other| pages.engine.is_leased(other)).count();
    let fates = Fates::of([latest].into_iter().chain(others));
    let abandoned = others.iter().filter(|it| fates.get(it) == Some(Fate::Abandoned)).count();
    html! {
        a.name href={ "/s/" (latest.id) @if is_running { "?at=end" } } data-open { (Line(name)) }
        " " (shown::running(&pages.engine, latest))
        p.facts {
            span.agent { (latest.dialect.as_deref().unwrap_or("forklore")) }
            @if branches > 0 || latest.kind == SessionKind::Branch {
                span.label title="label" { (latest.label) }
                (fate::badge(fates.get(latest)))
            }
            span title=(Line(latest.workspace.as_str())) {
                (Line(&shown::folder(latest.workspace.as_str())))
            }
            (shown::ago(latest.updated, now, &pages.zone))
            span { (count(latest.counts.turns, "turn")) }
            (shown::usage(&latest.usage))
        }
        @if branches > 0 {
            details.family {
                summary {
                    (branches) @if *has_more { "+" } " more in this family"
                    @if running > 0 { ", " (running) " running" }
                    @if abandoned > 0 { ", " (abandoned) " abandoned" }
                }
                @if together.tokens() > latest.usage.tokens() || together.cost > latest.usage.cost {
                    p.facts { "together: " (shown::usage(&together)) }
                }
                ul {
                    @for other in others.iter().take(5) {
                        li {
                            a href={ "/s/" (other.id) } { (other.label) }
                            " " (fate::badge(fates.get(other)))
                            " " (shown::ago(other.updated, now, &pages.zone))
                            " " (shown::running(&pages.engine, other))
                            " " (shown::usage(&other.usage))
                        }
                    }
                }
                p { a href={ "/f/" (latest.root_id) } { "The whole family" } }
            }
        }
    }
}
