//! Formats the time since something happened.

use jiff::{Timestamp, Zoned};

/// Formats the time since `then`. After 30 days, returns the date of `then` in the zone of `now`.
pub(crate) fn age(now: &Zoned, then: Timestamp) -> String {
    let secs = now.timestamp().duration_since(then).as_secs();
    match (secs / 60, secs / 3_600, secs / 86_400) {
        (..=0, ..) => "just now".to_owned(),
        (minutes, ..=0, _) => format!("{minutes} min ago"),
        (_, hours, ..=0) => format!("{hours} h ago"),
        (.., days @ ..=29) => format!("{days} d ago"),
        _ => then.to_zoned(now.time_zone().clone()).strftime("%Y-%m-%d").to_string(),
    }
}
