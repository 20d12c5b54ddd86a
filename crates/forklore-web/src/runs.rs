//! Compares several sessions in a table, such as the continuations of `forklore explore`.

use forklore_api::TestCounts;
use forklore_core::units::count;
use forklore_core::{Header, SessionId, SessionKind};
use forklore_store::port::Filter;
use maud::{Markup, html};

use crate::Pages;
use crate::answer::{Answer, Problem};
use crate::deeds::{self, Deeds, Lines, Mark};
use crate::params::{self, Params};
use crate::shell::Shell;
use crate::shown::{self, Line};

/// The largest number of sessions in the table.
const MOST: usize = 64;

/// The page that compares the sessions that the query names, or the branches that begin where the
/// session does.
pub(crate) fn page(pages: &Pages, params: &Params) -> Answer<Markup> {
    let engine = &pages.engine;
    let headers = match params.get("of") {
        Some(of) => siblings(pages, &params::session(of)?)?,
        None => {
            let ids: Vec<SessionId> =
                params.all("s").take(MOST).map(params::session).collect::<Answer<_>>()?;
            ids.iter().map(|id| Ok(engine.show(id)?)).collect::<Answer<Vec<_>>>()?
        }
    };
    let Some(first) = headers.first() else {
        return Err(Problem::bad("Choose the sessions to compare."));
    };
    let mut common = u64::MAX;
    for header in headers.iter().skip(1) {
        common = common.min(engine.compare(&first.id, &header.id)?.common);
    }
    let from = if headers.len() == 1 { first.inherited.index } else { common };
    let mut runs: Vec<_> = headers
        .iter()
        .map(|header| Ok((header, deeds::read(engine, header, from)?)))
        .collect::<Answer<_>>()?;
    if params.get("of").is_some() {
        // Forks without messages of their own say nothing about the others.
        runs.sort_by_key(|(_, deeds)| deeds.prompt.is_none() && deeds.reply.is_none());
    }
    let first = runs.first().map_or(first, |(header, _)| header);
    let shell = Shell { title: "Compare runs", ..Shell::default() };
    Ok(shell.page(&html! {
        h1 { "Compare runs" }
        p.note {
            (count(headers.len() as u64, "session")) " with the first " (count(from, "message"))
            " in common. Tests are those of the judge, or the commands that name a test runner."
        }
        div.wide tabindex="0" role="region" aria-label="Runs" {
            table.table.runs {
                thead {
                    tr {
                        @for name in ["Run", "Prompt", "Answer", "Model", "Mark", "Tests", "Files", "Calls"] {
                            th scope="col" { (name) }
                        }
                        @for name in ["Tokens", "Cost", "Turns", "Time"] {
                            th.number scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for (header, deeds) in &runs { (row(pages, header, deeds, first)) }
                }
            }
        }
    }))
}

/// Returns the branches that leave the parent where the session does, the oldest first.
fn siblings(pages: &Pages, session: &SessionId) -> Answer<Vec<Header>> {
    let header = pages.engine.show(session)?;
    let (Some(parent), SessionKind::Branch) = (&header.parent_id, header.kind) else {
        return Ok(vec![header]);
    };
    let kinds = vec![SessionKind::Branch];
    let filter = Filter { parent: Some(parent.clone()), kinds, ..Filter::default() };
    let found = pages.engine.store().sessions(&filter, None, 1_000)?.sound;
    let is_sibling = |it: &Header| it.inherited.inheritable == header.inherited.inheritable;
    let mut found: Vec<_> = found.into_iter().filter(is_sibling).collect();
    found.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    found.truncate(MOST);
    Ok(found)
}

fn row(pages: &Pages, header: &Header, deeds: &Deeds, first: &Header) -> Markup {
    let calls = deeds.tools.values().map(|calls| calls.all).sum::<u64>();
    let lines = deeds.files.values().fold(Lines::default(), |sum, lines| Lines {
        added: sum.added + lines.added,
        removed: sum.removed + lines.removed,
    });
    html! {
        tr data-row {
            th scope="row" {
                a.label href={ "/s/" (header.id) } data-open { (header.label) }
                " " (shown::running(&pages.engine, header))
                @if header.id != first.id {
                    br; a.note href={ "/compare/" (first.id) "/" (header.id) } {
                        "compare with " (first.label)
                    }
                }
            }
            td { (Line(deeds.prompt.as_deref().unwrap_or("–"))) }
            td { (Line(deeds.reply.as_deref().unwrap_or("–"))) }
            td { (Line(deeds.model.as_deref().unwrap_or("–"))) }
            td { (mark(deeds.mark.as_ref())) }
            td.short { (tests(deeds)) }
            td.short {
                @match deeds.mark.as_ref().and_then(|mark| Some((mark.files?, mark.lines()))) {
                    // What the calls name is not all that the agent of an attempt changed.
                    Some((files, lines)) => { (files) " " (lines) },
                    None if deeds.files.is_empty() => "–",
                    None => { (deeds.files.len()) " " (lines) },
                }
            }
            td.short { (calls) @if deeds.has_more { "+" } }
            td.number { (shown::tokens(header.usage.tokens())) }
            td.number { (shown::cost(header.usage.cost)) }
            td.number { (header.counts.turns.saturating_sub(header.inherited.turns)) }
            td.number {
                @match deeds.mark.as_ref().and_then(|mark| mark.seconds) {
                    Some(seconds) => { (format!("{seconds:.1}")) " s" },
                    None => "–",
                }
            }
        }
    }
}

/// Shows what a judge said: its number, or why there is none.
fn mark(mark: Option<&Mark>) -> Markup {
    let Some(mark) = mark else { return html! { "–" } };
    let judge = mark.judge.as_deref().unwrap_or_default();
    html! {
        span title=(judge) {
            @match (mark.score, &mark.error) {
                (Some(score), None) => (score),
                (Some(score), Some(error)) => { (score) br; span.bad { (Line(error)) } },
                (None, Some(error)) => span.bad { (Line(error)) },
                (None, None) => "–",
            }
        }
    }
}

/// Shows the tests that a judge ran, or else how the last command that tests ended.
fn tests(deeds: &Deeds) -> Markup {
    if let Some(TestCounts { passed, failed }) = deeds.mark.as_ref().and_then(|mark| mark.tests) {
        return html! {
            @if failed == 0 { (passed) " passed" } @else {
                span.bad { (failed) " of " (passed.saturating_add(failed)) " failed" }
            }
        };
    }
    html! {
        @match deeds.last_test_failed {
            None => "–",
            Some(false) => "passed at last",
            Some(true) => span.bad { "failed at last" },
        }
        @if deeds.tests.all > 1 { " of " (deeds.tests.all) }
    }
}
