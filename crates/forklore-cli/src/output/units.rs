//! Formats ages, costs and cuts for users. Also parses the value of `--since`.

use forklore::core::Cut;
use forklore::core::units::count;
use jiff::{SignedDuration, Timestamp};

use super::{Look, Zone};
use crate::failure::{Failure, Result};
use crate::usage;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Formats the time since `then`, such as `3 min ago`. After 30 days, returns the date of `then`.
pub(crate) fn age(look: Look, then: Timestamp) -> String {
    match look.now.duration_since(then).as_secs() {
        ..MINUTE => "just now".to_owned(),
        secs @ MINUTE..HOUR => format!("{} min ago", secs / MINUTE),
        secs @ HOUR..DAY => format!("{} h ago", secs / HOUR),
        secs if secs < 2 * DAY => "1 day ago".to_owned(),
        secs if secs < 30 * DAY => format!("{} days ago", secs / DAY),
        _ => look.zone.at(then).strftime("%Y-%m-%d").to_string(),
    }
}

/// Formats a cost with at most four decimal places. Returns an empty string if that rounds to 0.
pub(crate) fn money(cost: f64) -> String {
    let text = format!("{cost:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "0" { String::new() } else { text.to_owned() }
}

/// Formats a cut as `--at` accepts it, in the largest unit that can express the cut: turn, message
/// or seq. A cut at the start is `start`.
pub(crate) fn cut(cut: &Cut) -> String {
    match (cut.turn, cut.message, cut.seq) {
        (Some(turn), _, _) => format!("turn:{turn}"),
        (None, Some(message), _) => format!("message:{message}"),
        (None, None, Some(seq)) => format!("seq:{seq}"),
        (None, None, None) => "start".to_owned(),
    }
}

/// Parses the value of `--since`: a date or a time, or a duration before `now`, such as `3h`. A minus
/// sign before the duration means the same. A time without an offset from UTC is one in `zone`.
///
/// # Errors
/// `invalid_args` when the text is neither a time nor a duration.
pub(crate) fn since(text: &str, now: Timestamp, zone: Zone) -> Result<Timestamp> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    if let Some(time) = text.parse().ok().and_then(|time| zone.instant(time)) {
        return Ok(time);
    }
    let ago = seconds(text.strip_prefix('-').unwrap_or(text)).and_then(|seconds| {
        now.checked_sub(SignedDuration::from_secs(i64::try_from(seconds).ok()?)).ok()
    });
    ago.ok_or_else(|| {
        let times =
            "a date such as 2026-01-31, a time such as 2026-01-31T12:00, or 30m, 3h, 2d, 1w";
        Failure::invalid(format!("{} is no time: --since takes {times}", usage::typed(text)))
    })
}

/// Parses a duration, such as `30d`, `12h` or `0s`, and returns its number of seconds. Returns
/// `None` when the text is no duration.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let (at, unit) = text.char_indices().last()?;
    let unit = match unit {
        's' => 1,
        'm' => MINUTE,
        'h' => HOUR,
        'd' => DAY,
        'w' => 7 * DAY,
        _ => return None,
    };
    let amount: u32 = text.get(..at)?.parse().ok()?;
    Some(u64::from(amount) * unit.unsigned_abs())
}

/// Formats a number of seconds as a duration in the largest unit of which it is a multiple.
pub(crate) fn span(seconds: u64) -> String {
    let units = [(DAY, "day"), (HOUR, "hour"), (MINUTE, "minute")];
    let unit = units.into_iter().find(|(unit, _)| seconds.is_multiple_of(unit.unsigned_abs()));
    let (unit, name) = unit.filter(|_| seconds > 0).unwrap_or((1, "second"));
    count(seconds / unit.unsigned_abs(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_grow_coarser() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let look = Look { color: false, width: 80, wrap: false, now, zone: Zone::Utc };
        let ago = |secs: i64| age(look, now - SignedDuration::from_secs(secs));
        assert_eq!(ago(-5), "just now");
        assert_eq!([ago(59), ago(60), ago(3_599)], ["just now", "1 min ago", "59 min ago"]);
        assert_eq!([ago(HOUR), ago(DAY), ago(3 * DAY)], ["1 h ago", "1 day ago", "3 days ago"]);
        assert_eq!(ago(40 * DAY), "2026-01-29");
    }

    #[test]
    fn durations_are_read_and_shown() {
        let read = ["0s", "90s", "5m", "12h", "30d", "2w"].map(|text| seconds(text).unwrap());
        assert_eq!(read, [0, 90, 300, 43_200, 2_592_000, 1_209_600]);
        let shown = read.map(span);
        let expected = ["0 seconds", "90 seconds", "5 minutes", "12 hours", "30 days", "14 days"];
        assert_eq!(shown, expected);
        for bad in ["", "d", "30", "-1d", "1.5d", "30 d", "é"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn since_takes_times_and_spans() {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let read = |text: &str| since(text, now, Zone::Utc).map(|time| time.to_string()).ok();
        assert_eq!(read("2d").unwrap(), "2026-03-08T12:00:00Z");
        assert_eq!(read("-2d"), read("2d"));
        assert_eq!(read("3h").unwrap(), "2026-03-10T09:00:00Z");
        assert_eq!(read("2026-01-02T03:04:05Z").unwrap(), "2026-01-02T03:04:05Z");
        assert_eq!(read("2026-01-02T03:04:05+02:00").unwrap(), "2026-01-02T01:04:05Z");
        assert_eq!(read("2026-01-02").unwrap(), "2026-01-02T00:00:00Z");
        assert_eq!(read("2026-01-02 03:04").unwrap(), "2026-01-02T03:04:00Z");
        for bad in ["", "d", "2", "2y", "--2d", "-", "zwei"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
