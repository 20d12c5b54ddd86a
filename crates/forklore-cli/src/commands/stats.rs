//! `stats`: counts sessions, events and bytes, the bytes that sharing saved, and the cost of model
//! calls.

use std::collections::HashMap;

use forklore::api::{StatsAnswer, UsageByModel};
use forklore::core::Usage;
use forklore::core::{SessionId, ShortIds};
use forklore::engine::{ModelUsage, Stats, UsageReport, UsageScope};

use crate::app::App;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Page, Table, Tone, bytes, count, grouped, money};
use crate::session_ref::SessionRef;
use crate::wiring;

/// The maximum number of sessions in the table of statistics.
const ROWS: usize = 40;

const EXAMPLES: &str = "\
What sessions share is counted once, in the session that wrote it. Of several records about one \
call of a model the last one counts, and of copies the original. A cost is what records say; where \
none names a price, none is known.

Examples:
  forklore stats                 the whole store, as its headers sum it
  forklore stats --models        what each model and session cost, read from every record
  forklore stats last            one session
  forklore stats last --family   the sessions of its family";

/// Count sessions, events, bytes, and what models cost
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Count only this session [default: the whole store]
    session: Option<String>,
    /// Count all sessions of its family
    #[arg(long, requires = "session")]
    family: bool,
    /// Read every record to find what each model cost; always done for a session or a family
    #[arg(long)]
    models: bool,
}

impl Args {
    /// Returns the arguments with which `forklore stats` counts one session.
    pub(super) fn of(session: &SessionId) -> Self {
        Self { session: Some(session.to_string()), family: false, models: false }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let reference = args.session.as_deref().map(SessionRef::parse).transpose()?;
    let session = reference.map(|session| app.session(&session, output)).transpose()?;
    let engine = app.engine()?;
    let session = session.map(|header| header.id);
    let names = names(args, session.is_some(), app, output);
    let mut inherited = None;
    let (mut stats, spender) = match session {
        Some(id) if args.family => (engine.family_stats(&id)?, Some(UsageScope::Family(id))),
        Some(id) => {
            let stats = engine.stats(Some(&id))?;
            if stats.inherited_events > 0 {
                inherited = Some(engine.inherited_usage(&id)?);
            }
            (stats, Some(UsageScope::Session(id)))
        }
        None => (engine.stats(None)?, args.models.then_some(UsageScope::Everything)),
    };
    let spending = spender.map(|spender| engine.usage_report(&spender)).transpose()?;
    if let Some(spending) = &spending {
        stats.usage = spending.usage;
        super::damaged::add_new(&mut stats.problems, &spending.problems);
    }
    let calls = spending.as_ref().map(|report| UsageByModel {
        models: report.models.clone(),
        by_session: report.by_session.clone(),
    });
    let answer = StatsAnswer { stats: stats.clone(), inherited_usage: inherited, calls };
    let failure = super::damaged::failure(&stats.problems);
    let people = |page: &mut Page| {
        show(page, &stats, inherited, spending.as_ref());
        if let Some(spending) = &spending {
            models(page, spending, &names);
            sessions(page, spending);
        }
    };
    output.answer_with(&answer, people, failure.as_ref())?;
    if spending.is_none() {
        output.hint("forklore stats --models", "what each model and session cost");
    }
    super::damaged::tell(&stats.problems, output)
}

/// Maps the providers' names of models to the user's names. Returns an empty map if the output
/// shows no models.
fn names(args: &Args, one: bool, app: &App, output: &Output) -> HashMap<String, String> {
    if output.is_json() || !(one || args.models) { HashMap::new() } else { wiring::names(app) }
}

fn show(page: &mut Page, stats: &Stats, inherited: Option<Usage>, spending: Option<&UsageReport>) {
    page.fact("sessions", stats.sessions);
    page.fact("own", format!("{}, {}", count(stats.own_events, "event"), bytes(stats.bytes)));
    let events = count(stats.inherited_events, "event");
    page.fact("inherited", format!("{events}, {} not stored again", bytes(stats.saved_bytes)));
    page.fact("store", stats.store_bytes.map(bytes).unwrap_or_default());
    let inherited = inherited.filter(|usage| *usage != Usage::default());
    if stats.usage != Usage::default() || inherited.is_some() {
        page.fact("tokens", tokens(&stats.usage));
    }
    if let Some(usage) = &inherited {
        page.fact("before", format!("{}, billed to those that wrote them", tokens(usage)));
    }
    page.fact("cost", cost(&stats.usage, spending));
}

fn tokens(usage: &Usage) -> String {
    let [input, cached, output] = [usage.input, usage.cached, usage.output].map(grouped);
    format!("{input} in ({cached} cached), {output} out")
}

/// Formats the recorded cost, and names the models whose recorded usage has no price.
fn cost(usage: &Usage, spending: Option<&UsageReport>) -> String {
    let has_tokens = usage.input > 0 || usage.output > 0;
    match (usage.cost > 0.0, has_tokens) {
        (false, false) => return String::new(),
        (false, true) => return "not known: no record names a price".to_owned(),
        (true, _) => {}
    }
    let unpriced = |model: &&ModelUsage| model.usage.cost <= 0.0;
    let models = spending.map(|spending| spending.models.iter().filter(unpriced));
    let models: Vec<_> = models.into_iter().flatten().map(named).collect();
    match models.as_slice() {
        [] => money(usage.cost),
        models => format!("{}; no price is known of {}", money(usage.cost), models.join(", ")),
    }
}

fn named(model: &ModelUsage) -> &str {
    model.model.as_deref().unwrap_or("(not said)")
}

fn models(page: &mut Page, spending: &UsageReport, names: &HashMap<String, String>) {
    if spending.models.is_empty() {
        return;
    }
    page.end();
    let mut table = table("MODEL", "CALLS");
    for model in &spending.models {
        let there = named(model);
        let name = match names.get(there) {
            Some(name) => format!("{name} ({there})"),
            None => there.to_owned(),
        };
        let mut cells =
            vec![Cell::new(Tone::Strong, name), Cell::new(Tone::Plain, grouped(model.calls))];
        cells.extend(amounts(&model.usage));
        table.row(cells);
    }
    table.show(page);
}

fn sessions(page: &mut Page, spending: &UsageReport) {
    if spending.by_session.len() < 2 {
        return;
    }
    page.end();
    let short = ShortIds::of(spending.by_session.iter().map(|session| &session.session_id));
    let mut table = table("SESSION", "LABEL");
    let mut dearest: Vec<_> = spending.by_session.iter().collect();
    dearest.sort_by(|a, b| {
        let weight = |usage: &Usage| usage.input.saturating_add(usage.output);
        let cost = b.usage.cost.total_cmp(&a.usage.cost);
        cost.then_with(|| weight(&b.usage).cmp(&weight(&a.usage)))
    });
    for session in dearest.iter().take(ROWS) {
        let mut cells = vec![
            Cell::id(&short, &session.session_id),
            Cell::new(Tone::Label, session.label.as_str()),
        ];
        cells.extend(amounts(&session.usage));
        cells.push(Cell::new(Tone::Dim, session.title.clone().unwrap_or_default()));
        table.row(cells);
    }
    table.show(page);
    if dearest.len() > ROWS {
        page.put(Tone::Dim, format!("... and {} more", dearest.len() - ROWS)).end();
    }
}

fn table(what: &'static str, second: &'static str) -> Table {
    Table::new(&[
        Column::new(what).gives_way(),
        Column::new(second).right(),
        Column::new("IN").right(),
        Column::new("CACHED").right(),
        Column::new("OUT").right(),
        Column::new("COST").right(),
        Column::new("TITLE").gives_way(),
    ])
}

fn amounts(usage: &Usage) -> [Cell; 4] {
    [
        Cell::new(Tone::Plain, grouped(usage.input)),
        Cell::new(Tone::Dim, grouped(usage.cached)),
        Cell::new(Tone::Plain, grouped(usage.output)),
        Cell::new(Tone::Good, money(usage.cost)),
    ]
}
