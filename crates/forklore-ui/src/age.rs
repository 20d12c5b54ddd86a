//! Formats the time since something happened.

use jiff::Timestamp;

/// Formats the time since `then`. After 30 days, returns the date of `then`.
pub(crate) fn age(now: Timestamp, then: Timestamp) -> String {
    let secs = now.duration_since(then).as_secs();
    match (secs / 60, secs / 3_600, secs / 86_400) {
        (..=0, ..) => "just now".to_owned(),
        (minutes, ..=0, _) => format!("{minutes} min ago"),
        (_, hours, ..=0) => format!("{hours} h ago"),
        (.., days @ ..=29) => format!("{days} d ago"),
        _ => then.strftime("%Y-%m-%d").to_string(),
    }
}
