//! `stats`: counts sessions, events and bytes, the bytes that sharing saved, and the cost of model
//! calls.

use std::collections::HashMap;

mod cost;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use forklore::api::{StatsAnswer, UsageByModel, UsageGrouping};
use forklore::core::{Currency, SessionId, ShortIds, Usage};
use forklore::engine::{ModelUsage, Stats, UsageOptions, UsageReport, UsageScope};

use crate::app::App;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Page, Table, Tone, bytes, count, grouped};
use crate::session_ref::SessionRef;
use crate::wiring;

use cost::Cost;

/// The maximum number of sessions in the table of statistics.
const ROWS: usize = 40;

/// The name of the model of calls whose records do not name one.
const NOT_STATED: &str = "(not said)";

const EXAMPLES: &str = "\
What sessions share is counted once, in the session that wrote it. Of several records about one \
call of a model the last one counts, and of copies the original. A cost is what records say, or \
else what follows from the prices in your configuration ([prices], or price of a model). Where \
neither is there, none is known: \"no price\" says so, and \">=\" marks a cost of which a part is not \
known. Days and weeks are those of your time zone.

Examples:
  forklore stats                 the whole store, as its headers sum it
  forklore stats --models        what each model and session cost, read from every record
  forklore stats last            one session
  forklore stats last --family   the sessions of its family
  forklore stats --by day        each day; or week, model, workspace, agent";

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
    /// Sum what models cost by day, week, model, workspace or agent
    #[arg(long, value_name = "WHAT", value_enum)]
    by: Option<By>,
}

/// By what the cost of models is summed.
#[derive(Clone, Copy, Debug)]
struct By(UsageGrouping);

impl ValueEnum for By {
    fn value_variants<'a>() -> &'a [Self] {
        use UsageGrouping::{Agent, Day, Model, Week, Workspace};
        &[Self(Day), Self(Week), Self(Model), Self(Workspace), Self(Agent)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

impl By {
    fn name(self) -> &'static str {
        match self.0 {
            UsageGrouping::Day => "day",
            UsageGrouping::Week => "week",
            UsageGrouping::Model => "model",
            UsageGrouping::Workspace => "workspace",
            UsageGrouping::Agent => "agent",
        }
    }

    /// Returns the heading of the column with the names of the groups.
    fn heading(self) -> &'static str {
        match self.0 {
            UsageGrouping::Day => "DAY",
            UsageGrouping::Week => "WEEK",
            UsageGrouping::Model => "MODEL",
            UsageGrouping::Workspace => "WORKSPACE",
            UsageGrouping::Agent => "AGENT",
        }
    }
}

impl Args {
    /// Returns the arguments with which `forklore stats` counts one session.
    pub(super) fn of(session: &SessionId) -> Self {
        Self { session: Some(session.to_string()), family: false, models: false, by: None }
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
        None => {
            let reads = args.models || args.by.is_some();
            (engine.stats(None)?, reads.then_some(UsageScope::Everything))
        }
    };
    let zone = output.zone().time_zone();
    let (prices, by) = (wiring::prices(app), args.by.map(|by| by.0));
    let currency = prices.currency.clone();
    let options = UsageOptions { prices, by, zone };
    let spending =
        spender.map(|spender| engine.usage_report_with(&spender, &options)).transpose()?;
    if let Some(spending) = &spending {
        stats.usage = spending.usage;
        super::damaged::add_new(&mut stats.problems, &spending.problems);
    }
    let calls = spending.as_ref().map(|report| UsageByModel {
        unpriced_tokens: report.unpriced_tokens,
        unpriced_models: unpriced(report).map(|model| model.model.clone()).collect(),
        models: report.models.clone(),
        by_session: report.by_session.clone(),
        by,
        groups: report.groups.clone(),
    });
    let answer = StatsAnswer {
        stats: stats.clone(),
        inherited_usage: inherited,
        currency: currency.to_string(),
        calls,
    };
    let failure = super::damaged::failure(&stats.problems);
    let people = |page: &mut Page| {
        show(page, args, &stats, inherited, spending.as_ref(), &currency);
        match (&spending, args.by) {
            (Some(spending), Some(by)) => groups(page, spending, by, &currency),
            (Some(spending), None) => {
                models(page, spending, &names, &currency);
                sessions(page, spending, &currency);
            }
            (None, _) => {}
        }
    };
    output.answer_with(&answer, people, failure.as_ref())?;
    match &spending {
        None => output.hint("forklore stats --models", "what each model and session cost"),
        Some(spending) if spending.unpriced_tokens > 0 => {
            output.hint("forklore config edit", "give models a price: [prices.\"NAME\"]");
        }
        Some(_) => {}
    }
    super::damaged::tell(&stats.problems, output)
}

/// Maps the providers' names of models to the user's names. Returns an empty map if the output
/// shows no models.
fn names(args: &Args, one: bool, app: &App, output: &Output) -> HashMap<String, String> {
    if output.is_json() || !(one || args.models) || args.by.is_some() {
        HashMap::new()
    } else {
        wiring::names(app)
    }
}

fn show(
    page: &mut Page,
    args: &Args,
    stats: &Stats,
    inherited: Option<Usage>,
    spending: Option<&UsageReport>,
    currency: &Currency,
) {
    let scope = match (&args.session, args.family) {
        (None, _) => " in the whole store",
        (Some(_), true) => " in the family",
        (Some(_), false) => "",
    };
    page.fact("sessions", format!("{}{scope}", stats.sessions));
    page.fact("own", format!("{}, {}", count(stats.own_events, "event"), bytes(stats.bytes)));
    let events = count(stats.inherited_events, "event");
    page.fact("inherited", format!("{events}, {} not stored again", bytes(stats.saved_bytes)));
    page.fact("store", stats.store_bytes.map(bytes).unwrap_or_default());
    let inherited = inherited.filter(|usage| *usage != Usage::default());
    // The headers count only a part of what agents record of their calls.
    if spending.is_some() && (stats.usage != Usage::default() || inherited.is_some()) {
        page.fact("tokens", tokens(&stats.usage));
    }
    if let Some(usage) = &inherited {
        page.fact("before", format!("{}, billed to those that wrote them", tokens(usage)));
    }
    if spending.is_some() {
        page.fact("cost", total(&stats.usage, spending, currency));
    }
}

fn tokens(usage: &Usage) -> String {
    let [input, cached, output] = [usage.input, usage.cached, usage.output].map(grouped);
    format!("{input} in ({cached} cached), {output} out")
}

/// Formats the cost, and names the models whose cost is not known.
fn total(usage: &Usage, spending: Option<&UsageReport>, currency: &Currency) -> String {
    let unpriced_tokens = spending.map_or(usage.tokens(), |spending| spending.unpriced_tokens);
    match (Cost { usage, unpriced_tokens, currency }).sentence() {
        text if unpriced_tokens == 0 || text.is_empty() => text,
        text => {
            let models: Vec<_> = spending.into_iter().flat_map(unpriced).map(named).collect();
            match models.as_slice() {
                [] => text,
                models => format!("{text}; no price is known of {}", models.join(", ")),
            }
        }
    }
}

/// Returns the models whose cost is not known, or known in part only.
fn unpriced(spending: &UsageReport) -> impl Iterator<Item = &ModelUsage> {
    spending.models.iter().filter(|model| model.unpriced_tokens > 0)
}

fn named(model: &ModelUsage) -> &str {
    model.model.as_deref().unwrap_or(NOT_STATED)
}

fn models(
    page: &mut Page,
    spending: &UsageReport,
    names: &HashMap<String, String>,
    currency: &Currency,
) {
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
        cells.extend(amounts(&model.usage, model.unpriced_tokens, currency));
        table.row(cells);
    }
    table.show(page);
}

/// Shows a row for each day, week, model, folder or agent, and their sum.
fn groups(page: &mut Page, spending: &UsageReport, by: By, currency: &Currency) {
    if spending.groups.is_empty() {
        return;
    }
    page.end();
    let mut table = table(by.heading(), "CALLS");
    for group in &spending.groups {
        let name = group.key.as_deref().unwrap_or(NOT_STATED);
        let mut cells =
            vec![Cell::new(Tone::Strong, name), Cell::new(Tone::Plain, grouped(group.calls))];
        cells.extend(amounts(&group.usage, group.unpriced_tokens, currency));
        table.row(cells);
    }
    if spending.groups.len() > 1 {
        let calls = spending.groups.iter().map(|group| group.calls).sum();
        let mut cells = vec![Cell::new(Tone::Dim, "all"), Cell::new(Tone::Plain, grouped(calls))];
        cells.extend(amounts(&spending.usage, spending.unpriced_tokens, currency));
        table.row(cells);
    }
    table.show(page);
}

fn sessions(page: &mut Page, spending: &UsageReport, currency: &Currency) {
    if spending.by_session.len() < 2 {
        return;
    }
    page.end();
    let short = ShortIds::of(spending.by_session.iter().map(|session| &session.session_id));
    let mut table = table("SESSION", "LABEL");
    let mut dearest: Vec<_> = spending.by_session.iter().collect();
    dearest.sort_by(|a, b| {
        let cost = b.usage.cost.total_cmp(&a.usage.cost);
        cost.then_with(|| b.usage.tokens().cmp(&a.usage.tokens()))
    });
    for session in dearest.iter().take(ROWS) {
        let mut cells = vec![
            Cell::id(&short, &session.session_id),
            Cell::new(Tone::Label, session.label.as_str()),
        ];
        cells.extend(amounts(&session.usage, session.unpriced_tokens, currency));
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

fn amounts(usage: &Usage, unpriced_tokens: u64, currency: &Currency) -> [Cell; 4] {
    [
        Cell::new(Tone::Plain, grouped(usage.input)),
        Cell::new(Tone::Dim, grouped(usage.cached)),
        Cell::new(Tone::Plain, grouped(usage.output)),
        Cell::new(Tone::Good, Cost { usage, unpriced_tokens, currency }.to_string()),
    ]
}
