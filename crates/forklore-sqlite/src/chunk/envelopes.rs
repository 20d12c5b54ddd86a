//! The heads of a chunk: all fields of its events except their payloads.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use forklore_core::{CallStep, Class, Counts, Data, Effect, Event, EventId, EventType};
use jiff::Timestamp;
use serde::Serialize;

use super::cursor::Cursor;
use super::outline::{Bits, Outline};
use crate::crc;
use crate::row::{self, Row, Slot};
use crate::row_key::{CHUNK_BYTES, POSITIONS};

/// The stored form of the heads of a chunk, i.e. of its events without their payloads. It is
/// encoded with postcard.
#[derive(Serialize)]
struct Stored<'a> {
    /// The names of the event types and dialects (agents' formats) in the chunk, each once. An
    /// entry of `events` refers to a name by its index in this list.
    names: Vec<&'a str>,
    events: Vec<Head<'a>>,
}

#[derive(Clone, Default, Serialize)]
struct Head<'a> {
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

#[derive(Clone, Copy, Serialize)]
enum Id<'a> {
    Uuid(&'a [u8]),
    Other(&'a str),
}

impl<'a> Head<'a> {
    /// Decodes the next head from `cursor` into `self`. Returns `None` if the bytes are not a valid
    /// head.
    #[inline]
    fn decode(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        self.id = match cursor.short()? {
            0 => Id::Uuid(cursor.bytes()?),
            1 => Id::Other(cursor.text()?),
            _ => return None,
        };
        self.after = cursor.signed()?;
        if let [class, kind @ ..0x80, 0, open @ ..0x80, 0, 0, rest @ ..] = cursor.0 {
            // Most events have neither a dialect nor calls nor an origin.
            cursor.0 = rest;
            (self.class, self.kind, self.open) = (*class, u32::from(*kind), u64::from(*open));
            (self.dialect, self.origin) = (None, None);
            self.calls = Cow::Borrowed(&[]);
        } else {
            self.class = cursor.byte()?;
            self.kind = cursor.short()?;
            self.dialect = cursor.some(Cursor::short)?;
            self.open = cursor.number()?;
            self.calls = calls(cursor)?;
            self.origin = cursor.some(|cursor| Some((cursor.signed()?, cursor.number()?)))?;
        }
        self.len = cursor.short()?;
        self.sum = cursor.short()?;
        Some(())
    }
}

impl Default for Id<'_> {
    fn default() -> Self {
        Self::Other("")
    }
}

/// Decodes a list of call steps: the tool calls that an event opens or closes. Few events have any.
/// Returns `None` if the bytes are not a valid list.
#[inline]
fn calls<'a>(cursor: &mut Cursor<'_>) -> Option<Cow<'a, [CallStep]>> {
    if let [0, rest @ ..] = cursor.0 {
        cursor.0 = rest;
        return Some(Cow::Borrowed(&[]));
    }
    let (calls, rest) = postcard::take_from_bytes::<Vec<CallStep>>(cursor.0).ok()?;
    cursor.0 = rest;
    Some(Cow::Owned(calls))
}

/// Encodes the events of a chunk without their payloads. Stores `sums` as the checksums of the
/// payloads, in the order of `rows`, without checking them. So a damaged payload still counts as
/// damaged. Computes the checksum of each payload for which `sums` has no entry. Returns `None` if
/// a payload is too long for a chunk.
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

/// The heads of a chunk, decoded one after the other. They must be decoded from the chunk's first
/// event on, because an event's time, payload offset and counts are sums over the events before it.
///
/// The fields of an event are decoded into this value and not returned. A long session has many
/// events, and copying each of them would take time.
#[derive(Clone)]
pub(super) struct Heads<'a> {
    outline: Outline,
    cursor: Cursor<'a>,
    /// The position in the chunk of the next head, from 0.
    next: u64,
    /// The offset in bytes of the next event's payload in the chunk's body.
    end: usize,
    /// The time of the last decoded event, in microseconds since 1970.
    ts: i64,
    /// The counts of the chunk's segment up to and including the last decoded event.
    counts: Counts,
    head: Head<'a>,
}

/// Decodes the names in the heads of a chunk. Returns the names, and the heads, which are not
/// decoded yet.
pub(super) fn read<'a>(
    outline: &Outline,
    bytes: &'a [u8],
) -> Result<(Names<'a>, Heads<'a>), String> {
    let mut cursor = Cursor(bytes);
    let names = Names::of(&mut cursor).ok_or("its names cannot be read")?;
    let count = cursor.short().ok_or("the number of its events cannot be read")?;
    if count != outline.bits.there.count_ones() {
        return Err("it does not hold as many events as it says".into());
    }
    let (outline, counts) = (*outline, outline.start);
    let head = Head::default();
    Ok((names, Heads { outline, cursor, next: 0, end: 0, ts: 0, counts, head }))
}

impl<'a> Heads<'a> {
    /// Decodes the next head. Returns its event's position in the chunk, or `None` after the last
    /// head.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<u64>, &'static str> {
        let Bits { there, inherited, indexed, started } = self.outline.bits;
        while self.next < self.outline.positions {
            let position = self.next;
            let bit = |bits: u64| bits >> position & 1;
            self.next += 1;
            self.counts.inheritable += bit(inherited);
            self.counts.index += bit(indexed);
            self.counts.turns += bit(started);
            if bit(there) == 0 {
                continue;
            }
            self.head.decode(&mut self.cursor).ok_or("one of its events cannot be read")?;
            self.end = self.end.checked_add(self.len()).ok_or("it is too long")?;
            self.ts = self.ts.wrapping_add(self.head.after);
            self.counts.bytes += bit(inherited) * u64::from(self.head.len);
            self.counts.open = self.head.open;
            return Ok(Some(position));
        }
        Ok(None)
    }

    /// Decodes the heads of the events before the first requested one. The bits that are set in
    /// `requested` are the requested events. Returns the range of bytes in the chunk's body from
    /// the payload of the first requested event to that of the last, both included. Also returns
    /// the length of the body. If `whole` is not set, the length may leave out the payloads after
    /// the last requested event.
    pub(super) fn seek(
        &mut self,
        requested: u64,
        whole: bool,
    ) -> Result<(Range<usize>, usize), String> {
        let requested = requested & self.outline.all();
        let (first, last) = (
            requested & requested.wrapping_neg(),
            POSITIONS - u64::from(requested.leading_zeros()),
        );
        let earlier = self.outline.all() & first.wrapping_sub(1);
        while self.next < POSITIONS && earlier >> self.next != 0 {
            self.next()?;
        }
        let mut heads = self.clone();
        while heads.next < last && heads.next()?.is_some() {}
        let range = self.end..heads.end;
        while whole && heads.next()?.is_some() {}
        if self.outline.bits.there.count_ones() > 1 && heads.end > CHUNK_BYTES {
            return Err(format!("no chunk of several events holds {} bytes", heads.end));
        }
        Ok((range, heads.end))
    }

    /// Returns the offset in bytes at which the payload of the last decoded event begins in the
    /// chunk's body.
    pub(super) fn at(&self) -> usize {
        self.end.saturating_sub(self.len())
    }

    /// Returns the length in bytes of the payload of the last decoded event.
    pub(super) fn len(&self) -> usize {
        self.head.len as usize
    }

    /// Returns the checksum that the payload of the last decoded event should have.
    pub(super) fn sum(&self) -> u32 {
        self.head.sum
    }

    /// Returns the key under which the last decoded event would have a row of its own.
    fn key(&self) -> i64 {
        self.outline.k.saturating_add_unsigned(self.next.saturating_sub(1))
    }

    /// Returns a description of the last decoded event, for error messages.
    pub(super) fn location(&self) -> String {
        row::location(self.key())
    }

    /// Returns the key, the counts and the origin of the last decoded event.
    #[inline]
    pub(super) fn slot(&self) -> Slot {
        Slot { k: self.key(), counts: self.counts, origin: self.head.origin }
    }

    /// Returns the last decoded event. `names` are those of the chunk, and `payload` returns the
    /// event's payload. `failed` converts an error of the event into one of the caller.
    #[inline(always)]
    pub(super) fn event<E>(
        &mut self,
        names: &mut Names<'_>,
        failed: impl FnOnce(&str) -> E + Copy,
        payload: impl FnOnce(&Self) -> Result<Data, E>,
    ) -> Result<Event, E> {
        let id = match self.head.id {
            Id::Uuid(bytes) => match bytes.try_into() {
                Ok(bytes) => EventId::of_uuid(bytes),
                Err(_) => return Err(failed("an id is no UUID")),
            },
            Id::Other(text) => text.parse().map_err(|_| failed("an id is none"))?,
        };
        let Ok(ts) = Timestamp::from_microsecond(self.ts) else {
            return Err(failed("a time is none"));
        };
        let class = self.head.class;
        let class = Class::from_code(class).ok_or_else(|| failed("a class is unknown"))?;
        let kind = names.kind(self.head.kind).map_err(failed)?;
        let dialect = match self.head.dialect {
            None => None,
            Some(dialect) => Some(names.dialect(dialect).map_err(failed)?),
        };
        let data = payload(self)?;
        let calls = match &mut self.head.calls {
            Cow::Borrowed([]) => Vec::new(),
            calls => std::mem::take(calls).into_owned(),
        };
        let started = self.outline.bits.started >> self.next.saturating_sub(1) & 1;
        let effect = Effect { starts_turn: started == 1, calls };
        Ok(Event { id, ts, kind, class, dialect, effect, data })
    }
}

/// The names of event types and dialects that the events of a chunk use. Each is parsed at its
/// first use.
pub(super) struct Names<'a>(Vec<Name<'a>>);

struct Name<'a> {
    text: &'a str,
    kind: Option<EventType>,
    dialect: Option<Arc<str>>,
}

impl<'a> Names<'a> {
    fn of(cursor: &mut Cursor<'a>) -> Option<Self> {
        let count = cursor.short()?;
        // A damaged number of names must not reserve memory for them.
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(Name { text: cursor.text()?, kind: None, dialect: None });
        }
        Some(Self(names))
    }

    #[inline]
    fn kind(&mut self, at: u32) -> Result<EventType, &'static str> {
        let name = self.0.get_mut(at as usize).ok_or("a type has no name")?;
        if let Some(kind) = &name.kind {
            return Ok(kind.clone());
        }
        let kind = name.text.parse::<EventType>().map_err(|_| "a type is none")?;
        Ok(name.kind.insert(kind).clone())
    }

    fn dialect(&mut self, at: u32) -> Result<Arc<str>, &'static str> {
        let name = self.0.get_mut(at as usize).ok_or("a dialect has no name")?;
        Ok(name.dialect.get_or_insert_with(|| name.text.into()).clone())
    }
}

#[cfg(test)]
mod tests {
    use forklore_core::OpenCall;

    use super::*;
    use crate::integer::timestamp;

    #[test]
    fn heads_come_back_as_they_were_written() {
        let call = OpenCall { id: "call".into(), name: "tool".into() };
        let uuid = "018f2c5e-0000-7abc-8def-0123456789ab";
        let rows: Vec<_> = [
            (
                "msg é",
                -5,
                "x.other.kind",
                Some("claude"),
                vec![CallStep::Open(call)],
                Some((-7, 9)),
            ),
            (uuid, 1 << 50, "user_message", None, vec![], None),
            (uuid, 0, "tool_result", Some("claude"), vec![CallStep::Close("call".into())], None),
        ]
        .into_iter()
        .zip(1_u64..)
        .map(|((id, ts, kind, dialect, calls, origin), number)| Row {
            k: (5 << 32) | number.cast_signed(),
            counts: Counts {
                inheritable: number,
                index: number,
                turns: number,
                bytes: 4 * number,
                open: 1_000 * number,
            },
            origin,
            event: Event {
                id: id.parse().unwrap(),
                ts: timestamp(ts).unwrap(),
                kind: kind.parse().unwrap(),
                class: Class::Conversation,
                dialect: dialect.map(Into::into),
                effect: Effect { starts_turn: true, calls },
                data: Data::null(),
            },
        })
        .collect();
        let borrowed: Vec<_> = rows.iter().collect();
        let (outline, bytes) =
            (Outline::of(&borrowed).unwrap(), write(&borrowed, &[1, 2, 3]).unwrap());
        let (mut names, mut heads) = read(&outline, &bytes).unwrap();
        assert_eq!(heads.clone().seek(0b110, false), Ok((4..12, 12)));
        for (row, position) in rows.iter().zip(0..) {
            assert_eq!(heads.next(), Ok(Some(position)));
            let location = (heads.at() as u64, heads.len(), u64::from(heads.sum()));
            assert_eq!(location, (4 * position, 4, position + 1));
            let Slot { k, counts, origin } = heads.slot();
            let event = heads.event(&mut names, str::to_owned, |_| Ok(Data::null())).unwrap();
            assert_eq!((k, counts, origin, &event), (row.k, row.counts, row.origin, &row.event));
        }
        assert_eq!(heads.next(), Ok(None));
    }

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
            read(&outline, &bytes).unwrap().1.seek(2, true)
        };
        assert_eq!(of(1_000), Ok((1_000..2_000, 2_000)));
        assert_eq!(of(u32::MAX).unwrap_err(), "no chunk of several events holds 8589934590 bytes");
    }
}
