//! The times that agents write: text, or milliseconds since 1970.

use jiff::Timestamp;

use crate::lenient::{Number, Text};

/// The time in `text`, cut to the microseconds that every store keeps.
pub(crate) fn from_text(text: &Text<'_>) -> Option<Timestamp> {
    let ts: Timestamp = text.get()?.parse().ok()?;
    Some(forklore_core::event::to_micros(ts))
}

/// The time that so many milliseconds since 1970 are; none where nothing is said.
pub(crate) fn from_millis(since: Number) -> Option<Timestamp> {
    let millis = i64::try_from(since.count()).ok().filter(|millis| *millis > 0)?;
    Timestamp::from_millisecond(millis).ok()
}
