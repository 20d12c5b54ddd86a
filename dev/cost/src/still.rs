//! A deterministic clock: every run gets the same times and the same random numbers.

use std::sync::atomic::{AtomicU64, Ordering};

use forklore::engine::Clock;
use jiff::Timestamp;

/// A clock and source of random numbers that gives the same values in every run. It counts its
/// calls; each call advances the time by one millisecond.
#[derive(Debug, Default)]
pub(crate) struct Still(AtomicU64);

/// The time that the deterministic clock shows first: 2026-06-01, in milliseconds since 1970.
const BEGIN: i64 = 1_780_272_000_000;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        let looks = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_millisecond(BEGIN.saturating_add_unsigned(looks)).unwrap_or_default()
    }

    fn random(&self) -> [u8; 10] {
        let number = self.0.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut bits = [0; 10];
        for (bit, byte) in bits.iter_mut().zip(number.to_be_bytes()) {
            *bit = byte;
        }
        bits
    }
}
