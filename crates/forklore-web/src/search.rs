//! Searches the sessions, and shows the hits with links to where they are.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use forklore_api::{Hit, Search};
use forklore_core::units::{bytes, count};
use forklore_core::{Header, Role};
use forklore_engine::Engine;
use forklore_search::{EarlyAnswer, SearchIndex};
use forklore_store::port::Filter;
use maud::{Markup, Render, html};

use crate::Pages;
use crate::answer::Answer;
use crate::fate::{self, Fate};
use crate::list::Wanted;
use crate::params::Params;
use crate::shown::{self, Block, Line};

/// The time that a page of hits may read what is not searched yet. The browser then asks again.
const PATIENCE: Duration = Duration::from_millis(200);
/// The number of hits on a page.
const HITS: usize = 40;
/// The largest number of sessions whose ids contain what was typed.
const SESSIONS: usize = 5;
/// The largest number of sessions whose ids are searched for a text in their middle.
const LOOKED_AT: usize = 10_000;
/// The fewest characters with which a part of an id is looked up.
const SHORTEST_PART: usize = 4;

/// Searches, and returns the hits.
pub(crate) fn hits(pages: &Pages, query: &str, wanted: &Wanted, params: &Params) -> Answer<Markup> {
    let request = Search {
        agent: wanted.agent.clone(),
        workspace: wanted.workspace(),
        since: wanted.since,
        limit: HITS,
        after: params.get("after").map(str::to_owned),
        ..Search::of(query)
    };
    let with_id = with_id(&pages.engine, query)?;
    let index = SearchIndex::of(&pages.engine);
    let EarlyAnswer { answer, unread } = match index.search_within(&request, PATIENCE) {
        Ok(answer) => answer,
        // An id need not be a valid search.
        Err(_) if !with_id.is_empty() => return Ok(sessions(pages, &with_id)),
        Err(error) => return Err(error.into()),
    };
    let is_wanted = |hit: &&Hit| wanted.has_folder(hit.workspace.as_str());
    let hits: Vec<_> = answer.hits.iter().filter(is_wanted).collect();
    let headers = headers(&pages.engine, &hits)?;
    let of_model: HashMap<_, _> = headers
        .iter()
        .filter(|header| wanted.has_model(&pages.engine, header))
        .map(|header| (header.id.clone(), shown::name(&pages.engine, header)))
        .collect();
    let is_left = |header: &&Header| fate::preferred_to(&pages.engine, header).is_some();
    let abandoned: HashSet<_> = headers.iter().filter(is_left).map(|it| &it.id).collect();
    let is_wanted = |hit: &&&Hit| wanted.model.is_none() || of_model.contains_key(&hit.session_id);
    let (names, hits) = (&of_model, hits.iter().filter(is_wanted).collect::<Vec<_>>());
    Ok(html! {
        (sessions(pages, &with_id))
        @if let Some(unread) = unread {
            p.note data-unfinished {
                "The search of this store is being prepared: " (bytes(unread))
                " are not searched yet."
            }
        }
        @if !answer.problems.is_empty() {
            p.note.bad {
                (count(answer.problems.len() as u64, "session")) " could not be searched whole."
            }
        }
        @if hits.is_empty() && with_id.is_empty() && unread.is_none() {
            p.empty {
                "Nothing was found. All words must be in one message; " code { "back*" }
                " finds the beginning of a word, " code { "\"...\"" } " a phrase, "
                code { "regex:" } " a pattern."
            }
        }
        ul.rows {
            @for hit in hits {
                @let name = names.get(&hit.session_id).map_or(hit.label.as_str(), String::as_str);
                @let fate = abandoned.contains(&hit.session_id).then_some(Fate::Abandoned);
                li.row data-row { (found(pages, hit, name, fate)) }
            }
        }
        nav.pager aria-label="Pages of hits" {
            @if let Some(next) = &answer.next {
                a rel="next" href=(params.with("after", next)) data-key="n" { "More →" }
            }
        }
    })
}

/// Returns the sessions with the hits.
fn headers(engine: &Engine, hits: &[&Hit]) -> Answer<Vec<Header>> {
    let mut sessions: Vec<_> = hits.iter().map(|hit| hit.session_id.clone()).collect();
    sessions.sort_unstable();
    sessions.dedup();
    Ok(engine.store().headers(&sessions)?.into_iter().flatten().collect())
}

/// Returns the sessions whose id begins or ends with the text, or else contains it.
fn with_id(engine: &Engine, text: &str) -> Answer<Vec<Header>> {
    let is_part = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if text.chars().count() < SHORTEST_PART || !text.chars().all(is_part) {
        return Ok(Vec::new());
    }
    let filter = Filter { id_part: Some(text.to_owned()), ..Filter::default() };
    let found = engine.store().sessions(&filter, None, SESSIONS)?.sound;
    // An id has digits; other words are searched in texts only.
    if !found.is_empty() || !text.chars().any(|c| c.is_ascii_digit()) {
        return Ok(found);
    }
    let latest = engine.store().sessions(&Filter::default(), None, LOOKED_AT)?.sound;
    Ok(latest.into_iter().filter(|it| it.id.as_str().contains(text)).take(SESSIONS).collect())
}

fn sessions(pages: &Pages, with_id: &[Header]) -> Markup {
    html! {
        @if !with_id.is_empty() {
            h2 { "Sessions with this id" }
            ul.rows {
                @for header in with_id {
                    li.row data-row {
                        a.name href={ "/s/" (header.id) } data-open {
                            (Line(&shown::name(&pages.engine, header)))
                        }
                        p.facts {
                            code { (header.id) }
                            span.label { (header.label) }
                            (shown::ago(header.updated, pages.engine.now(), &pages.zone))
                        }
                    }
                }
            }
        }
    }
}

fn found(pages: &Pages, hit: &Hit, name: &str, fate: Option<Fate>) -> Markup {
    let what = match (&hit.tool, hit.role) {
        (Some(tool), _) => tool.as_str(),
        (None, Some(role)) => Role::as_str(role),
        (None, None) => hit.kind.as_str(),
    };
    let others = hit.branch_count.saturating_sub(1);
    html! {
        a.name href={
            "/s/" (hit.session_id) @if let Some(seq) = hit.seq { "?at=" (seq) "#e-" (seq) }
        } data-open {
            (Line(name))
        }
        p.snippet { (snippet(hit)) }
        p.facts {
            span.agent { (Line(&hit.agent)) }
            span { (Line(what)) }
            span.label { (hit.label) }
            (fate::badge(fate))
            span title=(Line(hit.workspace.as_str())) {
                (Line(&shown::folder(hit.workspace.as_str())))
            }
            (shown::ago(hit.ts, pages.engine.now(), &pages.zone))
            @if others > 0 { span { "also in " (count(others, "branch")) } }
        }
    }
}

/// Shows the text around the words, with the words marked.
fn snippet(hit: &Hit) -> Markup {
    let snippet = &hit.snippet;
    let piece = |from: usize, to: usize| -> String {
        snippet.text.chars().skip(from).take(to.saturating_sub(from)).collect()
    };
    let mut at = 0;
    let mut text = String::new();
    for range in &snippet.highlights {
        Block(&piece(at, range.start)).render_to(&mut text);
        html! { mark { (Block(&piece(range.start, range.end))) } }.render_to(&mut text);
        at = range.end;
    }
    Block(&piece(at, usize::MAX)).render_to(&mut text);
    html! {
        @if snippet.cut_before { "…" }
        (maud::PreEscaped(text))
        @if snippet.cut_after { "…" }
    }
}
