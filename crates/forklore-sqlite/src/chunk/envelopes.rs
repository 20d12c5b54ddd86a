//! The heads of a chunk: all fields of its events except their payloads.

use std::borrow::Cow;
use std::sync::Arc;

use forklore_core::{CallStep, Class, Data, Effect, Event, EventId, EventType};
use serde::{Deserialize, Serialize};

use super::outline::Outline;
use crate::crc;
use crate::integer::timestamp;
use crate::row::Row;
use crate::row_key::CHUNK_BYTES;

/// The stored form of the heads of a chunk, i.e. of its events without their payloads. It is
/// encoded with postcard.
#[derive(Serialize)]
struct Stored<'a> {
    /// The names of the event types and dialects (agents' formats) in the chunk, each once. An
    /// entry of `events` refers to a name by its index in this list.
    names: Vec<&'a str>,
    events: Vec<Head<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Id<'a>,
    /// The event's time minus that of the previous event in the chunk, in microseconds. For the
    /// chunk's first event: its time since 1970.
    after: i64,
    class: u8,
    kind: u32,
    dialect: Option<u32>,
    /// Number of the session's tool calls that are open (without a result) directly after the
    /// event.
    open: u64,
    calls: Cow<'a, [CallStep]>,
    origin: Option<(i64, u64)>,
    len: u32,
    sum: u32,
}

#[derive(Serialize, Deserialize)]
enum Id<'a> {
    Uuid(&'a [u8]),
    Other(&'a str),
}

/// An event of a chunk, with the location and the checksum of its payload.
pub(super) struct Placed {
    /// The event, its counts and its origin; the payload is left out.
    pub(super) row: Row,
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) sum: u32,
}

/// Encodes the events of a chunk without their payloads. Stores `sums` as the checksums of the
/// first payloads without checking them, so that a damaged payload still counts as damaged.
/// Computes the checksums of the other payloads. Returns `None` if a payload is too long for a
/// chunk.
pub(super) fn write(rows: &[&Row], sums: &[u32]) -> Option<Vec<u8>> {
    let mut names = Vec::new();
    let mut name = |text| {
        let is_same = names.iter().position(|found| *found == text);
        let at = is_same.unwrap_or_else(|| {
            names.push(text);
            names.len() - 1
        });
        u32::try_from(at).ok()
    };
    let uuids: Vec<_> = rows.iter().map(|row| row.event.id.uuid()).collect();
    let mut events = Vec::with_capacity(rows.len());
    let mut last = 0;
    let mut sums = sums.iter();
    for (row, uuid) in rows.iter().zip(&uuids) {
        let Event { id, ts, kind, class, dialect, effect, data } = &row.event;
        let now = ts.as_microsecond();
        events.push(Head {
            id: uuid.as_ref().map_or(Id::Other(id.as_str()), |uuid| Id::Uuid(uuid)),
            after: now.wrapping_sub(last),
            class: class.code(),
            kind: name(kind.as_str())?,
            dialect: dialect.as_deref().map_or(Some(None), |dialect| name(dialect).map(Some))?,
            open: row.counts.open,
            calls: Cow::Borrowed(&effect.calls),
            origin: row.origin,
            len: u32::try_from(data.get().len()).ok()?,
            sum: sums.next().copied().unwrap_or_else(|| crc::payload(data.get().as_bytes())),
        });
        last = now;
    }
    postcard::to_allocvec(&Stored { names, events }).ok()
}

/// The payloads of a chunk that [`read`] includes in the total length that it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The total length includes all payloads of the chunk.
    Whole,
    /// The total length includes only the payloads up to that of the last requested event. Later
    /// events are not decoded.
    UpToRequested,
}

/// Decodes those events of a chunk whose bits are set in `requested`, without their payloads. Also
/// returns the total length in bytes of the payloads that `extent` includes.
pub(super) fn read(
    outline: &Outline,
    bytes: &[u8],
    requested: u64,
    extent: Extent,
) -> Result<(Vec<Placed>, usize), String> {
    let (names, heads, len) = requested_heads(outline, bytes, requested, extent)?;
    let mut ids = ids(&heads)?.into_iter();
    let mut placed = Vec::with_capacity(heads.len());
    for Requested { index: location, at, ts, retained_bytes, head } in heads {
        let event = Event {
            id: ids.next().ok_or("an id is missing")?,
            ts: timestamp(ts).map_err(|_| "a time is none")?,
            kind: names.kind(head.kind)?,
            class: Class::from_code(head.class).ok_or("a class is unknown")?,
            dialect: head.dialect.map(|dialect| names.dialect(dialect)).transpose()?,
            effect: Effect {
                starts_turn: outline.bits.started >> location & 1 == 1,
                calls: head.calls.into_owned(),
            },
            data: Data::null(),
        };
        let counts = outline.counts(location, retained_bytes, head.open);
        let k = outline.k.saturating_add_unsigned(location);
        let row = Row { k, counts, origin: head.origin, event };
        placed.push(Placed { row, at, len: head.len as usize, sum: head.sum });
    }
    Ok((placed, len))
}

/// A requested event of a chunk, decoded without its payload. Also has the values that are computed
/// from the events before it in the chunk.
struct Requested<'a> {
    index: u64,
    at: usize,
    ts: i64,
    retained_bytes: u64,
    head: Head<'a>,
}

/// Decodes the requested events of a chunk without their payloads. It must decode from the chunk's
/// first event on, because an event's time, payload offset and counts are sums over the events
/// before it.
fn requested_heads<'a>(
    outline: &Outline,
    bytes: &'a [u8],
    requested: u64,
    extent: Extent,
) -> Result<(Names, Vec<Requested<'a>>, usize), String> {
    let (names, bytes) = next::<Vec<&str>>(bytes)?;
    let (count, mut bytes) = next::<u32>(bytes)?;
    if count != outline.bits.there.count_ones() {
        return Err("it does not hold as many events as it says".into());
    }
    let mut heads = Vec::with_capacity(requested.count_ones() as usize);
    let (mut at, mut ts, mut retained_bytes) = (0_usize, 0_i64, outline.start.bytes);
    for index in outline.positions() {
        if extent == Extent::UpToRequested && requested >> index == 0 {
            break;
        }
        let (head, rest) = next::<Head<'_>>(bytes)?;
        bytes = rest;
        let begins = at;
        at = at.checked_add(head.len as usize).ok_or("it is too long")?;
        ts = ts.wrapping_add(head.after);
        retained_bytes += (outline.bits.inherited >> index & 1) * u64::from(head.len);
        if requested >> index & 1 == 1 {
            heads.push(Requested { index, at: begins, ts, retained_bytes, head });
        }
    }
    if outline.bits.there.count_ones() > 1 && at > CHUNK_BYTES {
        return Err(format!("no chunk of several events holds {at} bytes"));
    }
    Ok((Names::of(&names), heads, at))
}

/// Decodes one postcard value at the beginning of `bytes`. Returns the value and the bytes after
/// it.
fn next<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, &'a [u8]), String> {
    postcard::take_from_bytes(bytes).map_err(|error| error.to_string())
}

/// Returns the event ids in the order of `heads`. The ids that are UUIDs share one memory
/// allocation.
fn ids(heads: &[Requested<'_>]) -> Result<Vec<EventId>, String> {
    let uuid = |requested: &Requested<'_>| match requested.head.id {
        Id::Uuid(bytes) => bytes.try_into().ok(),
        Id::Other(_) => None,
    };
    let uuids: Vec<[u8; 16]> = heads.iter().filter_map(uuid).collect();
    let mut texts = EventId::of_uuids(&uuids).into_iter();
    let id = |requested: &Requested<'_>| match requested.head.id {
        Id::Uuid(_) => texts.next().ok_or_else(|| "an id is no UUID".to_owned()),
        Id::Other(text) => text.parse().map_err(|_| "an id is none".to_owned()),
    };
    heads.iter().map(id).collect()
}

/// The names of event types and dialects (agents' formats) that the events of a chunk use. Each was
/// parsed once.
struct Names {
    kinds: Vec<Option<EventType>>,
    dialects: Vec<Arc<str>>,
}

impl Names {
    fn of(names: &[&str]) -> Self {
        Self {
            kinds: names.iter().map(|name| name.parse().ok()).collect(),
            dialects: names.iter().map(|name| Arc::from(*name)).collect(),
        }
    }

    fn kind(&self, at: u32) -> Result<EventType, String> {
        let kind = self.kinds.get(at as usize).cloned().flatten();
        kind.ok_or_else(|| "a type is none".into())
    }

    fn dialect(&self, at: u32) -> Result<Arc<str>, String> {
        self.dialects.get(at as usize).cloned().ok_or_else(|| "a dialect has no name".into())
    }
}

#[cfg(test)]
mod tests {
    use crate::chunk::outline::Bits;

    use super::*;

    #[test]
    fn several_events_that_promise_more_than_a_chunk_holds_are_not_read() {
        let of = |len| {
            let head = || Head {
                id: Id::Other("e"),
                after: 0,
                class: 0,
                kind: 0,
                dialect: None,
                open: 0,
                calls: Cow::Borrowed(&[]),
                origin: None,
                len,
                sum: 0,
            };
            let stored = Stored { names: vec!["user"], events: vec![head(), head()] };
            let bits = Bits { there: 3, ..Bits::default() };
            let outline = Outline { positions: 2, bits, ..Outline::default() };
            let bytes = postcard::to_allocvec(&stored).unwrap();
            read(&outline, &bytes, u64::MAX, Extent::Whole).map(|(events, len)| (events.len(), len))
        };
        assert_eq!(of(1_000), Ok((2, 2_000)));
        assert_eq!(of(u32::MAX).unwrap_err(), "no chunk of several events holds 8589934590 bytes");
    }
}
