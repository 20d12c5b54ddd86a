//! `log`: prints a session's events as they are stored.

use forklore::Engine;
use forklore::core::describe::Describer;
use forklore::core::{Event, Header};
use forklore::engine::LogRange;
use forklore::store::port::LogEntry;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Cell, Column, Output, Table, Tone, Zone, bytes, transcript};
use crate::session_ref::SessionRef;

/// The number of log rows that `forklore log` lays out as one table. The next rows are a further
/// table.
const ROWS: usize = 200;

const EXAMPLES: &str = "\
DATA is the message in one line, where the event is one of a conversation, and otherwise the
beginning of the JSON. With --json one envelope a line, data spelled as it was stored.

Examples:
  forklore log last
  forklore log last --from 10 --to 20
  forklore log last --raw
  forklore log last --json | jq -r .type | sort | uniq -c
  forklore log last --follow --json";

/// Print a session's events
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
    /// The first log position to print, from 0
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    from: u64,
    /// The last log position to print [default: the end]
    #[arg(long, value_name = "SEQ")]
    to: Option<u64>,
    /// Print only what the session wrote itself
    #[arg(long)]
    own: bool,
    /// Print the stored JSON as DATA
    #[arg(long)]
    raw: bool,
    /// Continue to print new events, until stopped
    #[arg(short, long)]
    follow: bool,
    /// Serve counts and durations for Prometheus at this address, or at this port of this machine; 0
    /// takes a free one
    #[arg(long, value_name = "HOST:PORT", requires = "follow")]
    metrics: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    app.serve_metrics(args.metrics.as_deref(), output)?;
    let header = app.session(&session, output)?;
    if !args.follow {
        output.page_through();
    }
    let engine = app.engine()?;
    // Start to follow before the first read, so that no event between the two is missed.
    let mut follower = args.follow.then(|| engine.follow(&header.id)).transpose()?;
    let mut range = LogRange { from: args.from, to: args.to, own: args.own };
    let mut table = Rows::new(args.raw, &header);
    if range.from > 0 && !args.raw && !output.is_json() {
        let open = engine.open_calls_before(&header, range.from)?;
        open.calls().for_each(|call| table.describer.open(&call.id, &call.name));
    }
    range.from = print(engine, &header, range, &mut table, output)?;
    while let Some(follower) = &mut follower
        && range.to.is_none_or(|to| range.from <= to)
    {
        output.flush()?;
        let change = follower.next_change()?;
        if change.removed || u64::try_from(change.head_seq).is_ok_and(|head| head >= range.from) {
            let now = engine.show(&header.id)?;
            range.from = print(engine, &now, range, &mut table, output)?;
        }
    }
    Ok(())
}

/// Prints the events of a range of the session's log. Returns the log position after the last
/// printed event.
fn print(
    engine: &Engine,
    header: &Header,
    range: LogRange,
    table: &mut Rows,
    output: &mut Output,
) -> Result<u64> {
    if output.is_json() {
        return Ok(engine.log(&header.id, range, &mut output.lines())?);
    }
    let mut next = range.from;
    let mut rows = Vec::with_capacity(ROWS);
    for stored in engine.log_events(header, range) {
        let stored = stored?;
        next = stored.seq + 1;
        let data = table.data(engine, &stored.event);
        rows.push(row(header, &stored, &data, output.zone()));
        if rows.len() == ROWS {
            show(std::mem::take(&mut rows), &mut table.printed, output)?;
        }
    }
    show(rows, &mut table.printed, output)?;
    Ok(next)
}

fn show(rows: Vec<Vec<Cell>>, printed: &mut bool, output: &mut Output) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::new("SEQ").right().at_least(4),
        Column::new("TYPE").at_least(17),
        Column::new("FROM").at_least(9).optional(),
        Column::new("TIME").optional(),
        Column::new("SIZE").right().at_least(8).optional(),
        Column::new("DATA").gives_way(),
    ])
    .continued(std::mem::replace(printed, true));
    rows.into_iter().for_each(|row| table.row(row));
    output.page(|page| table.show(page))
}

/// The state of a table that is printed in parts.
struct Rows {
    /// Whether the heading is printed already. A table in several parts has only one.
    printed: bool,
    /// Whether the data of each event is shown as the stored JSON.
    raw: bool,
    describer: Describer,
}

impl Rows {
    fn new(raw: bool, header: &Header) -> Self {
        Self { printed: false, raw, describer: Describer::in_folder(header.workspace.as_str()) }
    }

    /// Formats an event in one line. For a message or a summary, this is its text, unless `raw` is
    /// set. Otherwise it is the beginning of the event's JSON.
    fn data(&mut self, engine: &Engine, event: &Event) -> String {
        let messages = match (self.raw, event.class.is_conversation()) {
            (true, _) => None,
            (false, true) => Some(vec![engine.message(event)]),
            (false, false) => engine.summary_messages(event),
        };
        let lines: Vec<_> =
            messages.iter().flatten().map(|it| self.describer.message(it)).collect();
        let text = lines.join(" ");
        if text.is_empty() { transcript::start_of(event.data.get()) } else { text }
    }
}

fn row(header: &Header, stored: &LogEntry, data: &str, zone: Zone) -> Vec<Cell> {
    let event = &stored.event;
    let inherited = stored.origin.session_id != header.id;
    let from = match (inherited, &header.parent_id) {
        (true, _) => "inherited",
        (false, Some(_)) => "own",
        (false, None) => "",
    };
    let tone = if event.class.is_conversation() { Tone::Strong } else { Tone::Plain };
    let interrupted = if event.is_partial() { "(interrupted) " } else { "" };
    let data = format!("{interrupted}{data}");
    vec![
        Cell::new(Tone::Plain, stored.seq.to_string()),
        Cell::new(if inherited { Tone::Dim } else { tone }, event.kind.as_str()),
        Cell::new(Tone::Dim, from),
        Cell::new(Tone::Dim, zone.minute(event.ts)),
        Cell::new(Tone::Dim, bytes(event.data.get().len() as u64)),
        Cell::new(Tone::Plain, data),
    ]
}
