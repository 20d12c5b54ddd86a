//! `tier status`: shows the state of a store in a PostgreSQL database and of its server.

use forklore::api::{RunningStatement, StatementCost, TierStatus};
use forklore::postgres;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Page, Table, Tone, bytes, count, grouped};

/// From this difference of the clocks on, in seconds, it is marked: people compare times of the
/// store with times of this machine.
const CLOCKS_DIFFER: f64 = 1.0;
/// From this share of the connections on, it is marked.
const NEARLY_ALL: f64 = 0.9;

const EXAMPLES: &str = "\
It also answers if the tables are those of another version, or if there are none yet. Replicas, and \
the statements of other logins, are shown to a login that has the role pg_monitor or \
pg_read_all_stats. What statements cost in all is shown if the database has the extension \
pg_stat_statements.

Examples:
  forklore tier status
  forklore tier status --json | jq '.replicas[] | {name, sync_state, lag_bytes}'";

/// Show the server, its replicas, sizes, running turns and slow statements
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {}

pub(super) fn run(app: &App, output: &mut Output) -> Result<()> {
    let address = super::address(app, "tier status")?;
    let status = postgres::status(address).map_err(forklore::OpenError::from)?;
    output.answer(&status, |page| show(page, &status))?;
    let is_behind = status.tables_version.is_none_or(|version| version < status.program_version);
    if is_behind && !status.standby {
        output.hint("forklore tier init", "creates the tables, or brings them up to date");
    }
    Ok(())
}

fn show(page: &mut Page, status: &TierStatus) {
    page.fact("store", &status.store).fact("tenant", &status.tenant);
    page.fact("server", format!("PostgreSQL {}, {}", status.server_version, role(status)));
    page.fact("tables", tables(status));
    let used = status.connections as f64 >= NEARLY_ALL * status.max_connections as f64;
    let warning = if used { " (nearly all)" } else { "" };
    let (connections, most) = (status.connections, status.max_connections);
    page.fact("in use", format!("{connections} of {most} connections{warning}"));
    page.fact("clock", clock(status));
    page.fact(
        "feed",
        match status.feed_delay_seconds {
            Some(delay) => format!("waits for a transaction of {delay:.1} s"),
            None => "not shown to this login".to_owned(),
        },
    );
    if let (Some(sessions), Some(events)) = (status.sessions, status.events) {
        page.fact("sessions", grouped(sessions)).fact("events", grouped(events));
    }
    replicas(page, status);
    sizes(page, status);
    leases(page, status);
    running(page, &status.running);
    costs(page, status.statements.as_deref().unwrap_or_default());
    if !status.sees_statistics {
        let missing = "This login sees no replicas, and of statements only its own: it lacks the \
                       role pg_read_all_stats.";
        page.end().put(Tone::Dim, missing).end();
    }
}

fn role(status: &TierStatus) -> String {
    match status.replay_delay_seconds {
        Some(delay) if status.standby => format!("a standby, {delay:.1} s behind; no writes"),
        _ if status.standby => "a standby; no writes".to_owned(),
        _ => "accepts writes".to_owned(),
    }
}

fn tables(status: &TierStatus) -> String {
    let program = status.program_version;
    match status.tables_version {
        None => "none".to_owned(),
        Some(version) if version < program => {
            format!("version {version}, older than this program's {program}")
        }
        Some(version) if version > program => {
            format!("version {version}, newer than this program's {program}: use a newer forklore")
        }
        Some(version) => format!("version {version}"),
    }
}

fn clock(status: &TierStatus) -> String {
    let difference = status.clock_difference_seconds;
    let exact = status.round_trip_seconds / 2.0;
    let warning = if difference.abs() >= CLOCKS_DIFFER { ": set the clocks" } else { "" };
    format!("this machine's differs by {difference:+.3} s (give or take {exact:.3} s){warning}")
}

fn replicas(page: &mut Page, status: &TierStatus) {
    if status.replicas.is_empty() {
        return;
    }
    page.end();
    let mut table = Table::new(&[
        Column::new("REPLICA").gives_way(),
        Column::new("STATE"),
        Column::new("COMMITS"),
        Column::new("BEHIND").right(),
        Column::new("DELAY").right(),
    ]);
    for replica in &status.replicas {
        let delay = replica.lag_seconds.map(|seconds| format!("{seconds:.3} s"));
        table.row(vec![
            Cell::new(Tone::Strong, replica.name.as_str()),
            Cell::new(Tone::Plain, replica.state.as_str()),
            Cell::new(Tone::Plain, replica.sync_state.as_str()),
            Cell::new(Tone::Plain, replica.lag_bytes.map_or_else(|| "-".to_owned(), bytes)),
            Cell::new(Tone::Plain, delay.unwrap_or_else(|| "-".to_owned())),
        ]);
    }
    table.show(page);
}

fn sizes(page: &mut Page, status: &TierStatus) {
    if status.tables.is_empty() {
        return;
    }
    page.end();
    let mut table = Table::new(&[
        Column::new("TABLE"),
        Column::new("ROWS").right(),
        Column::new("SIZE").right(),
    ]);
    for size in &status.tables {
        table.row(vec![
            Cell::new(Tone::Plain, size.table.as_str()),
            Cell::new(Tone::Plain, format!("~{}", grouped(size.rows))),
            Cell::new(Tone::Plain, bytes(size.bytes)),
        ]);
    }
    table.show(page);
}

fn leases(page: &mut Page, status: &TierStatus) {
    if status.leases.is_empty() {
        return;
    }
    page.end();
    page.put(Tone::Strong, count(status.leases.len() as u64, "running turn")).end();
    for lease in &status.leases {
        page.put(Tone::Plain, "  ").put(Tone::Id, &lease.session_id);
        page.put(Tone::Plain, format!("  {}", lease.owner));
        page.put(Tone::Dim, format!("  until {}", lease.expires)).end();
    }
}

fn running(page: &mut Page, running: &[RunningStatement]) {
    if running.is_empty() {
        return;
    }
    page.end();
    page.put(Tone::Bad, count(running.len() as u64, "transaction"))
        .put(Tone::Bad, " for > 1 s")
        .end();
    for one in running {
        let waits = one.waits_for.as_deref().map(|what| format!(", waits for {what}"));
        let seconds = format!("  {:.1} s  ", one.seconds);
        page.put(Tone::Plain, seconds).put(Tone::Plain, &one.state);
        page.put(Tone::Plain, waits.unwrap_or_default());
        page.put(Tone::Dim, "  ").put(Tone::Dim, &one.statement).end();
    }
}

fn costs(page: &mut Page, costs: &[StatementCost]) {
    if costs.is_empty() {
        return;
    }
    page.end();
    let mut table = Table::new(&[
        Column::new("CALLS").right(),
        Column::new("TOTAL").right(),
        Column::new("MEAN").right(),
        Column::new("MAX").right(),
        Column::new("STATEMENT").gives_way(),
    ]);
    for cost in costs {
        table.row(vec![
            Cell::new(Tone::Plain, grouped(cost.calls)),
            Cell::new(Tone::Plain, format!("{:.1} s", cost.total_seconds)),
            Cell::new(Tone::Plain, format!("{:.2} ms", cost.mean_seconds * 1_000.0)),
            Cell::new(Tone::Plain, format!("{:.2} ms", cost.max_seconds * 1_000.0)),
            Cell::new(Tone::Dim, cost.statement.as_str()),
        ]);
    }
    table.show(page);
}
