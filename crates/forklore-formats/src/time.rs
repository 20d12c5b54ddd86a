//! Times in agents' files: text, or milliseconds since 1970.

use jiff::Timestamp;

use crate::lenient::{Number, Text};

/// Parses the time in `text` and truncates it to microseconds, the precision of every store.
pub(crate) fn from_text(text: &Text<'_>) -> Option<Timestamp> {
    let ts: Timestamp = text.get()?.parse().ok()?;
    Some(forklore_core::event::to_micros(ts))
}

/// Converts milliseconds since 1970 to a time; returns `None` for 0.
pub(crate) fn from_millis(since: Number) -> Option<Timestamp> {
    let millis = i64::try_from(since.count()).ok().filter(|millis| *millis > 0)?;
    Timestamp::from_millisecond(millis).ok()
}
