//! Parses a time as agents write it.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::refusal::Refusal;

/// Parses a timestamp, a date (from midnight UTC), or how long ago, such as `3h`, `2d` or `1w`.
pub(crate) fn since(text: &str, now: Timestamp) -> Result<Timestamp, Refusal> {
    let date = || {
        let date: Date = text.parse().ok()?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let parsed = text.parse().ok().or_else(date);
    let parsed = parsed.or_else(|| now.checked_sub(SignedDuration::from_secs(ago(text)?)).ok());
    parsed.ok_or_else(|| {
        Refusal::invalid(
            "the argument since is no time",
            "pass since: a date such as 2026-01-31, a time such as 2026-01-31T12:00:00Z, or 3h, 2d, 1w",
        )
    })
}

fn ago(text: &str) -> Option<i64> {
    let (at, unit) = text.char_indices().last()?;
    let unit = match unit {
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return None,
    };
    let amount: u32 = text.get(..at)?.parse().ok()?;
    Some(i64::from(amount) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_dates_and_durations_are_times() {
        let now: Timestamp = "2026-02-02T00:00:00Z".parse().unwrap();
        for (text, time) in [
            ("2026-01-31", "2026-01-31T00:00:00Z"),
            ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
            ("2d", "2026-01-31T00:00:00Z"),
            ("90m", "2026-02-01T22:30:00Z"),
        ] {
            assert_eq!(since(text, now).unwrap(), time.parse().unwrap(), "{text}");
        }
        for no_time in ["", "d", "yesterday", "3y", "-3d"] {
            assert!(since(no_time, now).is_err(), "{no_time}");
        }
    }
}
