//! Spans: ranges of the segments of a session's ancestors, which together form the history that the
//! session inherits.
//!
//! A session's own events are one segment. Ancestry never changes after a fork, so the inherited
//! history is a list of spans that is fixed at the fork. A read of the history takes one range read
//! per span. Long lists are split into pages, which descendants share. Each page points to its
//! predecessor and to one page further back (a skew-binary list). With these two pointers, a search
//! finds a position deep in an old history in O(log depth) steps.

use crate::counts::Counts;

/// A range of a segment, from the beginning of the segment up to a position. A segment consists of
/// the events that are stored with one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The number by which the store identifies the segment.
    pub segment: u64,
    /// The end of the range (exclusive): the position in the segment after the last event of the
    /// range.
    pub to: u64,
    /// The counts of all events before this span, in the history that contains the span.
    pub base: Counts,
}

/// A quantity by which a search finds a position in a history. The count of this quantity never
/// decreases along the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The search finds the position at which the history has a given number of inheritable events.
    Inheritable,
    /// The search finds the position at which the history has a given number of conversation
    /// events.
    Index,
    /// The search finds the position at which the history has a given number of turns.
    Turns,
}

impl Unit {
    /// Returns the field of `counts` for this unit.
    #[must_use]
    pub fn of(self, counts: &Counts) -> u64 {
        match self {
            Self::Inheritable => counts.inheritable,
            Self::Index => counts.index,
            Self::Turns => counts.turns,
        }
    }
}

/// The error for bytes that are not an encoded list of spans (ranges of stored events).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a list of spans: byte {at} ends or overflows a number")]
pub struct NotSpans {
    /// The byte offset of the number that cannot be decoded.
    pub at: usize,
}

/// Returns the index of the last span in `spans` before which the count of `unit` is below `want`.
/// If the count reaches `want` anywhere in `spans`, it first does so in this span. `None` if the
/// count reaches `want` before the first span, or if `spans` is empty.
#[must_use]
pub fn holding(spans: &[Span], unit: Unit, want: u64) -> Option<usize> {
    spans.partition_point(|span| unit.of(&span.base) < want).checked_sub(1)
}

/// Returns the beginning of `spans` that a child inherits. `spans` are a part of the parent's
/// history, and the child inherits the first `inheritable` inheritable events of that history. The
/// result has the spans that begin within these events. The last of these spans is shortened to end
/// at `to`: the position after the last inherited event, in that span's segment. The result is
/// empty if the child inherits no event of `spans`.
#[must_use]
pub fn cut_back(spans: &[Span], inheritable: u64, to: u64) -> Vec<Span> {
    let mut spans: Vec<_> =
        spans.iter().copied().take_while(|span| span.base.inheritable < inheritable).collect();
    if let Some(last) = spans.last_mut() {
        last.to = to;
    }
    spans
}

/// Decides to which earlier page a new page of a skew-binary list points. Each page has a depth
/// (its position in the list, from 0) and a pointer, its jump, to an earlier page. The first page
/// jumps to itself.
///
/// `depth` is the depth of the page directly before the new page. That page jumps to the page with
/// depth `jump`. The page with depth `jump` jumps to the page with depth `jump_of_jump`. If the
/// result is true, the new page jumps to the page with depth `jump_of_jump`. Otherwise it jumps to
/// the page directly before it. With this rule, the longest jumps double in length as the list
/// grows.
#[must_use]
pub fn jumps_further(depth: u64, jump: u64, jump_of_jump: u64) -> bool {
    depth > 0 && depth - jump == jump - jump_of_jump
}

/// Encodes the spans compactly, as varints. Each count of [`Span::base`] is encoded as the
/// difference from the same count of the previous span. Only the count `open` is encoded as it is.
#[must_use]
pub fn encode(spans: &[Span]) -> Vec<u8> {
    let mut out = Vec::with_capacity(spans.len() * 12);
    let mut before = Counts::default();
    for Span { segment, to, base } in spans {
        put(&mut out, *segment);
        put(&mut out, *to);
        for (now, then) in fields(base).into_iter().zip(fields(&before)) {
            put(&mut out, now.wrapping_sub(then));
        }
        put(&mut out, base.open);
        before = *base;
    }
    out
}

/// Decodes the spans that [`encode`] encoded.
///
/// # Errors
/// If the bytes are not an encoded list of spans.
pub fn decode(bytes: &[u8]) -> Result<Vec<Span>, NotSpans> {
    let mut from = Varints { bytes, at: 0 };
    let mut spans = Vec::new();
    let mut before = Counts::default();
    while from.at < bytes.len() {
        let (segment, to) = (from.take()?, from.take()?);
        let base = Counts {
            inheritable: before.inheritable.wrapping_add(from.take()?),
            index: before.index.wrapping_add(from.take()?),
            turns: before.turns.wrapping_add(from.take()?),
            bytes: before.bytes.wrapping_add(from.take()?),
            open: from.take()?,
        };
        spans.push(Span { segment, to, base });
        before = base;
    }
    Ok(spans)
}

fn fields(counts: &Counts) -> [u64; 4] {
    [counts.inheritable, counts.index, counts.turns, counts.bytes]
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

struct Varints<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Varints<'_> {
    fn take(&mut self) -> Result<u64, NotSpans> {
        let start = self.at;
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(NotSpans { at: start })?;
            self.at += 1;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                break;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(NotSpans { at: start })
    }
}
