//! The row of an event.

use forklore_core::{CallStep, Class, Counts, Data, Effect, Event, Origin};
use tokio_postgres::Row;

use crate::checksum::Checksum;
use crate::connection::{Statement, Value, numbers, text, texts, truths};
use crate::fault::{Fault, Result};
use crate::number::{micros, signed, time, unsigned};

/// The columns that [`Stored::of`] reads, in this order. The payload follows, unless it is not
/// wanted.
pub(crate) const COLUMNS: &str = "e.session, e.seq, e.kept, e.index, e.turns, e.bytes, e.open, \
     e.class, e.starts_turn, e.ts, e.id, e.type, e.dialect, e.calls, e.origin_session, \
     e.origin_seq, e.crc";
/// The index of the payload behind [`COLUMNS`].
const DATA: usize = 17;

/// An event with what the store knows of it.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) counts: Counts,
    pub(crate) origin: Origin,
    pub(crate) event: Event,
}

/// Returns the checksum of an event. It does not cover where a copy of the event is stored, so that
/// the database can copy the row.
fn sum(counts: &Counts, origin: &Origin, event: &Event, calls: Option<&str>) -> i64 {
    let Event { id, ts, kind, class, dialect, effect, data } = event;
    [counts.inheritable, counts.index, counts.turns, counts.bytes, counts.open]
        .into_iter()
        .fold(Checksum::default(), |sum, count| sum.number(signed(count)))
        .text(origin.session_id.as_str())
        .number(signed(origin.seq))
        .text(id.as_str())
        .number(micros(*ts))
        .text(kind.as_str())
        .number(i64::from(class.code()))
        .optional(dialect.as_deref())
        .number(i64::from(effect.starts_turn))
        .optional(calls)
        .text(data.get())
        .sum()
}

/// Returns the checksum of an event, like [`sum`].
pub(crate) fn sum_of(counts: &Counts, origin: &Origin, event: &Event) -> Result<i64> {
    let calls = calls_of(origin, event)?;
    Ok(sum(counts, origin, event, calls.as_deref()))
}

/// Returns the steps of an event's calls as they are stored.
fn calls_of(origin: &Origin, event: &Event) -> Result<Option<String>> {
    if event.effect.calls.is_empty() {
        return Ok(None);
    }
    let session = origin.session_id.as_str();
    let damaged =
        |error: serde_json::Error| Fault::damaged(session, Some(origin.seq), error.to_string());
    serde_json::to_string(&event.effect.calls).map(Some).map_err(damaged)
}

impl Stored {
    /// Reads a row with the columns [`COLUMNS`] and checks it. A row without its payload cannot be
    /// checked.
    pub(crate) fn of(row: &Row, bare: bool) -> Result<Self> {
        let (session, seq): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
        let damaged = |message: String| Fault::damaged(&session, Some(unsigned(seq)), message);
        let count = |at: usize| -> Result<u64> { Ok(unsigned(row.try_get(at)?)) };
        let counts = Counts {
            inheritable: count(2)?,
            index: count(3)?,
            turns: count(4)?,
            bytes: count(5)?,
            open: count(6)?,
        };
        let calls: Option<String> = row.try_get(13)?;
        let (first, at): (Option<String>, Option<i64>) = (row.try_get(14)?, row.try_get(15)?);
        let origin = Origin {
            session_id: first
                .as_ref()
                .unwrap_or(&session)
                .parse()
                .map_err(|_| damaged("the session that wrote it has no id".into()))?,
            seq: unsigned(at.unwrap_or(seq)),
        };
        let data =
            if bare { Data::null() } else { Data::from_checked(row.try_get::<_, String>(DATA)?) };
        let event = event(row, calls.as_deref(), data, damaged)?;
        if !bare && sum(&counts, &origin, &event, calls.as_deref()) != row.try_get::<_, i64>(16)? {
            return Err(damaged("it does not fit its checksum".into()));
        }
        Ok(Self { counts, origin, event })
    }
}

fn event(
    row: &Row,
    calls: Option<&str>,
    data: Data,
    damaged: impl Fn(String) -> Fault,
) -> Result<Event> {
    let (class, id, kind): (i16, String, String) =
        (row.try_get(7)?, row.try_get(10)?, row.try_get(11)?);
    let class = u8::try_from(class).ok().and_then(Class::from_code);
    let dialect: Option<String> = row.try_get(12)?;
    Ok(Event {
        id: id.parse().map_err(|_| damaged("its id is no id".into()))?,
        ts: time(row.try_get(9)?).map_err(&damaged)?,
        kind: kind.parse().map_err(|_| damaged("its type is no type".into()))?,
        class: class.ok_or_else(|| damaged("its class is unknown".into()))?,
        dialect: dialect.map(Into::into),
        effect: effect(row.try_get(8)?, calls).map_err(&damaged)?,
        data,
    })
}

/// Returns how an event changes turns and open calls.
pub(crate) fn effect(starts_turn: bool, calls: Option<&str>) -> Result<Effect, String> {
    let calls: Vec<CallStep> = match calls {
        None => Vec::new(),
        Some(calls) => serde_json::from_str(calls).map_err(|error| error.to_string())?,
    };
    Ok(Effect { starts_turn, calls })
}

/// Events of sessions of one family, as columns, to be inserted together.
#[derive(Default)]
pub(crate) struct Rows {
    sessions: Vec<String>,
    seqs: Vec<i64>,
    counts: [Vec<i64>; 5],
    classes: Vec<i64>,
    starts: Vec<bool>,
    times: Vec<i64>,
    ids: Vec<String>,
    kinds: Vec<String>,
    dialects: Vec<Option<String>>,
    calls: Vec<Option<String>>,
    sums: Vec<i64>,
    data: Vec<String>,
    /// The size of all payloads, in bytes.
    pub(crate) size: usize,
}

/// How many columns [`UNNESTED`] has.
pub(crate) const UNNESTED_COLUMNS: usize = 16;
/// The values of the statement behind the tenant and the family, as a table.
pub(crate) const UNNESTED: &str = "unnest($3::text[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], \
     $8::int8[], $9::int8[], $10::int8[], $11::bool[], $12::int8[], $13::text[], $14::text[], \
     $15::text[], $16::text[], $17::int8[], $18::text[])";

impl Rows {
    /// Adds an event that the session `origin.session_id` writes at the seq `origin.seq`.
    pub(crate) fn add(&mut self, origin: &Origin, counts: &Counts, event: &Event) -> Result<()> {
        let Event { id, ts, kind, class, dialect, effect, data } = event;
        let session = origin.session_id.as_str();
        let calls = calls_of(origin, event)?;
        self.sums.push(sum(counts, origin, event, calls.as_deref()));
        self.sessions.push(session.to_owned());
        self.seqs.push(signed(origin.seq));
        let Counts { inheritable, index, turns, bytes, open } = *counts;
        let stored = [inheritable, index, turns, bytes, open];
        self.counts.iter_mut().zip(stored).for_each(|(column, count)| column.push(signed(count)));
        self.classes.push(i64::from(class.code()));
        self.starts.push(effect.starts_turn);
        self.times.push(micros(*ts));
        self.ids.push(id.as_str().to_owned());
        self.kinds.push(kind.as_str().to_owned());
        self.dialects.push(dialect.as_deref().map(str::to_owned));
        self.calls.push(calls);
        self.data.push(data.get().to_owned());
        self.size += data.get().len();
        Ok(())
    }

    /// The beginning of a statement that inserts events.
    pub(crate) const INSERT: &str =
        "INSERT INTO forklore.event (tenant, family, session, seq, kept, index, turns, bytes,
             open, class, starts_turn, ts, id, type, dialect, calls, crc, data)";

    /// Returns the statement that inserts the events.
    pub(crate) fn statement<'a>(&'a self, tenant: &'a &str, family: &'a String) -> Statement<'a> {
        let sql = format!("{} SELECT $1, $2, * FROM {UNNESTED}", Self::INSERT);
        Statement::new(sql, self.values(tenant, family))
    }

    /// Returns the values of a statement with [`UNNESTED`].
    pub(crate) fn values<'a>(&'a self, tenant: &'a &str, family: &'a String) -> Vec<Value<'a>> {
        let [inheritable, index, turns, bytes, open] = &self.counts;
        vec![
            text(tenant),
            text(family),
            texts(&self.sessions),
            numbers(&self.seqs),
            numbers(inheritable),
            numbers(index),
            numbers(turns),
            numbers(bytes),
            numbers(open),
            numbers(&self.classes),
            truths(&self.starts),
            numbers(&self.times),
            texts(&self.ids),
            texts(&self.kinds),
            texts(&self.dialects),
            texts(&self.calls),
            numbers(&self.sums),
            texts(&self.data),
        ]
    }
}
