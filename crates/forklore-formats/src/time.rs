//! Parses times in agents' files: RFC 3339 strings, or milliseconds since 1970.

use jiff::Timestamp;

use crate::lenient::{Number, Text};

/// Parses an RFC 3339 time. Truncates it to microseconds, the precision of every store.
pub(crate) fn from_text(text: &Text<'_>) -> Option<Timestamp> {
    let ts: Timestamp = text.get()?.parse().ok()?;
    Some(forklore_core::event::to_micros(ts))
}

/// Converts milliseconds since 1970 to a time. Returns `None` for 0 and for numbers outside the
/// range of times.
pub(crate) fn from_millis(since: Number) -> Option<Timestamp> {
    let millis = i64::try_from(since.count()).ok().filter(|millis| *millis > 0)?;
    Timestamp::from_millisecond(millis).ok()
}
