//! The times that agents write: text, or milliseconds since 1970.

use jiff::Timestamp;

use crate::lenient::Text;

/// The time in `text`, cut to the microseconds that every store keeps.
pub(crate) fn from_text(text: &Text<'_>) -> Option<Timestamp> {
    let ts: Timestamp = text.get()?.parse().ok()?;
    Some(forklore_model::event::to_micros(ts))
}
