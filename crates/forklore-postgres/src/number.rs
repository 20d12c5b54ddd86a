//! Numbers and times, between their types in Rust and in the database.

use jiff::Timestamp;

/// Returns the number as the database stores it. No count comes near the limit.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a stored count. A negative one is damage that the checksum of its row reveals.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

pub(crate) fn micros(time: Timestamp) -> i64 {
    time.as_microsecond()
}

pub(crate) fn time(micros: i64) -> Result<Timestamp, String> {
    Timestamp::from_microsecond(micros).map_err(|error| error.to_string())
}
