//! Times in agents' files: text, or milliseconds since 1970.

use jiff::Timestamp;

use crate::lenient::{Number, Text};

/// Returns the time in `text`, cut to microseconds, which every store holds.
pub(crate) fn from_text(text: &Text<'_>) -> Option<Timestamp> {
    let ts: Timestamp = text.get()?.parse().ok()?;
    Some(forklore_core::event::to_micros(ts))
}

/// Returns the time for milliseconds since 1970, or `None` for 0.
pub(crate) fn from_millis(since: Number) -> Option<Timestamp> {
    let millis = i64::try_from(since.count()).ok().filter(|millis| *millis > 0)?;
    Timestamp::from_millisecond(millis).ok()
}
