//! Conversions between SQLite's signed 64-bit integers and the model's counts.

use jiff::Timestamp;

use crate::fault::{Fault, Result};

/// Converts a count to SQLite's signed integer type. No count reaches 2^63.
pub(crate) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts a stored integer to a count. Reports a negative integer as damage.
pub(crate) fn unsigned(number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| Fault::damaged("a count", &format!("{number} is negative")))
}

/// Converts a stored time, in microseconds since 1970. Reports a time out of range as damage.
pub(crate) fn timestamp(micros: i64) -> Result<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|error| Fault::damaged("a time", &error))
}
