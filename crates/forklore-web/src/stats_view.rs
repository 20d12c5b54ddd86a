//! Shows the sums of a store: totals, a chart by day, and tables by model, agent and family.

use forklore_api::UsageGroup;
use forklore_core::units::{bytes, count, grouped};
use forklore_core::{SessionId, Usage};
use jiff::civil::Date;
use maud::{Markup, html};

use crate::shell::Shell;
use crate::shown::{self, Line};
use crate::stats::{Report, Sum};

/// The largest number of days in the chart.
const DAYS: usize = 90;
/// The size of the chart.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 130.0;

/// What the sizes of bars show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Cost,
    Tokens,
}

impl Measure {
    fn of(self, usage: &Usage) -> f64 {
        match self {
            Self::Cost => usage.cost.max(0.0),
            #[expect(clippy::cast_precision_loss, reason = "a bar needs no more precision")]
            Self::Tokens => usage.tokens() as f64,
        }
    }

    fn text(self, usage: &Usage) -> String {
        match self {
            Self::Cost => shown::cost(usage.cost),
            Self::Tokens => format!("{} tokens", shown::tokens(usage.tokens())),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Cost => "Cost",
            Self::Tokens => "Tokens",
        }
    }
}

/// The page of the statistics. Without sums, it loads them when it is shown.
pub(crate) fn page(report: Option<&Report>) -> Markup {
    let shell = Shell { title: "Stats", current: "/stats", ..Shell::default() };
    shell.page(&html! {
        div.column {
            h1 { "Stats" }
            @match report {
                Some(report) => (sums(report)),
                None => {
                    section #fragment aria-label="Sums" data-fragment="/fragments/stats"
                        data-load="now" {
                        p.empty {
                            "Reading all sessions takes a while. "
                            a href="/stats?wait=yes" { "Wait for it" }
                        }
                    }
                },
            }
        }
    })
}

/// The sums alone.
pub(crate) fn sums(report: &Report) -> Markup {
    // Costs say little if the cost of most tokens is not known.
    let (all, unpriced) = (report.usage.usage.tokens(), report.usage.unpriced_tokens);
    let is_priced = report.usage.usage.cost > 0.0 && unpriced <= all / 2;
    let measure = if is_priced { Measure::Cost } else { Measure::Tokens };
    let models = report.usage.models.iter();
    let models: Vec<_> = models
        .map(|model| (model.model.as_deref().unwrap_or("not named"), None, &model.usage))
        .collect();
    let agents: Vec<_> = report.agents.iter().map(of_sum).collect();
    let families: Vec<_> = report.families.iter().map(of_sum).collect();
    html! {
        (totals(report))
        (by_day(&report.usage.groups, measure))
        div.charts {
            (table("By model", &models, measure))
            (table("By agent", &agents, measure))
        }
        (table("The largest families", &families, measure))
        @if report.usage.unpriced_tokens > 0 {
            p.note {
                "The cost of " (shown::tokens(report.usage.unpriced_tokens))
                " tokens is not known: their models have no price."
            }
        }
        @if !report.usage.problems.is_empty() {
            p.note.bad {
                (count(report.usage.problems.len() as u64, "session"))
                " could not be read whole, and are counted in part."
            }
        }
    }
}

fn of_sum(sum: &Sum) -> (&str, Option<&SessionId>, &Usage) {
    (&sum.name, sum.root.as_ref(), &sum.usage)
}

fn totals(report: &Report) -> Markup {
    let (stats, usage) = (&report.stats, &report.usage.usage);
    let percent = (usage.cached.min(usage.input) * 100).checked_div(usage.input);
    html! {
        dl.totals {
            div { dt { "sessions" } dd { (grouped(stats.sessions)) } }
            div { dt { "events" } dd { (grouped(stats.own_events)) } }
            div { dt { "stored" } dd { (bytes(stats.bytes)) } }
            div { dt { "saved by sharing" } dd { (bytes(stats.saved_bytes)) } }
            div { dt { "tokens" } dd { (shown::tokens(usage.tokens())) } }
            @if let Some(percent) = percent {
                div { dt { "of the input from the cache" } dd { (percent) "%" } }
            }
            @if usage.cost > 0.0 { div { dt { "cost" } dd { (shown::cost(usage.cost)) } } }
        }
    }
}

/// Returns the last days with usage and the days between them.
fn days(groups: &[UsageGroup]) -> Vec<(Date, Usage)> {
    let dated = groups.iter().filter_map(|group| {
        let day: Date = group.key.as_deref()?.parse().ok()?;
        Some((day, group.usage))
    });
    let dated: std::collections::BTreeMap<_, _> = dated.collect();
    let Some(last) = dated.keys().next_back().copied() else { return Vec::new() };
    let first = dated.keys().next().copied().unwrap_or(last);
    let back = std::iter::successors(Some(last), |day| day.yesterday().ok());
    let mut days: Vec<_> = back.take_while(|day| *day >= first).take(DAYS).collect();
    days.reverse();
    days.into_iter().map(|day| (day, dated.get(&day).copied().unwrap_or_default())).collect()
}

fn by_day(groups: &[UsageGroup], measure: Measure) -> Markup {
    let days = days(groups);
    let (Some((first, _)), Some((last, _))) = (days.first(), days.last()) else {
        return html! { p.empty { "No session reports what its model calls used." } };
    };
    let most = days.iter().map(|(_, usage)| measure.of(usage)).fold(0.0, f64::max);
    let dearest = days.iter().find(|(_, usage)| measure.of(usage) >= most);
    let dearest = dearest.map(|(_, usage)| measure.text(usage)).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "there are at most 90 days")]
    let step = WIDTH / days.len() as f64;
    let label = format!("{} by day from {first} to {last}; at most {dearest}", measure.name());
    html! {
        section aria-label="By day" {
            h2 { (measure.name()) " by day" }
            p.scale aria-hidden="true" { span { (dearest) } }
            svg.chart role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } {
                @for (number, (day, usage)) in (0_u32..).zip(&days) {
                    @let height = scaled(measure.of(usage), most, HEIGHT);
                    rect x=(format!("{:.1}", f64::from(number) * step))
                        y=(format!("{:.1}", HEIGHT - height))
                        width=(format!("{:.1}", (step * 0.8).min(40.0)))
                        height=(format!("{height:.1}")) rx="1" {
                        title { (day) ": " (measure.text(usage)) }
                    }
                }
            }
            p.scale aria-hidden="true" {
                span { (first) }
                @if first != last { span { (last) } }
            }
            details {
                summary { "As a table" }
                table.table {
                    thead { tr { th { "Day" } th.number { "Tokens" } th.number { "Cost" } } }
                    tbody {
                        @for (day, usage) in days.iter().rev() {
                            @if usage.tokens() > 0 || usage.cost > 0.0 {
                                tr {
                                    th scope="row" { (day) }
                                    td.number { (grouped(usage.tokens())) }
                                    td.number { (shown::cost(usage.cost)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Scales a value of at most `most` to a length of at most `length`.
fn scaled(value: f64, most: f64, length: f64) -> f64 {
    if most > 0.0 { value / most * length } else { 0.0 }
}

fn table(title: &str, rows: &[(&str, Option<&SessionId>, &Usage)], measure: Measure) -> Markup {
    let most = rows.iter().map(|(.., usage)| measure.of(usage)).fold(0.0, f64::max);
    html! {
        @if !rows.is_empty() {
            section aria-label=(title) {
                h2 { (title) }
                table.table {
                    thead {
                        tr {
                            th { "Name" } th.number { "Tokens" } th.number { "Cached" }
                            th.number { "Cost" }
                        }
                    }
                    tbody {
                        @for (name, root, usage) in rows {
                            tr {
                                th scope="row" {
                                    @match root {
                                        Some(root) => {
                                            a href={ "/f/" (root) } { (Line(name)) }
                                        },
                                        None => (Line(name)),
                                    }
                                    (bar(measure.of(usage), most))
                                }
                                td.number { (shown::tokens(usage.tokens())) }
                                td.number { (shown::tokens(usage.cached)) }
                                td.number { (shown::cost(usage.cost)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn bar(value: f64, most: f64) -> Markup {
    html! {
        svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
            rect width=(format!("{:.1}", scaled(value, most, 100.0))) height="4" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_usage_are_shown() {
        let group = |day: &str| UsageGroup { key: Some(day.into()), ..UsageGroup::default() };
        let shown = |groups: &[UsageGroup]| {
            days(groups).iter().map(|(day, _)| day.to_string()).collect::<Vec<_>>()
        };
        let found = shown(&[group("2026-02-27"), group("odd"), group("2026-03-01")]);
        assert_eq!(found, ["2026-02-27", "2026-02-28", "2026-03-01"]);
        assert_eq!(shown(&[group("2020-01-01"), group("2026-03-01")]).len(), DAYS);
        assert_eq!(shown(&[]), Vec::<String>::new());
    }
}
