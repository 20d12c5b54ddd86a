//! `append`: adds events to the end of a session.

use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal};

use forklore::api::Appended;
use forklore::core::limits::{BATCH_BYTES, BATCH_EVENTS};
use forklore::core::{Class, Data, EventId, EventType, SessionId};
use forklore::engine::{Batch, NewEvent};
use forklore::store::port::Appended as Stored;
use forklore::{Engine, Error};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;

use super::arguments;

const EXAMPLES: &str = "\
Examples:
  forklore append last --text \"plan A or plan B?\"
  forklore append last --type assistant_message --text \"plan B\"
  forklore append plan-1 --type tool_call --data '{\"id\":\"c1\",\"name\":\"ls\"}'
  forklore append plan-1 --expect 7 < events.jsonl

Lines on standard input are JSON objects with type, data and, if wanted, id, ts and class. \
They are added all or none. With ids of their own, adding them again is harmless.";

/// Add events to a session: one, or JSON lines from standard input
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, or last
    session: String,
    /// The event's type
    #[arg(long = "type", value_name = "TYPE", default_value = "user_message")]
    kind: String,
    /// The event's text
    #[arg(long, conflicts_with = "data", allow_hyphen_values = true)]
    text: Option<String>,
    /// The event's data as JSON, stored as it is written here
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
    /// Append only if this is the last log position; -1 means an empty log
    #[arg(long, value_name = "HEAD_SEQ", allow_hyphen_values = true)]
    expect: Option<i64>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    let kind = args.kind.parse().map_err(|error| Failure::invalid(format!("--type: {error}")))?;
    let batch = match (&args.text, &args.data) {
        (Some(text), _) => NumberedEvents::of(NewEvent::text(kind, text).map_err(Error::from)?),
        (None, Some(_)) => {
            let data = arguments::json("data", args.data.as_deref())?;
            let data = data.unwrap_or_else(|| Data::from_checked("null"));
            NumberedEvents::of(NewEvent::new(kind, data))
        }
        (None, None) => NumberedEvents::read(&kind, &mut io::stdin().lock())?,
    };
    let header = app.stored(&session, output)?;
    let appended = batch.append(app.engine()?, &header.id, args.expect)?;
    let Stored { from_seq, to_seq, head_seq, repeated } = appended;
    let answer = Appended { session_id: header.id.clone(), from_seq, to_seq, head_seq };
    output.answer(&answer, |page| {
        page.put(Tone::Good, if repeated { "Was there already: " } else { "Appended " });
        page.put(Tone::Plain, count(to_seq - from_seq + 1, "event")).put(Tone::Plain, " to ");
        page.put(Tone::Label, &header.label).put(Tone::Plain, "  ").put(Tone::Id, &header.id);
        let to = if to_seq > from_seq { format!(" to {to_seq}") } else { String::new() };
        page.put(Tone::Dim, format!("  seq {from_seq}{to}")).end();
    })
}

/// The events to append, and for each event the number of its line in the input, counted from 1.
struct NumberedEvents {
    events: Vec<NewEvent>,
    lines: Vec<usize>,
}

#[derive(Deserialize)]
struct InputLine<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(default)]
    id: Option<EventId>,
    #[serde(default)]
    ts: Option<Timestamp>,
    #[serde(default)]
    class: Option<Class>,
}

impl NumberedEvents {
    fn of(event: NewEvent) -> Self {
        Self { events: vec![event], lines: vec![1] }
    }

    fn read(kind: &EventType, input: &mut io::StdinLock<'_>) -> Result<Self> {
        if input.is_terminal() {
            let message = "say what to append: --text, --data, or JSON lines on standard input";
            return Err(Failure::invalid(message).or_try("forklore append --help"));
        }
        let mut batch = Self { events: Vec::new(), lines: Vec::new() };
        let mut bytes = 0;
        for (at, line) in input.lines().enumerate() {
            let number = at + 1;
            let doing = || format!("reading line {number} of standard input");
            let line = line.map_err(|source| match source.kind() {
                io::ErrorKind::InvalidData => Failure::invalid(format!("line {number}: not UTF-8")),
                _ => Failure::File { doing: doing(), source },
            })?;
            if line.trim().is_empty() {
                continue;
            }
            bytes += line.len();
            // Check the limits while reading, so that endless input is refused before it fills the
            // memory.
            if batch.events.len() >= BATCH_EVENTS || bytes > 2 * BATCH_BYTES {
                let limits = format!("{BATCH_EVENTS} events or {BATCH_BYTES} bytes");
                return Err(Failure::invalid(format!(
                    "line {number}: an append holds at most {limits}"
                )));
            }
            batch.events.push(
                event(kind, &line)
                    .map_err(|why| Failure::invalid(format!("line {number}: {why}")))?,
            );
            batch.lines.push(number);
        }
        Ok(batch)
    }

    /// Appends the events. An error about one event names the input line of that event.
    fn append(self, engine: &Engine, session: &SessionId, expect: Option<i64>) -> Result<Stored> {
        let batch = Batch { events: self.events, expect, owner: None };
        engine.append(session, &batch).map_err(|error| match error {
            Error::Event { line, source } => {
                let line = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(line);
                Error::Event { line, source }.into()
            }
            error => error.into(),
        })
    }
}

fn event(kind: &EventType, line: &str) -> Result<NewEvent, String> {
    let read: InputLine<'_> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let kind = match read.kind {
        Some(kind) => kind.parse().map_err(|error| format!("{error}"))?,
        None => kind.clone(),
    };
    let data = Data::parse(read.data.get()).map_err(|error| error.to_string())?;
    Ok(NewEvent { kind, data, id: read.id, ts: read.ts, class: read.class })
}
